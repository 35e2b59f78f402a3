import AdminClient
import NIOCore
import ServerApp
import TreeModel

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
