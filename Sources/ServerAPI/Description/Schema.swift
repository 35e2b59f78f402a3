/// What a JSON value may be: as much of JSON Schema as this surface needs, for the document and for judging what comes in.
indirect enum Schema: Sendable {
  /// A member of an object.
  struct Field: Sendable {
    let name: String
    let schema: Schema
    let isRequired: Bool
    /// What the name does not say; empty if it says all.
    let text: String
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
  static let int64 = Schema.integer(.min ... .max)
  /// A number of things, a sequence, a revision.
  static let count = Schema.integer(0 ... .max)
  /// Milliseconds since 1970.
  static let time = Schema.int64
}

extension Schema.Field {
  /// A member that is always there.
  static func always(_ name: String, _ schema: Schema, _ text: String = "") -> Schema.Field {
    Schema.Field(name: name, schema: schema, isRequired: true, text: text)
  }

  /// A member that may be missing.
  static func maybe(_ name: String, _ schema: Schema, _ text: String = "") -> Schema.Field {
    Schema.Field(name: name, schema: schema, isRequired: false, text: text)
  }
}
