/// What a JSON value may be: as much of JSON Schema as this surface needs, for the document and for judging what comes in.
package indirect enum JSONSchema: Sendable {
  /// A member of an object.
  package struct Field: Sendable {
    package let name: String
    package let schema: JSONSchema
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
  case list(JSONSchema)
  /// An object; a closed one has no other members than these.
  case object([Field], isClosed: Bool = false)
  /// One of `AnswerSchemas`, by its name.
  case named(String)
  /// The same, or null.
  case nullable(JSONSchema)

  /// Any number that fits.
  package static let int64 = JSONSchema.integer(.min ... .max)
  /// A number of things, a sequence, a revision: what every language's numbers can hold.
  package static let count = JSONSchema.integer(0...countMax)
  /// Milliseconds since 1970, up to the year 9999.
  package static let time = JSONSchema.integer(0...timeMax)

  package static let countMax: Int64 = 1 << 53
  package static let timeMax: Int64 = 253_402_300_799_999
}

extension JSONSchema.Field {
  /// A member that is always there.
  package static func always(_ name: String, schema: JSONSchema, text: String = "") -> JSONSchema.Field {
    JSONSchema.Field(name: name, schema: schema, isRequired: true, text: text)
  }

  /// A member that may be missing.
  package static func maybe(_ name: String, schema: JSONSchema, text: String = "") -> JSONSchema.Field {
    JSONSchema.Field(name: name, schema: schema, isRequired: false, text: text)
  }
}

extension JSONSchema {
  /// What is wrong with a value, as a sentence; nil if nothing is.
  ///
  /// - `subject`: what the value is called: `"amount"`, `limit`.
  /// - `names`: what ``named(_:)`` means; any value where it is not said.
  package func problem(in value: JSON, at subject: String, names: [String: JSONSchema] = [:]) -> String? {
    switch self {
    case .any: return nil
    case .named(let name): return names[name].flatMap { $0.problem(in: value, at: subject, names: names) }
    case .boolean: return value.bool == nil ? "\(subject) must be true or false." : nil
    case .integer(let range):
      guard let number = value.int else { return "\(subject) must be an integer." }
      return range.contains(number) ? nil : Self.problem(subject, outside: range)
    case .text, .form: return value.string == nil ? "\(subject) must be a text." : nil
    case .filled: return value.string?.isEmpty == false ? nil : "\(subject) must be a text that is not empty."
    case .choice(let texts):
      return value.string.map(texts.contains) == true ? nil : "\(subject) must be one of \(texts.joined(separator: ", "))."
    case .list(let element):
      guard let elements = value.array else { return "\(subject) must be a list." }
      return elements.lazy.compactMap { element.problem(in: $0, at: "An element of \(subject)", names: names) }.first
    case .object(let fields, let isClosed):
      return Self.problem(in: value, at: subject, fields: fields, isClosed: isClosed, names: names)
    case .nullable(let schema): return value.isNull ? nil : schema.problem(in: value, at: subject, names: names)
    }
  }

  /// What is wrong with a parameter's text; nil if nothing is.
  package func problem(inParameter text: String, at subject: String) -> String? {
    switch self {
    case .integer(let range):
      guard let number = Int64(text) else { return "\(subject) must be an integer." }
      return range.contains(number) ? nil : Self.problem(subject, outside: range)
    case .boolean: return ["true", "false"].contains(text) ? nil : "\(subject) must be true or false."
    default: return problem(in: .string(text), at: subject)
    }
  }

  private static func problem(_ subject: String, outside range: ClosedRange<Int64>) -> String {
    if range.upperBound == .max { return "\(subject) must be \(range.lowerBound) or more." }
    return "\(subject) must be \(range.lowerBound) to \(range.upperBound)."
  }

  private static func problem(
    in value: JSON, at subject: String, fields: [Field], isClosed: Bool, names: [String: JSONSchema]
  )
    -> String?
  {
    guard let members = value.object else { return "\(subject) must be a JSON object." }
    for field in fields {
      guard let member = value[field.name] else {
        if field.isRequired { return "\"\(field.name)\" is missing: \(field.text.isEmpty ? "it must be there" : field.text)." }
        continue
      }
      // A member that may be missing may as well be null.
      if !field.isRequired, member.isNull { continue }
      if let problem = field.schema.problem(in: member, at: "\"\(field.name)\"", names: names) { return problem }
    }
    guard isClosed, let unknown = members.first(where: { member in !fields.contains { $0.name == member.key } }) else {
      return nil
    }
    let known = fields.isEmpty ? "nothing" : fields.map(\.name).joined(separator: ", ")
    return "\"\(unknown.key.prefix(80))\" means nothing here; the body takes \(known)."
  }
}

extension JSONSchema {
  /// The schema as JSON Schema 2020-12.
  package var document: JSON {
    switch self {
    case .any: [:]
    case .boolean: ["type": "boolean"]
    case .integer(let range):
      ["type": "integer", "format": "int64", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)]
    case .text: ["type": "string"]
    case .filled: ["type": "string", "minLength": 1]
    case .form(let pattern): ["type": "string", "pattern": .string(pattern)]
    case .choice(let texts): ["type": "string", "enum": .array(texts.map(JSON.string))]
    case .list(let element): ["type": "array", "items": element.document]
    case .object(let fields, let isClosed):
      JSON(fields: [
        ("type", "object"), ("properties", .object(fields.map { .init(key: $0.name, value: $0.document) })),
        ("required", fields.contains(where: \.isRequired) ? .array(fields.filter(\.isRequired).map { .string($0.name) }) : nil),
        ("additionalProperties", isClosed ? false : nil),
      ])
    case .named(let name): ["$ref": .string("#/components/schemas/\(name)")]
    case .nullable(let schema): ["anyOf": [schema.document, ["type": "null"]]]
    }
  }
}

extension JSONSchema.Field {
  fileprivate var document: JSON {
    guard !text.isEmpty, case .object(let members) = schema.document else { return schema.document }
    return .object(members + [.init(key: "description", value: .string(text))])
  }
}

extension JSONSchema {
  /// A key of the tree.
  package static let keyForm = #"^[^.#$\[\]/\x00-\x1F\x7F]+$"#
  /// An event's id: `1-42:/users/bob/level`.
  package static let eventForm = #"^[0-9]{1,9}-[0-9]{1,9}:/([^.#$\[\]\x00-\x1F\x7F]*|\.accounts/[^#$\[\]\x00-\x1F\x7F]*)$"#
}
