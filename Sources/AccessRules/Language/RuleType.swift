/// What a part of an expression may be when it is judged: a set of kinds.
///
/// Expressions are checked when a file is uploaded (spec: rtdb-protocol §4.1): a part that can never be what its place needs
/// is a fault; one that may or may not be is looked at when it is judged.
struct RuleType: OptionSet, Sendable, Hashable {
  let rawValue: UInt16

  static let null = RuleType(rawValue: 1)
  static let bool = RuleType(rawValue: 2)
  static let number = RuleType(rawValue: 4)
  static let string = RuleType(rawValue: 8)
  /// A part of `auth` that has members.
  static let object = RuleType(rawValue: 16)
  /// The value of a node that has children: it is not null, and that is all there is to say of it.
  static let map = RuleType(rawValue: 32)
  static let snapshot = RuleType(rawValue: 64)
  static let query = RuleType(rawValue: 128)
  static let list = RuleType(rawValue: 256)
  static let pattern = RuleType(rawValue: 512)

  /// Whatever `auth` may hold.
  static let any: RuleType = [.null, .bool, .number, .string, .object]
  /// Whatever `val()` may answer.
  static let primitive: RuleType = [.null, .bool, .number, .string, .map]
  /// What has no value of its own.
  static let noValue: RuleType = [.snapshot, .query, .list, .pattern]

  /// Whether something of this type may be something of the other.
  func meets(_ other: RuleType) -> Bool { !isDisjoint(with: other) }

  /// As it is named in messages.
  var name: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .snapshot: "a snapshot"
    case .query: "the query"
    case .list: "a list"
    case .pattern: "a regular expression"
    default: "a value"
    }
  }
}
