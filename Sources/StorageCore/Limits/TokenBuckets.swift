/// A bucket of tokens for each client, in a table of bounded size: who may do something now, and who must wait.
///
/// A bucket is one number, the time at which it would be full again, so looking costs no timer and an idle bucket nothing
/// (the generic cell rate algorithm). The table has two halves: when the younger is full it becomes the older, and what was
/// not asked for in the meantime is forgotten. A client that was forgotten starts with a full bucket.
///
/// A value without a clock: its owner brings the time, and the lock.
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

  /// - `capacity`: how many clients are known at once; at least two.
  public init(limit: RateLimit, capacity: Int = 65_536) {
    precondition(capacity >= 2, "The table must hold two clients at least.")
    self.limit = limit
    self.capacity = capacity
    growth = max(1, limit.period * 1000 / Int64(limit.count))
  }

  /// How many clients are known.
  public var count: Int { young.count + old.count }

  /// Takes tokens out of a client's bucket, all of them or none.
  ///
  /// - `now`: milliseconds since 1970. A clock that was set back costs nobody more than one full bucket.
  /// - `cost`: how many tokens; more than the burst are never there.
  public mutating func take(_ client: Client, at now: Int64, cost: Int = 1) -> Verdict {
    let now = now * 1000
    let window = growth * Int64(limit.burst)
    let full = min(max(known(client) ?? now, now), now + window)
    let next = full + growth * Int64(cost)
    guard next <= now + window else {
      keep(client, full: full)
      return .wait(milliseconds: max(1, (next - now - window + 999) / 1000))
    }
    keep(client, full: next)
    return .allowed
  }

  /// Puts tokens back: what they were taken for turned out not to count.
  public mutating func giveBack(_ client: Client, cost: Int = 1) {
    guard let full = known(client) else { return }
    keep(client, full: full - growth * Int64(cost))
  }

  private func known(_ client: Client) -> Int64? { young[client] ?? old[client] }

  private mutating func keep(_ client: Client, full: Int64) {
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

/// How often something may happen: `100/s`, or `20/h` with a burst of 50.
public struct RateLimit: Sendable, Hashable, CustomStringConvertible {
  /// How often it may happen in one period, in the long run.
  public let count: Int
  /// How long the period is, in milliseconds.
  public let period: Int64
  /// How often it may happen at once after a rest.
  public let burst: Int

  /// - `burst`: nil allows a whole period's at once.
  public init(_ count: Int, per period: Int64, burst: Int? = nil) {
    precondition(count > 0 && period > 0 && (burst ?? 1) > 0, "A rate that allows nothing is no rate.")
    self.count = count
    self.period = period
    self.burst = burst ?? count
  }

  /// Reads `100/s`, `20/min`, `5/h`, `1/d`, with an optional ` burst 50` behind it.
  ///
  /// - Returns: nil for anything else, and for numbers outside 1 to 1,000,000.
  public init?(parsing text: some StringProtocol) {
    let words = text.split(separator: " ")
    guard words.count == 1 || (words.count == 3 && words[1] == "burst"), let rate = words.first else { return nil }
    let halves = rate.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, let count = Self.number(halves[0]),
      let unit = Self.units.first(where: { $0.name == halves[1] })
    else { return nil }
    var burst: Int?
    if words.count == 3 {
      guard let number = Self.number(words[2]) else { return nil }
      burst = number
    }
    self.init(count, per: unit.period, burst: burst)
  }

  /// As ``init(parsing:)`` reads it.
  public var description: String {
    let unit = Self.units.first { $0.period == period }?.name ?? "\(period)ms"
    return "\(count)/\(unit)" + (burst == count ? "" : " burst \(burst)")
  }

  private static let units: [(name: String, period: Int64)] = [
    ("s", 1000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  private static func number(_ text: some StringProtocol) -> Int? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text), (1...1_000_000).contains(number) else {
      return nil
    }
    return number
  }
}
