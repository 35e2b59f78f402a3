/// Reads Swift values from nodes.
///
/// - Absence is nil, and also the empty list and the empty map, which the tree cannot tell from it.
/// - A list is a map with the keys 0, 1, …; holes read as nil, and at least half of the places must be filled.
/// - Kinds are never turned into each other; an integer may be read as a floating-point number, and a number without
///   fraction as an integer.
/// - Priorities are not seen.
public enum TreeNodeDecoder {
  /// Reads a value of the given type.
  ///
  /// - `options`: what is not to be read as its type says; nil for nothing.
  /// - Throws: `DecodingError` with the path of the child that does not fit.
  public static func decode<T: Decodable>(
    _ type: T.Type, from node: TreeNode, options: TreeDecodingOptions? = nil
  ) throws -> T {
    try TreeDecoding(node: node, codingPath: [], options: options).decode(type)
  }
}

/// What a decoder does otherwise than the types themselves would.
public final class TreeDecodingOptions: Sendable {
  /// What types may ask their decoder for.
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// Reads a value of the type; nil leaves it to the type.
  let read: @Sendable (any Decodable.Type, any Decoder) throws -> (any Decodable)?

  /// - `userInfo`: what types may ask their decoder for.
  /// - `read`: reads a value of the type; nil leaves it to the type.
  public init(
    userInfo: [CodingUserInfoKey: any Sendable] = [:],
    read: @escaping @Sendable (any Decodable.Type, any Decoder) throws -> (any Decodable)?
  ) {
    self.userInfo = userInfo
    self.read = read
  }
}

/// The decoder of one node.
struct TreeDecoding: Decoder {
  let node: TreeNode
  let codingPath: [any CodingKey]
  let options: TreeDecodingOptions?
  var userInfo: [CodingUserInfoKey: Any] { (options?.userInfo ?? [:]).mapValues { $0 } }

  func child(_ node: TreeNode, _ key: any CodingKey) -> TreeDecoding {
    TreeDecoding(node: node, codingPath: codingPath + [key], options: options)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if node.scalar != nil { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(TreeKeyedDecoding<Key>(decoding: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard node.exists else { return TreeListDecoding(decoding: self, elements: []) }
    guard let length = node.children.arrayLength else { throw mismatch([Any].self) }
    var elements = [TreeNode](repeating: .absent, count: length)
    for entry in node.children { elements[Int(entry.key.integer ?? 0)] = entry.node }
    return TreeListDecoding(decoding: self, elements: elements)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(type, context("expected \(Self.name(of: type)), found \(found)"))
  }

  func context(_ text: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: text)
  }

  /// A type as people call it.
  private static func name(of type: Any.Type) -> String {
    switch type {
    case is [String: Any].Type: "a map"
    case is [Any].Type: "a list"
    default: "\(type)"
    }
  }

  private var found: String {
    switch node.content {
    case .absent: "nothing"
    case .map: "a map"
    case .leaf(.bool): "a boolean"
    case .leaf(.int), .leaf(.double): "a number"
    case .leaf(.string): "a string"
    }
  }

  /// The leaf; an error where there is none.
  private func scalar(_ type: Any.Type) throws -> Scalar {
    guard node.exists else { throw DecodingError.valueNotFound(type, context("expected \(type), found nothing")) }
    guard let scalar = node.scalar else { throw mismatch(type) }
    return scalar
  }

  private func floatingPoint<T: BinaryFloatingPoint>(_ type: T.Type) throws -> T {
    guard let value = try scalar(type).doubleValue else { throw mismatch(type) }
    return T(value)
  }

  private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    let exact: T? =
      switch try scalar(type) {
      case .int(let value): T(exactly: value)
      case .double(let value): T(exactly: value)
      case .bool, .string: throw mismatch(type)
      }
    guard let exact else { throw DecodingError.dataCorrupted(context("the number is no exact \(type)")) }
    return exact
  }
}

extension TreeDecoding: SingleValueDecodingContainer {
  func decodeNil() -> Bool { !node.exists }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard case .bool(let value) = try scalar(type) else { throw mismatch(type) }
    return value
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .string(let value) = try scalar(type) else { throw mismatch(type) }
    return value
  }

  func decode(_ type: Double.Type) throws -> Double { try floatingPoint(type) }
  func decode(_ type: Float.Type) throws -> Float { try floatingPoint(type) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let read = try options?.read(type, self), let value = read as? T { return value }
    return try T(from: self)
  }
}

/// The children of a node under coding keys.
struct TreeKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoding: TreeDecoding
  var codingPath: [any CodingKey] { decoding.codingPath }
  var allKeys: [Key] { decoding.node.children.compactMap { Key(stringValue: $0.key.text) } }

  func contains(_ key: Key) -> Bool { child(key).node.exists }
  func decodeNil(forKey key: Key) throws -> Bool { !child(key).node.exists }

  private func child(_ key: any CodingKey) -> TreeDecoding {
    decoding.child(decoding.node[TreeModel.Key(unchecked: key.stringValue)], key)
  }

  /// Decodes a child. One that is absent may still be an empty list or map; what cannot be made from nothing fails as a
  /// missing key.
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    let child = child(key)
    do {
      return try child.decode(type)
    } catch DecodingError.valueNotFound(_, let context) where !child.node.exists {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: context.debugDescription))
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try child(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try child(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { child(TreeKey.base) }
  func superDecoder(forKey key: Key) throws -> any Decoder { child(key) }
}

/// The elements of a list.
struct TreeListDecoding: UnkeyedDecodingContainer {
  let decoding: TreeDecoding
  let elements: [TreeNode]
  private(set) var currentIndex = 0

  init(decoding: TreeDecoding, elements: [TreeNode]) {
    self.decoding = decoding
    self.elements = elements
  }

  var codingPath: [any CodingKey] { decoding.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private func element() throws -> TreeDecoding {
    let key = TreeKey(intValue: currentIndex)
    guard !isAtEnd else {
      let context = DecodingError.Context(codingPath: codingPath + [key], debugDescription: "the list ends here")
      throw DecodingError.valueNotFound(Any.self, context)
    }
    return decoding.child(elements[currentIndex], key)
  }

  mutating func decodeNil() throws -> Bool {
    guard try !element().node.exists else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try element().decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    let container = try element().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try element().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try element()
    currentIndex += 1
    return decoder
  }
}

/// A coding key made from a child's name or an element's position.
struct TreeKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = Key(unchecked: stringValue).integer.map(Int.init)
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }

  /// The name of a base class's part.
  static let base = TreeKey(stringValue: "super")
}
