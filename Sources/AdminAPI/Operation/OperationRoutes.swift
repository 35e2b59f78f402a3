import APISupport
import AdminModel
import Credentials
package import HTTPServer
package import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// What those who run the server look at.
package enum OperationRoutes {
  package static let routes: [Route] = [
    .get("/healthz", "Whether the process answers.") { _ in .json(JSON(encoding: Done())) },
    .get("/readyz", "Whether writes and functions work; 503 with the reasons if not.", ready),
    .get(
      "/metrics", "Counters in Prometheus' text format, for viewers; for everybody in development and on the metrics port.",
      access: .roleInProduction(.viewer), metrics),
  ]

  /// The same for a port that only this machine reaches: nobody has to show a key.
  package static let keyless: [Route] =
    Array(routes.dropLast()) + [.get("/metrics", "Counters in Prometheus' text format.", metrics)]

  private static func ready(_ call: RouteCall) -> HTTPResponse {
    var reasons: [String] = []
    if let failure = call.services.database.failure { reasons.append("The writer stopped: \(failure.message)") }
    reasons += call.services.functions?.problems ?? []
    if reasons.isEmpty { return .json(JSON(encoding: AdminSystem.Readiness(status: "ready"))) }
    let answer = AdminSystem.Readiness(status: "not ready", reasons: reasons)
    return .json(JSON(encoding: answer), status: .serviceUnavailable)
  }

  private static func metrics(_ call: RouteCall) -> HTTPResponse {
    return HTTPResponse(.ok, content: .metrics, body: Array(MetricsReport(services: call.services).text.utf8))
  }
}

/// Answers on the port that only this machine reaches: health and metrics, without a key, and nothing else.
package struct MetricsResponder: RequestResponder {
  private let table: RouteTable

  /// - Parameter table: the routes that take no key.
  package init(table: RouteTable) {
    self.table = table
  }

  package func respond(to request: HTTPRequest, sink: ResponseSink) {
    guard let target = RequestTarget(request.uri) else {
      return sink.send(.error(.badRequest, message: "The URL is not valid: it must begin with / and be percent-encoded UTF-8."))
    }
    table.respond(to: request, target, sink: sink)
  }

  package var openBytesMax: Int { 0 }

  package func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? { BodyLimit(bytesMax: 0) }

  package func standing(of head: HTTPRequestHead) -> ClientStanding { .unauthenticated }
}

/// The disk that the data are on.
package struct DiskSpace: Sendable, Hashable {
  /// The folder.
  package let folder: String
  /// Bytes that the server can still write.
  package let freeBytes: Int64
  /// Bytes that the disk has in all.
  package let totalBytes: Int64

  package init(folder: String, freeBytes: Int64, totalBytes: Int64) {
    self.folder = folder
    self.freeBytes = freeBytes
    self.totalBytes = totalBytes
  }
}
