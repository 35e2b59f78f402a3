import Measuring
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How long many looks took, each by itself.
struct Times: CustomStringConvertible {
  private var microseconds: [Double] = []

  mutating func measure(_ body: () throws -> Void) rethrows {
    let begin = Stopwatch.elapsed()
    try body()
    microseconds.append((Stopwatch.elapsed() - begin) * 1e6)
  }

  var description: String {
    let sorted = microseconds.sorted()
    let total = sorted.reduce(0, +)
    return "\(rounded(total / Double(sorted.count), 0)) µs on average, \(rounded(sorted[sorted.count / 2], 0)) median, "
      + "\(rounded(sorted[sorted.count * 99 / 100], 0)) at the 99th percentile, \(rounded(sorted[sorted.count - 1], 0)) at most"
  }
}

/// Measures from its creation on.
struct Stopwatch {
  private let begin = Stopwatch.elapsed()
  private let cpuBegin = Stopwatch.cpu()

  /// Seconds on the clock, and microseconds of CPU of the whole process.
  func stop() -> (seconds: Double, cpu: Double) {
    (Self.elapsed() - begin, (Self.cpu() - cpuBegin) * 1e6)
  }

  static func elapsed() -> Double { time(CLOCK_MONOTONIC) }
  private static func cpu() -> Double { time(CLOCK_PROCESS_CPUTIME_ID) }

  private static func time(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
