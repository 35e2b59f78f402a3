#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Measures from its creation on.
struct Stopwatch {
  private var begin = Stopwatch.now()

  func seconds() -> Double { Self.now() - begin }

  /// Seconds since the last lap, with one digit behind the point.
  mutating func lap() -> String {
    let seconds = seconds()
    begin = Self.now()
    return "\((seconds * 10).rounded() / 10)"
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

/// Milliseconds, with three digits behind the point.
func milliseconds(_ seconds: Double) -> String { "\((seconds * 1e6).rounded() / 1e3)" }

/// The same numbers in every run: a linear congruential generator (Knuth's MMIX constants).
struct Draw {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}

/// Why a benchmark ended early.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
