package import TreeModel

/// A type of the administrators' surface that is sent and received as JSON.
///
/// Its schema follows from its fields: names, types, and which may be missing, as its `Codable` conformance has them.
/// ``notes`` add what a Swift type does not say, and words for people.
package protocol AdminValue: Codable, Sendable {
  /// Its name among the schemas of the OpenAPI document; nil if its schema stands where it is used.
  static var schemaName: String? { get }
  /// What fields are beyond their types, by their names.
  static var notes: [String: FieldNote] { get }
}

extension AdminValue {
  package static var schemaName: String? { nil }
  package static var notes: [String: FieldNote] { [:] }
}

/// A text of which there are few: a state, an outcome.
package protocol AdminWord: AdminValue, CaseIterable, RawRepresentable where RawValue == String {}

/// What a field of an ``AdminValue`` is beyond its type.
package struct FieldNote: Sendable {
  /// In place of the schema that its type has; for a list, that of the list.
  let schema: JSONSchema?
  let text: String

  /// Words about a field.
  package static func text(_ text: String) -> FieldNote { FieldNote(schema: nil, text: text) }

  /// A narrower schema than its type's, perhaps with words.
  package static func only(_ schema: JSONSchema, text: String = "") -> FieldNote { FieldNote(schema: schema, text: text) }
}

/// A type that is neither object nor list and knows its own schema.
protocol SchemaDeclaring: Decodable {
  static var schema: JSONSchema { get }
  /// Any value, for types that are read only to see their fields.
  static var sample: Self { get }
}

extension JSONSchema {
  /// The schema of a type, read from its `Decodable` conformance: it is given a decoder that answers every question with an
  /// arbitrary value, and notes what was asked for.
  package init<Value: Decodable>(of type: Value.Type) {
    do {
      self = try ShapeDecoder.read(type, isNamed: true).schema
    } catch {
      preconditionFailure("\(type) does not show its fields: \(error)")
    }
  }

  /// The fields of a type, whatever its name.
  package static func fields<Value: Decodable>(of type: Value.Type) -> [Field] {
    do {
      let schema = try ShapeDecoder.read(type, isNamed: false).schema
      if case .object(let fields, _) = schema { return fields }
      return []
    } catch {
      preconditionFailure("\(type) does not show its fields: \(error)")
    }
  }
}

/// What a type asked a ``ShapeDecoder`` for.
private final class Shape {
  var fields: [JSONSchema.Field] = []
  var element: JSONSchema?
  var single: JSONSchema?
}

private struct ShapeDecoder: Decoder {
  let shape: Shape
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// A value of the type, and its schema.
  ///
  /// - `isNamed`: whether a type with a name is referred to by it.
  static func read<Value: Decodable>(_ type: Value.Type, isNamed: Bool) throws -> (value: Value, schema: JSONSchema) {
    func known(_ value: Any, schema: JSONSchema) throws -> (Value, JSONSchema) {
      guard let value = value as? Value else { throw unreadable(type) }
      return (value, schema)
    }
    switch type {
    case is JSON.Type: return try known(JSON.null, schema: .any)
    case is String.Type: return try known("", schema: .text)
    case is Bool.Type: return try known(false, schema: .boolean)
    case is Int64.Type: return try known(Int64(0), schema: .count)
    case is Int.Type: return try known(0, schema: .count)
    case let type as any SchemaDeclaring.Type: return try known(type.sample, schema: type.schema)
    case let type as any AdminWord.Type:
      guard let first = type.firstCase else { throw unreadable(type) }
      return try known(first, schema: .choice(type.texts))
    default: break
    }
    let shape = Shape()
    let value = try Value(from: ShapeDecoder(shape: shape))
    if let element = shape.element { return (value, .list(element)) }
    if let single = shape.single { return (value, single) }
    let admin = type as? any AdminValue.Type
    if isNamed, let name = admin?.schemaName { return (value, .named(name)) }
    let notes = admin?.notes ?? [:]
    let fields = shape.fields.map { field in
      guard let note = notes[field.name] else { return field }
      let schema = note.schema ?? field.schema
      return field.isRequired
        ? .always(field.name, schema: schema, text: note.text) : .maybe(field.name, schema: schema, text: note.text)
    }
    return (value, .object(fields))
  }

  static func unreadable(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: [], debugDescription: "it must be made of texts, numbers, booleans, lists and objects"))
  }

  func container<Name: CodingKey>(keyedBy type: Name.Type) -> KeyedDecodingContainer<Name> {
    KeyedDecodingContainer(ShapeObject<Name>(shape: shape))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { ShapeList(shape: shape) }
  func singleValueContainer() -> any SingleValueDecodingContainer { ShapeSingle(shape: shape) }
}

extension AdminWord {
  fileprivate static var firstCase: Self? { allCases.first }
  fileprivate static var texts: [String] { allCases.map(\.rawValue) }
}

private struct ShapeObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let shape: Shape
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let (value, schema) = try ShapeDecoder.read(type, isNamed: true)
    shape.fields.append(.always(key.stringValue, schema: schema))
    return value
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    shape.fields.append(.maybe(key.stringValue, schema: try ShapeDecoder.read(type, isNamed: true).schema))
    return nil
  }

  // The standard library's own versions of these are chosen before the general one above.
  func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? { missing(.text, key: key) }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? { missing(.boolean, key: key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) -> Int64? { missing(.count, key: key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? { missing(.count, key: key) }

  private func missing<Value>(_ schema: JSONSchema, key: Key) -> Value? {
    shape.fields.append(.maybe(key.stringValue, schema: schema))
    return nil
  }

  func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type, forKey key: Key) throws -> KeyedDecodingContainer<Name> {
    throw ShapeDecoder.unreadable(type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw ShapeDecoder.unreadable([JSON].self)
  }
  func superDecoder() throws -> any Decoder { throw ShapeDecoder.unreadable(Key.self) }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw ShapeDecoder.unreadable(Key.self) }
}

private struct ShapeList: UnkeyedDecodingContainer {
  let shape: Shape
  private(set) var currentIndex = 0

  init(shape: Shape) { self.shape = shape }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { 1 }
  var isAtEnd: Bool { currentIndex > 0 }

  mutating func decodeNil() -> Bool { false }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    currentIndex += 1
    let (value, schema) = try ShapeDecoder.read(type, isNamed: true)
    shape.element = schema
    return value
  }

  mutating func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type) throws -> KeyedDecodingContainer<Name> {
    throw ShapeDecoder.unreadable(type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ShapeDecoder.unreadable([JSON].self) }
  mutating func superDecoder() throws -> any Decoder { throw ShapeDecoder.unreadable([JSON].self) }
}

private struct ShapeSingle: SingleValueDecodingContainer {
  let shape: Shape
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (value, schema) = try ShapeDecoder.read(type, isNamed: true)
    shape.single = schema
    return value
  }
}
