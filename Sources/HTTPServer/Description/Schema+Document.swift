package import TreeModel

extension Schema {
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
      .record([
        ("type", "object"), ("properties", .object(fields.map { .init(key: $0.name, value: $0.document) })),
        ("required", fields.contains(where: \.isRequired) ? .array(fields.filter(\.isRequired).map { .string($0.name) }) : nil),
        ("additionalProperties", isClosed ? false : nil),
      ])
    case .named(let name): ["$ref": .string("#/components/schemas/\(name)")]
    case .nullable(let schema): ["anyOf": [schema.document, ["type": "null"]]]
    }
  }
}

extension Schema.Field {
  fileprivate var document: JSON {
    guard !text.isEmpty, case .object(let members) = schema.document else { return schema.document }
    return .object(members + [.init(key: "description", value: .string(text))])
  }
}
