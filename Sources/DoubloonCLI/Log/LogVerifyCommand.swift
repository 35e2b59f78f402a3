import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon log verify`: proves that the log is what was written.
struct LogVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every commit's hash and digest, and what refers to commits.",
    discussion: """
      Ends with exit code 1 if something is wrong; the first fault says where.

      Examples:
        doubloon log verify
        doubloon log verify --data .doubloon --ns my-game-default-rtdb
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.get(AdminPath.log + "/verify", query: server.query, timeout: ReplayStartCommand.patience)
    }
    output.print(answer, Self.text)
    if answer["sound"]?.bool != true { throw ExitCode(1) }
  }

  static func text(_ answer: JSON) -> String {
    let extent =
      "\((answer["commits"]?.int ?? 0).counted("commit", "commits")), "
      + "\((answer["entries"]?.int ?? 0).counted("ledger entry", "ledger entries")), "
      + (answer["executions"]?.int ?? 0).counted("execution", "executions")
    let pruned = answer["pruned"]?.int ?? 0
    let unsealed = answer.listed("unsealed").compactMap(\.int)
    let waiting =
      unsealed.isEmpty
      ? "" : " Not finished: \(Int64(unsealed.count).counted("erasure", "erasures")); see \"doubloon accounts erasures\"."
    let forgotten =
      (pruned > 0 ? " The changes of revisions 1 to \(pruned.grouped) were pruned." : "")
      + ((answer["erased"]?.int).map { $0 > 0 ? " Of \($0.counted("commit", "commits")) a part was erased." : "" } ?? "")
      + waiting
    guard answer["sound"]?.bool != true else { return "The log is sound: \(extent).\(forgotten)" }
    let count = answer["faultCount"]?.int ?? 0
    let lines = answer.listed("faults").map { "  \($0["message"]?.string ?? "?")" }
    return (["The log is NOT SOUND, \(count.counted("fault", "faults")) (\(extent)).\(forgotten)"] + lines)
      .joined(separator: "\n").printable
  }
}
