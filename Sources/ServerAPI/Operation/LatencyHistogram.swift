public import NIOCore
import Synchronization

/// How long something took, counted in buckets that double.
public final class LatencyHistogram: Sendable {
  /// The upper bounds in microseconds; what took longer is counted in one more bucket.
  static let boundsMicroseconds: [Int64] = [
    125, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 4_096_000,
  ]

  private let buckets = (0...boundsMicroseconds.count).map { _ in Counter() }
  private let totalNanoseconds = Counter()

  init() {}

  /// Counts one.
  public func record(_ duration: TimeAmount) {
    let microseconds = duration.nanoseconds / 1000
    var index = 0
    while index < Self.boundsMicroseconds.count, microseconds > Self.boundsMicroseconds[index] { index += 1 }
    buckets[index].add()
    totalNanoseconds.add(Int(duration.nanoseconds))
  }

  /// The counts so far: of each bucket, and the sum of the durations in seconds.
  var current: (counts: [Int], seconds: Double) {
    (buckets.map(\.current), Double(totalNanoseconds.current) / 1e9)
  }
}
