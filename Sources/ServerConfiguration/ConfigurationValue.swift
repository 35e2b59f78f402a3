import TreeModel

/// A value of a configuration file, with its place.
struct ConfigurationValue: Sendable {
  struct Member: Sendable {
    let key: String
    let position: ConfigurationFault.Position
    let value: ConfigurationValue
  }

  indirect enum Content: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([ConfigurationValue])
    case object([Member])
  }

  let content: Content
  let position: ConfigurationFault.Position

  /// What kind of value it is, for a sentence.
  var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .int, .double: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// The value without its places.
  var json: JSON {
    switch content {
    case .null: .null
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: $0.value.json) })
    }
  }

  /// The member of that name; nil where there is none, or no object.
  subscript(name: String) -> Member? {
    guard case .object(let members) = content else { return nil }
    return members.last { $0.key == name }
  }
}
