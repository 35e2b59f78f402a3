/// When a failed event is tried again, and when it is given up (spec: triggers-ledger §3.3).
public struct RetryPolicy: Sendable, Hashable {
  /// Attempts before the event becomes a dead letter.
  public var attempts: Int
  /// The delay after the first failure; doubled after each further one, with ±20 % of jitter.
  public var base: Duration
  /// The longest delay.
  public var cap: Duration

  /// 12 attempts within about 27 minutes.
  public init(attempts: Int = 12, base: Duration = .seconds(1), cap: Duration = .seconds(600)) {
    guard attempts > 0 else { Misuse.stop("A function is attempted at least once, not \(attempts) times.") }
    self.attempts = attempts
    self.base = base
    self.cap = cap
  }

  /// The delay before the next attempt, without jitter.
  /// - Parameter failures: how many attempts have failed, at least 1.
  public func delay(afterFailures failures: Int) -> Duration {
    var delay = base
    for _ in 1..<max(failures, 1) {
      delay += delay
      if delay >= cap { return cap }
    }
    return min(delay, cap)
  }
}
