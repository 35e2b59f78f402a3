/// A value that the server fills in when it judges a write (spec: rtdb-protocol §1).
public enum ServerValue: Sendable, Hashable {
  /// Milliseconds since 1970: one reading of the clock for a whole operation.
  case timestamp
  /// The number that stands there plus this one; the number itself where none stands.
  case increment(Scalar)

  /// The value that is written.
  ///
  /// - Parameters:
  ///   - now: the operation's time, in milliseconds since 1970.
  ///   - current: what stands at the place before the operation.
  public func resolved(now: Int64, current: Scalar?) -> Scalar {
    switch self {
    case .timestamp: .int(now)
    case .increment(let delta): Self.sum(current, delta)
    }
  }

  /// Int64 addition where both are integers and it fits, double addition otherwise; a base that is no number counts
  /// as absent.
  static func sum(_ base: Scalar?, _ delta: Scalar) -> Scalar {
    switch (base, delta) {
    case (.int(let x), .int(let y)):
      let (sum, overflow) = x.addingReportingOverflow(y)
      return overflow ? finite(Double(x) + Double(y)) : .int(sum)
    case (.some(let x), let y):
      guard let x = x.doubleValue, let y = y.doubleValue else { return delta }
      return finite(x + y)
    case (nil, let y): return y
    }
  }
  /// A sum that the tree can hold: JSON has no infinities, so one beyond a double's range stays at its end.
  private static func finite(_ sum: Double) -> Scalar {
    .number(sum.isFinite ? sum : sum > 0 ? .greatestFiniteMagnitude : -.greatestFiniteMagnitude)
  }
}
