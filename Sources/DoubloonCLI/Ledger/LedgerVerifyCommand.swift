import ArgumentParser
import TreeModel

/// `doubloon ledger verify`: proves that the ledger is what it must be.
struct LedgerVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every entry, hash and sum of the ledger against the tree.",
    discussion: """
      Without --ns all namespaces are checked. Ends with exit code 1 if something is wrong.

      Examples:
        doubloon ledger verify
        doubloon ledger verify --ns my-game-default-rtdb --data .doubloon
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let reports = try await server.withClient(spansNamespaces: true) { client in
      guard let namespace = server.namespace else { return try await LedgerVerification.all(client) }
      return [try await LedgerVerification.one(namespace, client)]
    }
    output.print(.array(reports.map(\.json))) { _ in
      reports.isEmpty ? "There are no namespaces yet." : reports.flatMap(\.lines).joined(separator: "\n")
    }
    if !reports.allSatisfy(\.isSound) { throw ExitCode(1) }
  }
}
