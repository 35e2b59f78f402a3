import Synchronization

/// How the writer fares: how many requests share a batch, how long the disk takes for one, how often the queue was full.
///
/// A batch costs two looks at a clock and four relaxed additions, on the thread that waits for the disk anyway. The writer's own
/// thread and the requests pay nothing, but for those that a full queue refuses.
package final class WriterStatistics: Sendable {
  /// Requests of each batch.
  package let batchRequests = Tally(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096])
  /// How long the disk took for each batch, in microseconds.
  package let flushMicroseconds = Tally(bounds: [
    125, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 4_096_000,
  ])
  private let refusals = Atomic<Int>(0)

  init() {}

  /// Requests that were refused because too many waited.
  package var overloads: Int { refusals.load(ordering: .relaxed) }

  func noteOverload() { refusals.add(1, ordering: .relaxed) }

  /// Measures how long the disk takes for a batch, whether it succeeds or not.
  func flush<E: Error>(of count: Int, _ body: () throws(E) -> Void) throws(E) {
    let begin = ContinuousClock.now
    defer {
      let (seconds, attoseconds) = begin.duration(to: .now).components
      flushMicroseconds.add(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
      batchRequests.add(Int64(count))
    }
    try body()
  }
}

/// Counts values in buckets, from any thread; nothing waits for anything.
package final class Tally: Sendable {
  private final class Count: Sendable {
    let value = Atomic<Int64>(0)
  }

  /// What was counted so far. Counts of one moment may miss what another thread is counting.
  package struct Reading: Sendable, Hashable {
    /// How many values were at most this bound and more than the one before; the last of them, without a bound, were more
    /// than all.
    package let counts: [Int]
    /// All values together.
    package let sum: Int64

    package init(counts: [Int], sum: Int64) {
      self.counts = counts
      self.sum = sum
    }
  }

  /// Upper bounds of the buckets, ascending.
  package let bounds: [Int64]
  private let counts: [Count]
  private let sum = Atomic<Int64>(0)

  /// - Parameter bounds: ascending; one bucket more takes what is above all of them.
  package init(bounds: [Int64]) {
    self.bounds = bounds
    counts = (0...bounds.count).map { _ in Count() }
  }

  package func add(_ value: Int64) {
    var index = 0
    while index < bounds.count, value > bounds[index] { index += 1 }
    counts[index].value.add(1, ordering: .relaxed)
    sum.add(value, ordering: .relaxed)
  }

  package var reading: Reading {
    Reading(counts: counts.map { Int($0.value.load(ordering: .relaxed)) }, sum: sum.load(ordering: .relaxed))
  }
}
