import AdminClient
import AdminModel
import ArgumentParser
import NIOCore
import ServerApp
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

/// What an audit of one namespace's ledger found.
struct LedgerVerification: Sendable {
  let namespace: String
  let answer: AdminAnswer<AdminLedger.Verification>

  /// Whether every rule holds.
  var isSound: Bool { answer.value.sound }

  /// The report with the namespace's name before it.
  var json: JSON {
    .object([JSON.Member(key: "namespace", value: .string(namespace))] + (answer.json.object ?? []))
  }

  /// Audits one namespace.
  static func one(_ namespace: String, _ client: AdminClient) async throws -> LedgerVerification {
    LedgerVerification(
      namespace: namespace,
      answer: try await client.call(AdminLedger.verify, namespace: namespace, timeout: .minutes(30)))
  }

  /// Audits all namespaces of the server, one after the other.
  static func all(_ client: AdminClient) async throws -> [LedgerVerification] {
    var reports: [LedgerVerification] = []
    for namespace in try await client.call(AdminSystem.namespaces).value.namespaces {
      reports.append(try await one(namespace.name, client))
    }
    return reports
  }

  /// The result in sentences, the faults below it.
  var lines: [String] {
    let report = answer.value
    let extent = "\(report.entries.counted("entry", many: "entries")), \(report.accounts.counted("account", many: "accounts"))"
    let unbacked = report.unbacked.map { "  \($0.path) holds no integer and counts as 0 (\($0.found)).".printable }
    guard !report.sound else { return ["\(namespace): sound (\(extent))."] + unbacked }
    return ["\(namespace): NOT SOUND, \(report.faultCount.counted("fault", many: "faults")) (\(extent))."]
      + report.faults.map(Self.line) + unbacked
  }

  private static func line(of fault: AdminLedger.Finding) -> String {
    let subject = fault.sequence.map { " at entry \($0)" } ?? fault.account.map { " of \($0)" } ?? ""
    return "  \(fault.kind)\(subject): \(fault.message)".printable
  }
}
