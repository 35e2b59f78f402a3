import ClientRuntime
public import Foundation
import SyncModel
import TreeModel

/// Values that the server fills in.
public enum ServerValue {
  /// The server's time when it writes, in milliseconds since 1970.
  public static func timestamp() -> [AnyHashable: Any] { [".sv": "timestamp"] }
  /// What is there, plus this number; this number where there is none.
  public static func increment(_ delta: NSNumber) -> [AnyHashable: Any] { [".sv": ["increment": delta] as [AnyHashable: Any]] }
}

/// A moment that the server fills in: nil writes its time, and milliseconds since 1970 are read.
@propertyWrapper
public struct ServerTimestamp: Codable, Sendable, Hashable {
  /// The moment; nil until the server has written one.
  public var wrappedValue: Date?

  /// A moment, or the server's time when it writes.
  public init(wrappedValue: Date? = nil) { self.wrappedValue = wrappedValue }

  /// Reads milliseconds since 1970.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : Date(timeIntervalSince1970: try container.decode(Double.self) / 1000)
  }

  /// Writes milliseconds since 1970, or the mark that the server replaces.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue {
      try container.encode(Int64((wrappedValue.timeIntervalSince1970 * 1000).rounded()))
    } else {
      try container.encode(Self.mark)
    }
  }

  /// Stands for the server's time between the encoder and the write: a text that no app has.
  static let mark = "\u{0}doubloon.serverTimestamp\u{0}"
}

extension KeyedDecodingContainer {
  /// A moment that is not there is nil.
  public func decode(_ type: ServerTimestamp.Type, forKey key: Key) throws -> ServerTimestamp {
    try decodeIfPresent(type, forKey: key) ?? ServerTimestamp()
  }
}

extension DataSnapshot {
  /// The value as a type of the app's.
  ///
  /// - `decoder`: reads what is not to be read as its type says.
  /// - Throws: `DecodingError` with the path of the child that does not fit.
  public func data<T: Decodable>(as type: T.Type, decoder: Database.Decoder = Database.Decoder()) throws -> T {
    try TreeNodeDecoder.decode(type, from: node, options: decoder.options)
  }
}

extension DatabaseReference {
  /// Writes a value of a type of the app's.
  ///
  /// - `encoder`: writes what is not to be written as its type says.
  /// - Throws: `EncodingError` if the tree cannot hold it; the write itself is told of by `completion`.
  public func setValue<T: Encodable>(
    from value: T, encoder: Database.Encoder = Database.Encoder(), completion: (((any Error)?) -> Void)? = nil
  ) throws {
    let node = try Self.write(value, by: encoder)
    let done = Boxed(completion)
    send(operation { path throws(DatabaseError) in .set(path, node) }) { [database] error in
      database.environment.callbacks.call { done.value?(error) }
    }
  }

  /// Writes a value of a type of the app's, and waits until the server did it.
  @discardableResult
  nonisolated(nonsending) public func setValue<T: Encodable>(
    from value: T, encoder: Database.Encoder = Database.Encoder()
  ) async throws -> DatabaseReference {
    let node = try Self.write(value, by: encoder)
    try await send(operation { path throws(DatabaseError) in .set(path, node) }).acknowledged()
    return self
  }

  /// Replaces the members of a value of a type of the app's, in one step, and waits until the server did it; others stay.
  @discardableResult
  nonisolated(nonsending) public func updateChildValues<T: Encodable>(
    from value: T, encoder: Database.Encoder = Database.Encoder()
  ) async throws -> DatabaseReference {
    let node = try Self.write(value, by: encoder)
    let update = operation { path throws(DatabaseError) in
      let assignments = node.node.children.map { entry in
        let slots = node.slots.compactMap { slot in
          slot.path.keys.first == entry.key
            ? WriteNode.Slot(
              path: Path(keys: Array(slot.path.keys.dropFirst())), isPriority: slot.isPriority, value: slot.value) : nil
        }
        return WriteOperation.Assignment(path: path.child(entry.key), value: .node(WriteNode(entry.node, slots: slots)))
      }
      do throws(WriteOperationError) {
        return try .update(path, assignments)
      } catch {
        throw .invalidData(error.description)
      }
    }
    try await send(update).acknowledged()
    return self
  }

  /// Writes a value of a type of the app's, and never waits.
  ///
  /// - Throws: `EncodingError` if the tree cannot hold it.
  @discardableResult
  public func write<T: Encodable>(from value: T, encoder: Database.Encoder = Database.Encoder()) throws -> WriteReceipt {
    let node = try Self.write(value, by: encoder)
    return send(operation { path throws(DatabaseError) in .set(path, node) })
  }

  private static func write(_ value: some Encodable, by encoder: Database.Encoder) throws -> WriteNode {
    let node = try TreeNodeEncoder.encode(value, options: encoder.options)
    var slots: [WriteNode.Slot] = []
    return WriteNode(filled(node, at: .root, &slots), slots: slots)
  }

  /// The node with a place for the server's time wherever the mark is.
  private static func filled(_ node: TreeNode, at path: Path, _ slots: inout [WriteNode.Slot]) -> TreeNode {
    switch node.content {
    case .absent: return node
    case .leaf(let scalar):
      guard scalar == .string(ServerTimestamp.mark) else { return node }
      slots.append(WriteNode.Slot(path: path, isPriority: false, value: .timestamp))
      return .leaf(.int(0))
    case .map(let map):
      let entries = map.map { TreeMap.Entry(key: $0.key, node: filled($0.node, at: path.child($0.key), &slots)) }
      return .map(TreeMap(entries), priority: node.priority)
    }
  }
}
