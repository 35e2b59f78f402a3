import AdminModel
import Synchronization

/// What each registered function did in the last day, in memory: of every quarter of an hour how its runs ended, and how long they
/// took.
///
/// Functions count since the process started; every look adds what was counted since the look before to the part that the time
/// is in. A function has at most ``partsMax`` parts, and a part one number for each span that a run can take: a few hundred.
package final class FunctionSeries: Sendable {
  /// How long a part is, in milliseconds.
  static let unit: Int64 = 15 * 60_000
  /// A day, and the part that is not over.
  static let partsMax: Int64 = 97
  /// From one look to the next where nobody asks, in milliseconds.
  private static let interval: Int64 = 10_000

  /// What a function did in one part.
  private struct Part {
    /// Its first moment, in units.
    let slot: Int64
    var endings: [FunctionTally.Ending: Int] = [:]
    /// Runs by how long they took at most, in nanoseconds.
    var spans: [Int64: Int] = [:]

    mutating func add(_ other: Part) {
      endings.merge(other.endings, uniquingKeysWith: +)
      spans.merge(other.spans, uniquingKeysWith: +)
    }
  }

  private struct State {
    /// What each function had counted at the last look.
    var last: [String: FunctionTally] = [:]
    var parts: [String: [Part]] = [:]
    var lookedAt: Int64 = .min
  }

  private let state = Mutex(State())

  package init() {}

  /// Takes in a look.
  ///
  /// - `tallies`: asked for one look after the other: an older count that came after a newer one would be taken for one that
  ///   began again.
  /// - `time`: milliseconds since 1970.
  /// - Returns: what was seen.
  @discardableResult
  func note(_ tallies: @autoclosure () -> [FunctionTally], at time: Int64) -> [FunctionTally] {
    state.withLock { state in
      // Of two that look at once the later may come first: that is no clock that was moved.
      let time = state.lookedAt > time && state.lookedAt - time < 60_000 ? state.lookedAt : time
      // The moment before: a look on the stroke of a quarter is about the one that has passed.
      let slot = (time - 1) / Self.unit
      state.lookedAt = time
      let seen = tallies()
      for tally in seen {
        let grown = Self.grown(tally, since: state.last[tally.function], in: slot)
        state.last[tally.function] = tally
        var parts = state.parts[tally.function] ?? []
        // Where the clock was moved back nobody knows what a later part is about.
        parts.removeAll { $0.slot > slot || $0.slot <= slot - Self.partsMax }
        if let index = parts.indices.last, parts[index].slot == slot {
          parts[index].add(grown)
        } else if !grown.endings.isEmpty || !grown.spans.isEmpty {
          parts.append(grown)
        }
        state.parts[tally.function] = parts
      }
      return seen
    }
  }

  /// Takes in a look where the last one is long enough ago.
  func noteSometimes(_ tallies: () -> [FunctionTally], at time: Int64) {
    let last = state.withLock { $0.lookedAt }
    guard last == .min || time < last || time - last >= Self.interval else { return }
    note(tallies(), at: time)
  }

  /// What was counted between two looks. A count that fell began again: it was counted from 0.
  private static func grown(_ now: FunctionTally, since before: FunctionTally?, in slot: Int64) -> Part {
    func grown(_ now: Int, _ before: Int) -> Int { now >= before ? now - before : now }
    var part = Part(slot: slot)
    for (ending, count) in now.endings {
      let more = grown(count, before?.endings[ending] ?? 0)
      if more > 0 { part.endings[ending] = more }
    }
    for (span, count) in now.spans {
      let more = grown(count, before?.spans[span] ?? 0)
      if more > 0 { part.spans[span] = more }
    }
    return part
  }

  /// What a function did in a window that ends now: in whole parts, and in the one that is not over.
  ///
  /// - `startedAt`: when the process began to count.
  func recent(_ function: String, window: AdminFunctions.Window, now: Int64, startedAt: Int64) -> AdminFunctions.Recent {
    let first = now / Self.unit - window.length / Self.unit
    let parts = state.withLock { ($0.parts[function] ?? []).filter { $0.slot >= first } }
    var sum = Part(slot: first)
    for part in parts { sum.add(part) }
    let spans = sum.spans.sorted { $0.key < $1.key }
    return AdminFunctions.Recent(
      window: window, since: Timestamp(max(first * Self.unit, startedAt)),
      runs: Int64(sum.endings.values.reduce(0, +)),
      outcomes: NamedValues(
        FunctionTally.Ending.allCases.map { NamedValues.Member($0.rawValue, Int64(sum.endings[$0] ?? 0)) }),
      p50Nanoseconds: Self.longest(ofShare: 0.5, of: spans), p95Nanoseconds: Self.longest(ofShare: 0.95, of: spans),
      p99Nanoseconds: Self.longest(ofShare: 0.99, of: spans))
  }

  /// How long this share of the runs took at most; nil where none was measured.
  ///
  /// - `spans`: how many took at most how long, the shortest first.
  private static func longest(ofShare share: Double, of spans: [(key: Int64, value: Int)]) -> Int64? {
    var rest = Int((Double(spans.reduce(0) { $0 + $1.value }) * share).rounded(.up))
    for (span, count) in spans {
      rest -= count
      if rest <= 0 { return span }
    }
    return spans.last?.key
  }
}
