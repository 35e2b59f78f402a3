#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// What rules cost a durable commit: the referral game's, beside a tree that is open.
///
/// Judging and the indexes that the same file declares are told apart: an index costs a write whether rules are judged or not.
struct RulesRun {
  let plan: Plan

  /// A way to run, with a store of its own, and what was measured of it.
  private struct Variant {
    let name: String
    let run: EngineRun
    var slices: [Measurement] = []
  }

  /// Machines are faster in one minute than in the next: all ways run in one process, a slice each in turn.
  private static let slices = 20

  func run() async throws {
    let rules = try Self.referralRules()
    let bare = rules.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("\".indexOn\"") }
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var variants: [Variant] = []
    for (name, rules) in [("open", nil), ("judged", bare.joined(separator: "\n")), ("judged, indexed", rules)] {
      variants.append(
        Variant(name: name, run: try await EngineRun(plan: plan, folder: "\(folder.path)/\(variants.count)", rules: rules)))
    }
    defer { for variant in variants { variant.run.close() } }
    // The first slice of each warms it up, and is not counted.
    for slice in 0...Self.slices {
      for turn in variants.indices {
        let index = (turn + slice) % variants.count
        let measured = try await variants[index].run.measure(commits: plan.commits / Self.slices)
        if slice > 0 { variants[index].slices.append(measured) }
      }
    }
    report(variants)
  }

  private func report(_ variants: [Variant]) {
    for variant in variants {
      let speed = Self.median(variant.slices.map(\.commitsPerSecond))
      let cost = Self.median(variant.slices.map(\.cpuMicroseconds))
      let pairs = zip(variant.slices, variants[0].slices)
      let share = Self.median(pairs.map { $0.commitsPerSecond / $1.commitsPerSecond })
      let more = Self.median(pairs.map { $0.cpuMicroseconds - $1.cpuMicroseconds })
      print(
        "\(variant.name): \(rounded(share * 100, 0)) % of the throughput, \(rounded(more, 1)) µs of CPU more a commit "
          + "(\(Int(speed)) commits/s, \(rounded(cost, 1)) µs each; medians of \(Self.slices) slices)")
    }
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func referralRules() throws -> String {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let path = root + "/Examples/ReferralGame/rules.json"
    guard let file = fopen(path, "r") else { throw BenchmarkError("\(path) cannot be read.") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
