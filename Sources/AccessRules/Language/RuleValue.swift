import TreeModel

/// What a part of an expression is when it is judged.
enum RuleValue: Sendable {
  case null
  /// A number may be NaN here, though never in the tree.
  case scalar(Scalar)
  /// The value of a node that has children.
  case map
  /// A part of `auth` that has members or elements.
  case json(JSON)
  case snapshot(RuleSnapshot)

  /// A member of `auth`.
  init(_ json: JSON) {
    switch json {
    case .null: self = .null
    case .bool(let value): self = .scalar(.bool(value))
    case .int(let value): self = .scalar(.int(value))
    case .double(let value): self = .scalar(.number(value))
    case .string(let value): self = .scalar(.string(value))
    case .array, .object: self = .json(json)
    }
  }

  init(_ scalar: Scalar?) {
    if let scalar { self = .scalar(scalar) } else { self = .null }
  }

  init(_ value: Bool) { self = .scalar(.bool(value)) }

  /// Its kind, as it is named in messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .scalar(.bool): "a boolean"
    case .scalar(.int), .scalar(.double): "a number"
    case .scalar(.string): "a string"
    case .map, .json: "an object"
    case .snapshot: "a snapshot"
    }
  }

  /// Strict equality: of one kind, and the same. Objects equal nothing (spec: rtdb-protocol §4.3).
  func isEqual(to other: RuleValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.scalar(let left), .scalar(let right)): left == right
    default: false
    }
  }
}
