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
      return try T(from: child)
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
    let value = try T(from: element())
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
