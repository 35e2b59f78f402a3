package import NIOCore
import Synchronization

/// How long something took, counted in buckets.
package final class LatencyHistogram: Sendable {
  /// Bounds for writes: they double.
  static let doublingMicroseconds: [Int64] = [
    125, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 4_096_000,
  ]

  /// The upper bounds in microseconds, ascending; what took longer is counted in one more bucket.
  package let boundsMicroseconds: [Int64]
  private let buckets: [Counter]
  private let totalNanoseconds = Counter()

  package init(boundsMicroseconds: [Int64] = doublingMicroseconds) {
    self.boundsMicroseconds = boundsMicroseconds
    buckets = (0...boundsMicroseconds.count).map { _ in Counter() }
  }

  /// Counts one.
  package func record(_ duration: TimeAmount) {
    let microseconds = duration.nanoseconds / 1000
    var index = 0
    while index < boundsMicroseconds.count, microseconds > boundsMicroseconds[index] { index += 1 }
    buckets[index].add()
    totalNanoseconds.add(Int(duration.nanoseconds))
  }

  /// The counts so far: of each bucket, and the sum of the durations in seconds.
  package var current: (counts: [Int], seconds: Double) {
    (buckets.map(\.current), Double(totalNanoseconds.current) / 1e9)
  }
}
