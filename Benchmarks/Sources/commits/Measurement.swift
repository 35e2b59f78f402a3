#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// How much is done.
struct Plan: Sendable {
  /// Each waits for its commit before it begins the next.
  var writers = 64
  /// Players whose level is written, at random: the tree's size.
  var players = 100_000
  var commits = 200_000
  var pairs = 5

  static let small = Plan(writers: 64, players: 1_000, commits: 4_000, pairs: 1)
}

/// What a run took.
struct Measurement: CustomStringConvertible {
  let commits: Int
  let seconds: Double
  /// User and system time of the whole process.
  let cpuSeconds: Double
  /// Commits that shared one transaction, on average.
  let groupSize: Int

  var commitsPerSecond: Double { Double(commits) / seconds }
  var cpuMicroseconds: Double { cpuSeconds * 1e6 / Double(commits) }

  var description: String {
    "\(Int(commitsPerSecond)) commits/s, \(rounded(cpuMicroseconds, 1)) µs of CPU each, \(groupSize) to a transaction"
  }
}

/// Measures from its creation on.
struct Stopwatch {
  private let begin = Stopwatch.elapsed()
  private let cpuBegin = Stopwatch.cpu()

  func stop(commits: Int, groupSize: Int) -> Measurement {
    Measurement(
      commits: commits, seconds: Self.elapsed() - begin, cpuSeconds: Self.cpu() - cpuBegin, groupSize: groupSize)
  }

  private static func elapsed() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  private static func cpu() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
