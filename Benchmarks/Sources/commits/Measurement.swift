#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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

/// A number for people, with so many digits behind the point.
func rounded(_ value: Double, _ digits: Int) -> String {
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let units = Int((value * scale).rounded())
  let rest = String(units % Int(scale))
  return digits == 0
    ? String(units) : "\(units / Int(scale)).\(String(repeating: "0", count: digits - rest.count))\(rest)"
}

/// The same numbers in every run: a linear congruential generator (Knuth's MMIX constants).
struct Draw {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}

/// A folder below the current one, on the disk that the data would be on: a file system in memory has no fsync to share.
struct TemporaryFolder {
  let path: String

  init() throws {
    path = ".build/commits-\(getpid())"
    mkdir(".build", 0o755)
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw BenchmarkError("no folder could be made at \(path)") }
  }

  /// Removes the folder with the folders and files in it.
  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { remove(path + "/" + name) }
      }
      closedir(directory)
      rmdir(path)
    } else {
      unlink(path)
    }
  }
}

/// Why a benchmark ended early.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
