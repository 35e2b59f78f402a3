import TreeModel

/// What an audit of one namespace's log found.
struct LogVerification: Sendable {
  let namespace: String
  /// As the server sent it.
  let report: JSON

  /// Whether every commit is what was written.
  var isSound: Bool { report["sound"]?.bool == true }

  /// The report with the namespace's name before it.
  var json: JSON {
    .object([JSON.Member(key: "namespace", value: .string(namespace))] + (report.object ?? []))
  }

  /// The result in sentences, the faults below it.
  var text: String { "\(namespace): \(LogVerifyCommand.text(report))" }

  /// Audits all namespaces of the server, one after the other.
  static func all(_ client: AdminClient) async throws -> [LogVerification] {
    var reports: [LogVerification] = []
    for namespace in try await client.get(AdminPath.namespaces).listed("namespaces") {
      guard let name = namespace["name"]?.string else { continue }
      let report = try await client.get(
        AdminPath.log + "/verify", query: [QueryItem("ns", name)], timeout: ReplayStartCommand.patience)
      reports.append(LogVerification(namespace: name, report: report))
    }
    return reports
  }
}
