import TreeModel

/// What a part of an expression is when it is evaluated.
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

  /// Strict equality: of one kind, and the same. Objects equal nothing.
  func isEqual(to other: RuleValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.scalar(let left), .scalar(let right)): left == right
    default: false
    }
  }
}

/// What a rule decides.
public enum RuleKind: String, Sendable, Hashable {
  /// Who may read.
  case read = ".read"
  /// Who may write.
  case write = ".write"
  /// What may be written.
  case validate = ".validate"
}

/// What a part of an expression may be when it is evaluated: a set of kinds.
///
/// Expressions are checked when a file is uploaded: a part that can never be what its place needs
/// is a fault; one that may or may not be is looked at when it is evaluated.
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

/// A place in the tree, before or after the operation: what `root`, `data` and `newData` are.
struct RuleSnapshot: Sendable {
  let side: RuleSide
  /// Nil for a place that cannot be: `child('a.b')`. Nothing is there.
  let pathBytes: PathBytes?

  /// The place at a relative path as rules write it: superfluous slashes are ignored. An empty path, and one with a key that
  /// the tree cannot hold, lead nowhere.
  func child(_ text: String) -> RuleSnapshot {
    guard var pathBytes else { return self }
    guard let path = try? Path(parsing: text), !path.isRoot else { return RuleSnapshot(side: side, pathBytes: nil) }
    for key in path.keys { pathBytes = pathBytes.child(key) }
    return RuleSnapshot(side: side, pathBytes: pathBytes)
  }

  /// The place above; nil at the root.
  var parent: RuleSnapshot? {
    guard let pathBytes else { return self }
    guard let last = pathBytes.keyEnds.dropLast().last ?? (pathBytes.bytes.isEmpty ? nil : 0) else { return nil }
    return RuleSnapshot(side: side, pathBytes: PathBytes(bytes: Array(pathBytes.bytes[..<last])))
  }
}

/// Numbers as rules calculate with them: whole ones exactly as long as they fit Int64, all others as doubles.
extension Scalar {
  var negated: Scalar {
    if case .int(let value) = self, value != .min { return .int(-value) }
    return .number(-(doubleValue ?? .nan))
  }

  func adding(_ other: Scalar) -> Scalar {
    if case .int(let x) = self, case .int(let y) = other {
      let (sum, overflows) = x.addingReportingOverflow(y)
      if !overflows { return .int(sum) }
    }
    return .number((doubleValue ?? .nan) + (other.doubleValue ?? .nan))
  }

  func calculating(_ kind: RuleTerm.Arithmetic, other: Scalar) -> Scalar {
    if case .int(let x) = self, case .int(let y) = other, let exact = Self.exact(kind, x, y) { return .int(exact) }
    let x = doubleValue ?? .nan
    let y = other.doubleValue ?? .nan
    switch kind {
    case .minus: return .number(x - y)
    case .times: return .number(x * y)
    // Nothing is infinite here.
    case .over: return .number(y == 0 ? .nan : x / y)
    case .modulo: return .number(x.truncatingRemainder(dividingBy: y))
    }
  }

  /// The whole result of two whole numbers; nil if there is none that fits.
  private static func exact(_ kind: RuleTerm.Arithmetic, _ x: Int64, _ y: Int64) -> Int64? {
    let (result, overflows): (Int64, Bool)
    switch kind {
    case .minus: (result, overflows) = x.subtractingReportingOverflow(y)
    case .times: (result, overflows) = x.multipliedReportingOverflow(by: y)
    case .over:
      guard y != 0, y != -1 || x != .min, x % y == 0 else { return nil }
      (result, overflows) = (x / y, false)
    case .modulo:
      guard y != 0 else { return nil }
      (result, overflows) = (y == -1 ? 0 : x % y, false)
    }
    return overflows ? nil : result
  }

  /// Negative, zero or positive, as this number is less, equal or greater; nil if one is NaN.
  func compared(to other: Scalar) -> Int? {
    if case .int(let x) = self, case .int(let y) = other { return x < y ? -1 : x == y ? 0 : 1 }
    guard let x = doubleValue, let y = other.doubleValue, !x.isNaN, !y.isNaN else { return nil }
    if x != y { return x < y ? -1 : 1 }
    // Doubles beyond Int64 are no whole numbers here; one that rounds to the same double lies on their near side.
    switch (self, other) {
    case (.int, .double): return y < 0 ? 1 : -1
    case (.double, .int): return x < 0 ? -1 : 1
    default: return 0
    }
  }

  /// How a number or a string is written when it is joined to a string; nil for booleans.
  var text: String? {
    switch self {
    case .string(let value): return value
    case .bool: return nil
    case .int(let value): return String(value)
    case .double(let value):
      if value.isNaN { return "NaN" }
      if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
      var writer = JSONWriter()
      writer.double(value)
      return String(decoding: writer.bytes, as: UTF8.self)
    }
  }
}

extension RuleValue {
  /// Whether a condition is refuted by it.
  var isFalse: Bool {
    if case .scalar(.bool(false)) = self { true } else { false }
  }
}
