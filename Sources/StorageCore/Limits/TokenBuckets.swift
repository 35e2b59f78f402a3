/// A bucket of tokens for each client, in a table of bounded size: who may do something now, and who must wait.
///
/// A bucket is one number, the time at which it would be full again, so looking costs no timer and an idle bucket nothing
/// (the generic cell rate algorithm). The table has two halves: when the younger is full it becomes the older, and what was
/// not asked for in the meantime is forgotten. A client that was forgotten starts with a full bucket.
///
/// A value without a clock: whoever holds it brings the time, and the lock.
public struct TokenBuckets<Client: Hashable & Sendable>: Sendable {
  /// Whether something may happen.
  public enum Verdict: Sendable, Hashable {
    /// Yes; the token is taken.
    case allowed
    /// Not now: in so many milliseconds, at least one.
    case wait(milliseconds: Int64)
  }

  /// What every client may do.
  public let limit: RateLimit
  /// How many clients are known at once, at most.
  public let capacity: Int
  /// When each bucket would be full, in microseconds since 1970.
  private var young: [Client: Int64] = [:]
  private var old: [Client: Int64] = [:]
  /// Microseconds that one token takes to grow.
  private let growth: Int64

  /// - Parameter capacity: how many clients are known at once; at least two.
  public init(limit: RateLimit, capacity: Int = 65_536) {
    precondition(capacity >= 2, "The table needs room for two clients.")
    self.limit = limit
    self.capacity = capacity
    growth = max(1, limit.period * 1000 / Int64(limit.count))
  }

  /// How many clients are known.
  public var count: Int { young.count + old.count }

  /// Takes tokens out of a client's bucket, all of them or none.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970. A clock that was set back costs nobody more than one full bucket.
  ///   - cost: how many tokens; more than the burst are never there.
  public mutating func take(_ client: Client, at now: Int64, cost: Int = 1) -> Verdict {
    let now = now * 1000
    let window = growth * Int64(limit.burst)
    let full = min(max(known(client) ?? now, now), now + window)
    let next = full + growth * Int64(cost)
    guard next <= now + window else {
      keep(client, full)
      return .wait(milliseconds: max(1, (next - now - window + 999) / 1000))
    }
    keep(client, next)
    return .allowed
  }

  /// Puts tokens back: what they were taken for turned out not to count.
  public mutating func giveBack(_ client: Client, cost: Int = 1) {
    guard let full = known(client) else { return }
    keep(client, full - growth * Int64(cost))
  }

  private func known(_ client: Client) -> Int64? { young[client] ?? old[client] }

  private mutating func keep(_ client: Client, _ full: Int64) {
    if young[client] == nil {
      old[client] = nil
      if young.count >= capacity / 2 {
        old = young
        young = [:]
      }
    }
    young[client] = full
  }
}
