#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// What rules cost a durable commit: the referral game's, beside a tree that is open, in rounds.
///
/// Judging and the indexes that the same file declares are told apart: an index costs a write whether rules are judged or not.
struct RulesRun {
  let plan: Plan

  /// A way to run, and what was measured of it.
  private struct Variant {
    let name: String
    let rules: String?
    var runs: [Measurement] = []
  }

  func run() async throws {
    let rules = try Self.referralRules()
    let bare = rules.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("\".indexOn\"") }
    var variants = [
      Variant(name: "open", rules: nil), Variant(name: "judged", rules: bare.joined(separator: "\n")),
      Variant(name: "judged, indexed", rules: rules),
    ]
    for round in 1...plan.pairs {
      print("round \(round)")
      // Whoever runs later finds the machine warmer: they take turns.
      for turn in variants.indices {
        let index = (turn + round) % variants.count
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let measured = try await EngineRun(plan: plan, folder: folder.path, rules: variants[index].rules).run()
        variants[index].runs.append(measured)
        print("  \(variants[index].name): \(measured)")
        fflush(nil)
      }
    }
    for variant in variants.dropFirst() {
      let pairs = zip(variant.runs, variants[0].runs)
      let ratio = Self.median(pairs.map { $0.commitsPerSecond / $1.commitsPerSecond })
      let cost = Self.median(pairs.map { $0.cpuMicroseconds - $1.cpuMicroseconds })
      print(
        "\(variant.name): \(rounded(ratio * 100, 0)) % of the throughput, \(rounded(cost, 1)) µs of CPU more a commit (medians)"
      )
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
