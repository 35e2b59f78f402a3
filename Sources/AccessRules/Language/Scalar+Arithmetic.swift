import TreeModel

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

  func calculating(_ kind: RuleTerm.Arithmetic, _ other: Scalar) -> Scalar {
    if case .int(let x) = self, case .int(let y) = other, let exact = Self.exact(kind, x, y) { return .int(exact) }
    let x = doubleValue ?? .nan
    let y = other.doubleValue ?? .nan
    switch kind {
    case .minus: return .number(x - y)
    case .times: return .number(x * y)
    // Nothing is infinite here (spec: rtdb-protocol §4.3).
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
