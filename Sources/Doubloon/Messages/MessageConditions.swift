import TreeModel

/// A value of an event's parameter: a word or a number that a campaign may ask for.
public enum MessageValue: Sendable, Hashable {
  /// A text.
  case string(String)
  /// A whole number.
  case int(Int64)
  /// Any other number.
  case double(Double)
  /// Yes or no.
  case bool(Bool)

  var json: JSON {
    switch self {
    case .string(let text): .string(text)
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .bool(let isTrue): .bool(isTrue)
    }
  }
}

extension MessageValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Yes or no.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// What a campaign asks of an event's parameters: all of it must hold.
///
/// A bare value means equality; `{">=": 50}` compares, `{"in": […]}` lists, `{"exists": true}` asks whether there is one. What
/// this version does not know never holds: a newer server's condition must not show a message to everybody.
struct MessageConditions: Sendable, Equatable {
  private let members: [JSON.Member]

  /// - `json`: an object; anything else than that, and than nothing, never holds.
  init(_ json: JSON?) {
    switch json {
    case nil, .null?: members = []
    case .object(let asked)?: members = asked
    case let other?: members = [.init(key: "", value: other)]
    }
  }

  func hold(_ parameters: [String: JSON]) -> Bool {
    members.allSatisfy { member in Self.holds(member.value, value: parameters[member.key]) }
  }

  private static func holds(_ condition: JSON, value: JSON?) -> Bool {
    guard let operators = condition.object else { return value.map { compare($0, with: condition) == 0 } ?? false }
    return !operators.isEmpty && operators.allSatisfy { holds($0.key, operand: $0.value, value: value) }
  }

  private static func holds(_ name: String, operand: JSON, value: JSON?) -> Bool {
    if name == "exists" { return operand.bool == (value != nil) }
    guard let value else { return false }
    if name == "in" { return operand.array?.contains { compare(value, with: $0) == 0 } ?? false }
    guard let order = compare(value, with: operand) else { return name == "!=" }
    switch name {
    case "==": return order == 0
    case "!=": return order != 0
    case "<": return order < 0
    case "<=": return order <= 0
    case ">": return order > 0
    case ">=": return order >= 0
    default: return false
    }
  }

  /// Below zero, zero or above; nil for values of two kinds, which have no order.
  private static func compare(_ a: JSON, with b: JSON) -> Int? {
    if let x = a.int, let y = b.int { return x < y ? -1 : x == y ? 0 : 1 }
    if let x = a.double, let y = b.double { return x < y ? -1 : x == y ? 0 : 1 }
    if let x = a.string, let y = b.string { return x < y ? -1 : x == y ? 0 : 1 }
    if let x = a.bool, let y = b.bool { return x == y ? 0 : x ? 1 : -1 }
    return nil
  }
}

/// How often a campaign may be shown on this device.
struct MessageFrequency: Sendable, Equatable {
  private static let day: Int64 = 86_400_000
  /// A cap over more days is one over this many.
  private static let daysMax: Int64 = 36_500

  /// Displays in all; nil for any number.
  var lifetime: Int?
  /// At most so many displays in so many days.
  var caps: [(count: Int, days: Int)] = []

  /// Once.
  static let once = MessageFrequency(lifetime: 1)

  init(lifetime: Int?, caps: [(count: Int, days: Int)] = []) {
    self.lifetime = lifetime
    self.caps = caps
  }

  /// - `json`: `{"lifetime": n, "caps": [{"count": n, "days": d}]}`.
  init(_ json: JSON) {
    lifetime = json["lifetime"]?.number.map { Int(clamping: $0) }
    caps = (json["caps"]?.array ?? []).compactMap { cap in
      guard let count = cap["count"]?.number, let days = cap["days"]?.number else { return nil }
      return (Int(clamping: count), Int(min(max(days, 0), Self.daysMax)))
    }
  }

  /// - `displays`: when it was shown, in milliseconds since 1970.
  func allows(after displays: [Int64], at now: Int64) -> Bool {
    if let lifetime, displays.count >= lifetime { return false }
    return caps.allSatisfy { cap in
      displays.count { $0 > now - Int64(cap.days) * Self.day } < cap.count
    }
  }

  static func == (a: Self, b: Self) -> Bool {
    a.lifetime == b.lifetime && a.caps.elementsEqual(b.caps) { $0 == $1 }
  }
}

extension JSON {
  /// A whole number, or one in a text, as protocol buffers write 64 bits.
  var number: Int64? { int ?? string.flatMap { Int64($0) } }
}
