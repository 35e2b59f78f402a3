#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// Durable commits a second: Doubloon's engine beside SQLite alone, the same rows at the same group size, in pairs.
@main
struct Main {
  static func main() async throws {
    var plan = Plan()
    var keeps = false
    var judges = false
    for argument in CommandLine.arguments.dropFirst() {
      switch argument {
      case "--small": plan = .small
      case "--keep": keeps = true
      case "--rules": judges = true
      default:
        print(
          """
          usage: commits [--small] [--keep] [--rules]
            --small  a moment of each, to see that they work
            --keep   leave the data behind
            --rules  what the referral game's rules and indexes cost, instead of what SQLite costs
          """
        )
        exit(argument == "--help" ? 0 : 2)
      }
    }
    print("\(plan.writers) writers, \(plan.players) players, \(plan.commits) commits a run, \(plan.pairs) pairs")
    if judges { return try await RulesRun(plan: plan).run() }
    var ratios: [Double] = []
    for pair in 1...plan.pairs {
      let folder = try TemporaryFolder()
      defer { if keeps { print("data in \(folder.path)") } else { folder.remove() } }
      let engine = try await measureEngine(plan, folder.path + "/engine")
      let plain = try PlainRun(plan: plan, folder: folder.path, groupSize: engine.groupSize).run()
      let ratio = plain.commitsPerSecond / engine.commitsPerSecond
      ratios.append(ratio)
      print("pair \(pair)  doubloon  \(engine)")
      print("        sqlite    \(plain)")
      let cpuRatio = engine.cpuMicroseconds / plain.cpuMicroseconds
      print("        doubloon takes \(rounded(ratio, 2)) times as long, and \(rounded(cpuRatio, 2)) times the CPU")
    }
    print("median ratio \(rounded(ratios.sorted()[ratios.count / 2], 2))")
  }

  private static func measureEngine(_ plan: Plan, _ folder: String) async throws -> Measurement {
    let run = try await EngineRun(plan: plan, folder: folder)
    defer { run.close() }
    return try await run.measure(commits: plan.commits)
  }
}
