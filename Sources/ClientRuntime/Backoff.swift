/// Waiting times that grow with each failure, spread by chance so that clients do not come back together.
package struct Backoff: Sendable {
  /// The first time, in milliseconds.
  package let first: Double
  /// No time is longer.
  package let longest: Double
  /// What each failure multiplies by.
  package let factor: Double
  /// Which part of a time is left to chance: 0 for none, 0.7 for most of it.
  package let chance: Double
  private var next: Double

  package init(first: Double, longest: Double, factor: Double, chance: Double) {
    self.first = first
    self.longest = longest
    self.factor = factor
    self.chance = chance
    next = first
  }

  /// Between tries to reach the database: at least 0.3 of 1 s, 1.3 s, 1.69 s … 30 s.
  package static let reconnecting = Backoff(first: 1000, longest: 30_000, factor: 1.3, chance: 0.7)
  /// Between tries to refresh a token by timer: 1, 2, 4, 8, 16 minutes.
  package static let refreshing = Backoff(first: 60_000, longest: 960_000, factor: 2, chance: 0)

  /// The milliseconds to wait now; the next ones are longer.
  package mutating func delay(using generator: inout some RandomNumberGenerator) -> Int64 {
    let part = Double.random(in: 0...1, using: &generator)
    defer { next = min(next * factor, longest) }
    return Int64((1 - chance) * next + chance * next * part)
  }

  /// After success.
  package mutating func reset() { next = first }

  /// As after many failures.
  package mutating func saturate() { next = longest }
}
