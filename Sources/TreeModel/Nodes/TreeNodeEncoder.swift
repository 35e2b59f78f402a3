/// Turns Swift values into nodes: the counterpart of ``TreeNodeDecoder``.
///
/// Nil, empty lists and empty maps become absence, lists become maps with the keys 0, 1, ….
public enum TreeNodeEncoder {
  /// Makes a node of a value.
  ///
  /// - `options`: what is not to be written as its type says; nil for nothing.
  /// - Throws: `EncodingError` for names that are no legal keys, integers beyond Int64 and numbers that are not finite.
  public static func encode(_ value: some Encodable, options: TreeEncodingOptions? = nil) throws -> TreeNode {
    let box = TreeEncodingBox()
    try TreeEncoding(box: box, codingPath: [], options: options).encode(value)
    return box.node
  }
}

/// What an encoder does otherwise than the types themselves would.
public final class TreeEncodingOptions: Sendable {
  /// What types may ask their encoder for.
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// Writes a value; false leaves it to its type.
  let write: @Sendable (any Encodable, any Encoder) throws -> Bool

  /// - `userInfo`: what types may ask their encoder for.
  /// - `write`: writes a value; false leaves it to its type.
  public init(
    userInfo: [CodingUserInfoKey: any Sendable] = [:],
    write: @escaping @Sendable (any Encodable, any Encoder) throws -> Bool
  ) {
    self.userInfo = userInfo
    self.write = write
  }
}

/// What an encoder fills. A class, for containers that are handed out go on filling their part while others do theirs.
final class TreeEncodingBox {
  private var scalar: Scalar?
  private var children: [(key: Key, box: TreeEncodingBox)] = []
  /// How many elements a list has so far, nils included.
  private(set) var count = 0

  func set(_ scalar: Scalar) { self.scalar = scalar }

  func child(_ key: Key) -> TreeEncodingBox {
    let box = TreeEncodingBox()
    children.append((key, box))
    return box
  }

  func element() -> TreeEncodingBox {
    defer { count += 1 }
    return child(Key(unchecked: String(count)))
  }

  func skipElement() { count += 1 }

  var node: TreeNode {
    if let scalar { return .leaf(scalar) }
    return .map(TreeMap(children.map { TreeMap.Entry(key: $0.key, node: $0.box.node) }))
  }
}

/// The encoder of one node.
struct TreeEncoding: Encoder {
  let box: TreeEncodingBox
  let codingPath: [any CodingKey]
  let options: TreeEncodingOptions?
  var userInfo: [CodingUserInfoKey: Any] { (options?.userInfo ?? [:]).mapValues { $0 } }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(TreeKeyedEncoding<Key>(encoding: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { TreeListEncoding(encoding: self) }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// The encoder of a child; fails if its name is no legal key.
  func child(_ key: any CodingKey) throws -> TreeEncoding {
    do {
      return TreeEncoding(box: box.child(try Key(key.stringValue)), codingPath: codingPath + [key], options: options)
    } catch {
      throw EncodingError.invalidValue(key.stringValue, context("\(error)"))
    }
  }

  func element() -> TreeEncoding {
    let key = TreeKey(intValue: box.count)
    return TreeEncoding(box: box.element(), codingPath: codingPath + [key], options: options)
  }

  private func context(_ text: String) -> EncodingError.Context {
    EncodingError.Context(codingPath: codingPath, debugDescription: text)
  }

  private func integer(_ value: some FixedWidthInteger) throws {
    guard let exact = Int64(exactly: value) else {
      throw EncodingError.invalidValue(value, context("the integer does not fit 64 bits with a sign"))
    }
    box.set(.int(exact))
  }
}

extension TreeEncoding: SingleValueEncodingContainer {
  func encodeNil() {}
  func encode(_ value: Bool) { box.set(.bool(value)) }
  func encode(_ value: String) { box.set(.string(value)) }

  func encode(_ value: Double) throws {
    guard value.isFinite else { throw EncodingError.invalidValue(value, context("numbers must be finite")) }
    box.set(.number(value))
  }

  func encode(_ value: Float) throws { try encode(Double(value)) }
  func encode(_ value: Int) throws { try integer(value) }
  func encode(_ value: Int8) throws { try integer(value) }
  func encode(_ value: Int16) throws { try integer(value) }
  func encode(_ value: Int32) throws { try integer(value) }
  func encode(_ value: Int64) throws { try integer(value) }
  func encode(_ value: UInt) throws { try integer(value) }
  func encode(_ value: UInt8) throws { try integer(value) }
  func encode(_ value: UInt16) throws { try integer(value) }
  func encode(_ value: UInt32) throws { try integer(value) }
  func encode(_ value: UInt64) throws { try integer(value) }
  func encode<T: Encodable>(_ value: T) throws {
    if try options?.write(value, self) == true { return }
    try value.encode(to: self)
  }
}

/// Children under coding keys.
struct TreeKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoding: TreeEncoding
  var codingPath: [any CodingKey] { encoding.codingPath }

  func encodeNil(forKey key: Key) throws {}

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try encoding.child(key).encode(value)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
    nested(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
  func superEncoder() -> any Encoder { nested(TreeKey.base) }
  func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

  /// The protocol allows no error here, so an illegal key is a mistake of the programmer.
  private func nested(_ key: any CodingKey) -> TreeEncoding {
    do {
      return try encoding.child(key)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

/// The elements of a list.
struct TreeListEncoding: UnkeyedEncodingContainer {
  let encoding: TreeEncoding
  var codingPath: [any CodingKey] { encoding.codingPath }
  var count: Int { encoding.box.count }

  func encodeNil() { encoding.box.skipElement() }
  func encode<T: Encodable>(_ value: T) throws { try encoding.element().encode(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoding.element().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoding.element().unkeyedContainer() }
  func superEncoder() -> any Encoder { encoding.element() }
}
