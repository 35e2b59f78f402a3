/// What a JSON value may be: as much of JSON Schema as this surface needs, for the document and for judging what comes in.
package indirect enum Schema: Sendable {
  /// A member of an object.
  package struct Field: Sendable {
    package let name: String
    package let schema: Schema
    package let isRequired: Bool
    /// What the name does not say; empty if it says all.
    package let text: String
  }

  /// Any value.
  case any
  case boolean
  case integer(ClosedRange<Int64>)
  case text
  /// A text that is not empty.
  case filled
  /// A text of this form (ECMA 262). The document says it; judging is left to who reads the text.
  case form(String)
  /// One of these texts.
  case choice([String])
  case list(Schema)
  /// An object; a closed one has no other members than these.
  case object([Field], isClosed: Bool = false)
  /// One of ``AnswerSchemas``, by its name.
  case named(String)
  /// The same, or null.
  case nullable(Schema)

  /// Any number that fits.
  package static let int64 = Schema.integer(.min ... .max)
  /// A number of things, a sequence, a revision: what every language's numbers can hold.
  package static let count = Schema.integer(0...countMax)
  /// Milliseconds since 1970, up to the year 9999.
  package static let time = Schema.integer(0...timeMax)

  package static let countMax: Int64 = 1 << 53
  package static let timeMax: Int64 = 253_402_300_799_999
}

extension Schema.Field {
  /// A member that is always there.
  package static func always(_ name: String, _ schema: Schema, _ text: String = "") -> Schema.Field {
    Schema.Field(name: name, schema: schema, isRequired: true, text: text)
  }

  /// A member that may be missing.
  package static func maybe(_ name: String, _ schema: Schema, _ text: String = "") -> Schema.Field {
    Schema.Field(name: name, schema: schema, isRequired: false, text: text)
  }
}
