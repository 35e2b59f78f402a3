public import TreeModel

extension JSON {
  /// This value as a type of the administrators' surface.
  ///
  /// Members that the type does not know are passed over, so that a newer server can say more.
  ///
  /// - `parsesText`: whether numbers and booleans may be written as texts, as the parameters of a query are.
  package func decoded<Value: Decodable>(as type: Value.Type = Value.self, parsesText: Bool = false) throws -> Value {
    try ValueDecoder(json: self, codingPath: [], parsesText: parsesText).value(of: type)
  }
}

private struct ValueDecoder: Decoder {
  let json: JSON
  let codingPath: [any CodingKey]
  let parsesText: Bool
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func value<Value: Decodable>(of type: Value.Type) throws -> Value {
    let found: Any? =
      switch type {
      case is JSON.Type: json
      case is String.Type: json.string
      case is Bool.Type: json.bool ?? text.flatMap(Bool.init)
      case is Int64.Type: json.int ?? text.flatMap { Int64($0) }
      case is Int.Type: (json.int ?? text.flatMap { Int64($0) }).map { Int($0) }
      case is Double.Type: json.double ?? text.flatMap { Double($0) }
      default: try Value(from: self)
      }
    guard let value = found as? Value else { throw mismatch(type) }
    return value
  }

  /// A number or boolean that stands in a text.
  private var text: String? { parsesText ? json.string : nil }

  func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "\(json.compactText.prefix(80)) is no \(type)"))
  }

  func member(_ json: JSON, key: any CodingKey) -> ValueDecoder {
    ValueDecoder(json: json, codingPath: codingPath + [key], parsesText: parsesText)
  }

  func container<Name: CodingKey>(keyedBy type: Name.Type) throws -> KeyedDecodingContainer<Name> {
    guard json.object != nil else { throw mismatch([String: JSON].self) }
    return KeyedDecodingContainer(ObjectDecoder<Name>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let elements = json.array else { throw mismatch([JSON].self) }
    return ListDecoder(decoder: self, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleDecoder(decoder: self) }
}

private struct ObjectDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ValueDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { (decoder.json.object ?? []).compactMap { Key(stringValue: $0.key) } }

  func contains(_ key: Key) -> Bool { decoder.json[key.stringValue] != nil }

  func decodeNil(forKey key: Key) -> Bool { decoder.json[key.stringValue]?.isNull ?? true }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).value(of: type) }

  private func member(_ key: Key) throws -> ValueDecoder {
    guard let value = decoder.json[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "\"\(key.stringValue)\" is missing"))
    }
    return decoder.member(value, key: key)
  }

  func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type, forKey key: Key) throws -> KeyedDecodingContainer<Name> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }
  func superDecoder() -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

private struct ListDecoder: UnkeyedDecodingContainer {
  struct Index: CodingKey {
    let intValue: Int?
    var stringValue: String { String(intValue ?? 0) }

    init(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { return nil }
  }

  let decoder: ValueDecoder
  let elements: [JSON]
  private(set) var currentIndex = 0

  init(decoder: ValueDecoder, elements: [JSON]) {
    self.decoder = decoder
    self.elements = elements
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, elements[currentIndex].isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().value(of: type) }

  private mutating func next() throws -> ValueDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(JSON.self, .init(codingPath: codingPath, debugDescription: "the list is at its end"))
    }
    defer { currentIndex += 1 }
    return decoder.member(elements[currentIndex], key: Index(intValue: currentIndex))
  }

  mutating func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type) throws -> KeyedDecodingContainer<Name> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
  mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct SingleDecoder: SingleValueDecodingContainer {
  let decoder: ValueDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.json.isNull }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(of: type) }
}

extension JSON: Decodable {
  /// Any value, as it is.
  public init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? ValueDecoder else {
      throw DecodingError.typeMismatch(
        JSON.self, .init(codingPath: decoder.codingPath, debugDescription: "this decoder does not say what is there"))
    }
    self = decoder.json
  }
}
