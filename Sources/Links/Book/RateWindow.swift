import Synchronization

/// Counts how often somebody did something in a span of time. Bounded: of very many, the oldest spans are forgotten.
public final class RateWindow: Sendable {
  private let counts = Mutex<[String: (span: Int64, count: Int)]>([:])
  private let span: Int64
  private static let namesMax = 50_000

  /// - Parameter span: in milliseconds; counting begins anew with each.
  public init(span: Int64) {
    self.span = span
  }

  /// Whether one more is within the limit; if so it counts.
  public func admits(_ name: String, limit: Int, at time: Int64) -> Bool {
    let now = time / span
    return counts.withLock { counts in
      if counts.count >= Self.namesMax { counts = counts.filter { $0.value.span == now } }
      if counts.count >= Self.namesMax { counts.removeAll() }
      let seen = counts[name]
      let count = seen?.span == now ? seen?.count ?? 0 : 0
      guard count < limit else { return false }
      counts[name] = (now, count + 1)
      return true
    }
  }
}
