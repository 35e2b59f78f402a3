import AdminModel
import Testing

@testable import AdminAPI

/// What functions did lately.
struct FunctionSeriesTests {
  private static let quarter = FunctionSeries.unit
  /// The first moment of a quarter of an hour.
  private static let start = 2_000_000 * quarter

  private func tally(done: Int, failed: Int = 0, spans: [Int64: Int] = [:]) -> FunctionTally {
    var tally = FunctionTally(function: "f")
    tally.endings = [.done: done, .failed: failed]
    tally.spans = spans
    return tally
  }

  @Test("Runs are counted from one look to the next, and leave a window when it is over")
  func windows() {
    let series = FunctionSeries()
    let start = Self.start
    series.note([tally(done: 3, spans: [100: 3])], at: start + 1)
    series.note([tally(done: 5, failed: 1, spans: [100: 4, 900: 2])], at: start + 3_600_000)
    let last = start + 3_600_000
    let hour = series.recent("f", window: .hour, now: last, startedAt: start)
    #expect(hour.runs == 6 && hour.since.milliseconds == start)
    #expect(hour.outcomes.members.map(\.value) == [5, 0, 0, 1])
    #expect(hour.p50Nanoseconds == 100 && hour.p95Nanoseconds == 900)
    let later = series.recent("f", window: .hour, now: last + Self.quarter, startedAt: start)
    #expect(later.runs == 3 && later.outcomes.members.map(\.value) == [2, 0, 0, 1])
    #expect(later.p50Nanoseconds == 900)
    #expect(series.recent("f", window: .day, now: last + Self.quarter, startedAt: start).runs == 6)
    series.note([tally(done: 5, failed: 1, spans: [100: 4, 900: 2])], at: last + 25 * 3_600_000)
    let over = series.recent("f", window: .day, now: last + 25 * 3_600_000, startedAt: start)
    #expect(over.runs == 0 && over.p50Nanoseconds == nil)
    #expect(series.recent("g", window: .day, now: last, startedAt: start).runs == 0)
  }

  @Test("A count that fell began again, and a clock that was moved back leaves nothing of a time to come")
  func again() {
    let series = FunctionSeries()
    series.note([tally(done: 9)], at: Self.start + 7_200_000)
    series.note([tally(done: 2)], at: Self.start + 7_200_001)
    #expect(series.recent("f", window: .day, now: Self.start + 7_200_001, startedAt: 0).runs == 11)
    series.note([tally(done: 3)], at: Self.start + 1)
    #expect(series.recent("f", window: .day, now: Self.start + 1, startedAt: 0).runs == 1)
  }

  @Test("A look that nobody asked for is taken every ten seconds, and whenever the clock went back")
  func sometimes() {
    let series = FunctionSeries()
    var looks = 0
    for moment in [0, 1000, 9999, 10_000, 19_999, 20_000, 5] as [Int64] {
      series.noteSometimes(
        {
          looks += 1
          return []
        }, at: Self.start + moment)
    }
    #expect(looks == 4)
  }
}
