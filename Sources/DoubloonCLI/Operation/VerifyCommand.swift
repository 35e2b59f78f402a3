import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon verify`: proves that everything stored is what was written.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check everything that is stored, of all namespaces.",
    discussion: """
      The pages of the file; every row against what proves it; the tree, the history and the statements against the logs \
      that they follow from, and the index of referrals against the tree; the chains of commits, ledger entries and audit \
      records; who caused what. "log verify" and "ledger verify" are parts of it. It reads everything, while others go on \
      writing, and ends with exit code 1 if something is wrong: then keep the files, and restore the last backup into a \
      new folder.

      Examples:
        doubloon verify
        doubloon verify --data .doubloon
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.get(AdminPath.everything, timeout: ReplayStartCommand.patience)
    }
    output.print(answer) { Self.lines($0).joined(separator: "\n") }
    if answer["sound"]?.bool != true { throw ExitCode(1) }
  }

  /// The report in sentences, the faults below them.
  static func lines(_ answer: JSON) -> [String] {
    let rows = (answer["rows"]?.int ?? 0).counted("row", "rows")
    var lines = part("The store", rows, answer)
    for namespace in answer.listed("namespaces") {
      let counts = [
        ("commits", "commit", "commits"), ("executions", "execution", "executions"),
        ("entries", "ledger entry", "ledger entries"), ("ledgerAccounts", "account", "accounts"),
        ("referrals", "referral", "referrals"),
      ]
      let extent = counts.compactMap { name, one, many in namespace[name]?.int.map { $0.counted(one, many) } }
      lines += part(namespace["namespace"]?.string ?? "?", extent.joined(separator: ", "), namespace)
    }
    return lines
  }

  private static func part(_ name: String, _ extent: String, _ report: JSON) -> [String] {
    let count = report["faultCount"]?.int ?? 0
    let verdict = count == 0 ? "sound" : "NOT SOUND, \(count.counted("fault", "faults"))"
    return (["\(name): \(verdict) (\(extent))."] + report.listed("faults").map { "  \($0.string ?? "?")" }).map(\.printable)
  }
}
