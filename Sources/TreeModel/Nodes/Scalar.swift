/// The value of a leaf: a boolean, a number or a string. Priorities are numbers or strings.
///
/// Numbers are kept as Int64 whenever they are integral and fit, so that 1 and 1.0 are one value and print alike, and
/// 2^53+1 survives; build them with ``number(_:)``, which also turns -0 into 0.
public enum Scalar: Sendable {
  /// `true` or `false`.
  case bool(Bool)
  /// An integral number that fits Int64.
  case int(Int64)
  /// Any other number; build it with ``number(_:)``.
  case double(Double)
  /// A text.
  case string(String)

  /// A number in its canonical case.
  public static func number(_ value: Double) -> Scalar {
    if let integer = Int64(exactly: value) { return .int(integer) }
    return .double(value)
  }

  /// Whether this is a number of either kind.
  public var isNumber: Bool {
    switch self {
    case .int, .double: true
    case .bool, .string: false
    }
  }

  /// The number as a double; nil for booleans and strings.
  public var doubleValue: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    case .bool, .string: nil
    }
  }

  /// The number if it is an exact Int64.
  public var intValue: Int64? {
    if case .int(let value) = self { value } else { nil }
  }

  /// The text; nil for booleans and numbers.
  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// Whether JavaScript would take the value for false: `false`, 0 and the empty string.
  public var isFalsy: Bool {
    switch self {
    case .bool(let value): !value
    case .int(let value): value == 0
    case .double(let value): value == 0 || value.isNaN
    case .string(let value): value.isEmpty
    }
  }
}

extension Scalar: Hashable {
  /// Exact equality: strings by their bytes, numbers by their canonical case.
  public static func == (a: Scalar, b: Scalar) -> Bool {
    switch (a, b) {
    case (.bool(let x), .bool(let y)): return x == y
    case (.int(let x), .int(let y)): return x == y
    case (.double(let x), .double(let y)): return x == y
    case (.string(var x), .string(var y)):
      return x.withUTF8 { p in y.withUTF8 { q in p.count == q.count && p.elementsEqual(q) } }
    default: return false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
  }
}

extension Scalar: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral
{
  /// A boolean written in the source.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer written in the source.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A number written in the source, in its canonical case.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A text written in the source.
  public init(stringLiteral value: String) { self = .string(value) }
}
