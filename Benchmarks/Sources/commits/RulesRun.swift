#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// What rules cost a durable commit: the referral game's, beside a tree that is open, in pairs.
struct RulesRun {
  let plan: Plan

  func run() async throws {
    let rules = try Self.referralRules()
    var ratios: [Double] = []
    var costs: [Double] = []
    for pair in 1...plan.pairs {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      // The second of a pair finds the machine warmer: they take turns.
      let isRuledFirst = pair % 2 == 0
      let first = try await EngineRun(plan: plan, folder: folder.path + "/1", rules: isRuledFirst ? rules : nil).run()
      let second = try await EngineRun(plan: plan, folder: folder.path + "/2", rules: isRuledFirst ? nil : rules).run()
      let (ruled, open) = isRuledFirst ? (first, second) : (second, first)
      ratios.append(ruled.commitsPerSecond / open.commitsPerSecond)
      costs.append(ruled.cpuMicroseconds - open.cpuMicroseconds)
      print("pair \(pair)  open   \(open)")
      print("        rules  \(ruled)")
    }
    let ratio = ratios.sorted()[ratios.count / 2]
    let cost = costs.sorted()[costs.count / 2]
    print("median: with rules \(rounded(ratio * 100, 0)) % of the throughput, \(rounded(cost, 1)) µs of CPU more a commit")
  }

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
