import Testing

@testable import Triggers

/// How long runs took, kept as counts.
struct FunctionTimeTests {
  @Test("A share of the runs took no longer than what is told, and that is at most a quarter too much")
  func shares() throws {
    var time = FunctionTime()
    #expect(time.longest(ofShare: 0.5) == nil)
    for nanoseconds in 1...1000 as ClosedRange<Int64> { time.add(nanoseconds * 1000) }
    for (share, exact) in [(0.5, 500_000), (0.95, 950_000), (0.99, 990_000), (1, 1_000_000)] as [(Double, Int64)] {
      let told = try #require(time.longest(ofShare: share))
      #expect(told >= exact && told <= min(exact * 5 / 4, time.slowest), "\(share): \(told)")
    }
  }

  @Test("Every length has its place", arguments: [0, 1, 2, 3, 4, 5, 7, 8, 1000, 1 << 40, Int64.max])
  func extremes(_ nanoseconds: Int64) {
    var time = FunctionTime()
    time.add(nanoseconds)
    #expect(time.longest(ofShare: 0.5) == nanoseconds && time.runs == 1)
  }
}
