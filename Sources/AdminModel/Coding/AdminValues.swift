import TreeModel

/// A moment: milliseconds since 1970.
package struct Timestamp: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral {
  package let milliseconds: Int64

  package init(_ milliseconds: Int64) { self.milliseconds = milliseconds }
  package init(integerLiteral milliseconds: Int64) { self.milliseconds = milliseconds }

  package static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }
}

extension Timestamp: Codable, SchemaDeclaring {
  static var schema: JSONSchema { .time }
  static var sample: Timestamp { 0 }

  package init(from decoder: any Decoder) throws {
    milliseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

/// An object whose names are not known before, such as counts by outcome. Its members keep their order.
package struct NamedValues<Value: Codable & Sendable>: Sendable {
  /// One member.
  package struct Member: Sendable {
    package let name: String
    package var value: Value

    package init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  package var members: [Member]

  package init(_ members: [Member] = []) { self.members = members }

  package var isEmpty: Bool { members.isEmpty }

  package subscript(name: String) -> Value? {
    members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }
}

extension NamedValues<Int64> {
  /// Counts, or amounts by unit, in the order of their names.
  package init(counts: [String: Int64]) {
    self.init(counts.sorted { $0.key < $1.key }.map { Member($0.key, $0.value) })
  }
}

extension NamedValues: Codable, SchemaDeclaring {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
  }

  static var schema: JSONSchema { .object([]) }
  static var sample: NamedValues { NamedValues() }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Name.self)
    members = try container.allKeys.map { Member($0.stringValue, try container.decode(Value.self, forKey: $0)) }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for member in members { try container.encode(member.value, forKey: Name(stringValue: member.name)) }
  }
}

/// A field that is always there, and may be null.
package struct Nullable<Value: Codable & Sendable>: Sendable {
  package var value: Value?

  package init(_ value: Value?) { self.value = value }
}

extension Nullable: Codable, SchemaDeclaring {
  static var schema: JSONSchema { .nullable(JSONSchema(of: Value.self)) }
  static var sample: Nullable { Nullable(nil) }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    value = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value { try container.encode(value) } else { try container.encodeNil() }
  }
}

/// What a change answers that has nothing to tell.
package struct Done: AdminValue {
  package enum Status: String, AdminWord { case ok }

  package var status = Status.ok

  package init() {}

  package static let schemaName: String? = "Done"
}

/// Why a request was refused.
package struct AdminRefusal: AdminValue {
  /// A sentence for people.
  package var error: String
  /// A word for programs.
  package var code: String

  package init(error: String, code: String) {
    self.error = error
    self.code = code
  }

  package static let schemaName: String? = "Error"
  package static let notes: [String: FieldNote] = [
    "error": .only(.filled, text: "a sentence for people"), "code": .only(.filled, text: "a word for programs"),
  ]
}
