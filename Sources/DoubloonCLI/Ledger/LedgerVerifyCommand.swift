import AdminClient
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
  /// As the server sent it.
  let report: JSON

  /// Whether every rule holds.
  var isSound: Bool { report["sound"]?.bool == true }

  /// The report with the namespace's name before it.
  var json: JSON {
    .object([JSON.Member(key: "namespace", value: .string(namespace))] + (report.object ?? []))
  }

  /// Audits one namespace.
  static func one(_ namespace: String, _ client: AdminClient) async throws -> LedgerVerification {
    let report = try await client.get(AdminPath.verify, query: [QueryItem("ns", namespace)], timeout: .minutes(30))
    return LedgerVerification(namespace: namespace, report: report)
  }

  /// Audits all namespaces of the server, one after the other.
  static func all(_ client: AdminClient) async throws -> [LedgerVerification] {
    var reports: [LedgerVerification] = []
    for namespace in try await client.get(AdminPath.namespaces).listed("namespaces") {
      guard let name = namespace["name"]?.string else { continue }
      reports.append(try await one(name, client))
    }
    return reports
  }

  /// The result in sentences, the faults below it.
  var lines: [String] {
    let entries = report["entries"]?.int ?? 0
    let accounts = report["accounts"]?.int ?? 0
    let unbacked = report.listed("unbacked")
    let extent = "\(entries.counted("entry", "entries")), \(accounts.counted("account", "accounts"))"
    guard !isSound else {
      return ["\(namespace): sound (\(extent))."] + unbacked.map(Self.unbackedLine)
    }
    let faults = report.listed("faults")
    let count = report["faultCount"]?.int ?? Int64(faults.count)
    return ["\(namespace): NOT SOUND, \(count.counted("fault", "faults")) (\(extent))."] + faults.map(Self.faultLine)
      + unbacked.map(Self.unbackedLine)
  }

  private static func faultLine(_ fault: JSON) -> String {
    let place = fault["sequence"]?.int.map { " at entry \($0)" } ?? fault["account"]?.string.map { " of \($0)" } ?? ""
    return "  \(fault["kind"]?.string ?? "fault")\(place): \(fault["message"]?.string ?? fault.plainText)".printable
  }

  private static func unbackedLine(_ place: JSON) -> String {
    "  \(place["path"]?.string ?? "?") holds no integer and counts as 0 (\(place["found"]?.string ?? "?")).".printable
  }
}
