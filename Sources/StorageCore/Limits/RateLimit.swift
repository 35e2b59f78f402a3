/// How often something may happen: `100/s`, or `20/h` with a burst of 50.
public struct RateLimit: Sendable, Hashable, CustomStringConvertible {
  /// How often it may happen in one period, in the long run.
  public let count: Int
  /// How long the period is, in milliseconds.
  public let period: Int64
  /// How often it may happen at once after a rest.
  public let burst: Int

  /// - Parameter burst: nil allows a whole period's at once.
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
