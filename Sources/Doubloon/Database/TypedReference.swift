import SyncModel
@_exported public import protocol TreeModel.PathParameter
@_exported public import struct TreeModel.TreePath
@_exported public import struct TreeModel.TreePathError
@_exported public import struct TreeModel.UserID

/// A place whose value has a type: that of the path it was made by.
///
/// ```swift
/// enum Users {
///   static let level = TreePath<Int, UserID>("/users/{uid}/level")
/// }
/// let level = database.reference(to: Users.level, player)
/// try await level.set(5)
/// for try await value in level.values { print(value ?? 0) }
/// ```
/// The server's functions are written against the same `TreePath`s: app and functions can share the file.
public struct TypedReference<Value: Codable & Sendable>: Sendable {
  /// The place, without the type.
  public let ref: DatabaseReference

  /// The value; nil where nothing is.
  ///
  /// - Throws: ``DatabaseError``, or `DecodingError` for a value of another type.
  public func get(source: DataSource = .default) async throws -> Value? {
    try Self.value(of: try await ref.getData(source: source))
  }

  /// Replaces the value, and waits until the server did it.
  public func set(_ value: Value) async throws { try await ref.setValue(from: value) }

  /// Replaces the value, never waits, and tells by the receipt what becomes of it.
  ///
  /// - Throws: `EncodingError` if the tree cannot hold it.
  @discardableResult
  public func write(_ value: Value) throws -> WriteReceipt { try ref.write(from: value) }

  /// Deletes the value, and never waits.
  @discardableResult
  public func remove() -> WriteReceipt { ref.remove() }

  /// The value and every later one; of those that come while the reader is busy, only the newest is kept. Throws where
  /// ``get(source:)`` does, and ends with that.
  public var values: AsyncThrowingMapSequence<DatabaseSnapshots, Value?> {
    ref.snapshots.map { snapshot throws in try Self.value(of: snapshot) }
  }

  /// Changes the value by a function of what is there; nil for nothing, and a function that returns nil writes nothing.
  ///
  /// - Returns: whether it was written.
  @discardableResult
  public func transaction(_ block: @escaping @Sendable (Value?) -> Value?) async throws -> Bool {
    try await ref.transaction(as: Value.self, block).0
  }

  private static func value(of snapshot: DataSnapshot) throws -> Value? {
    snapshot.exists() ? try snapshot.data(as: Value.self) : nil
  }
}

extension Database {
  /// The place of a typed path. A path or a parameter that is none makes a place at which every operation fails and says why.
  @available(macOS 14, iOS 17, tvOS 17, *)
  public func reference<Value, each P>(
    to path: TreePath<Value, repeat each P>, _ parameters: repeat each P
  ) -> TypedReference<Value> {
    do {
      return TypedReference(ref: reference().child(try path.path(repeat each parameters)))
    } catch {
      return TypedReference(ref: DatabaseReference(self, .failure(.invalidPath("\(error)"))))
    }
  }
}
