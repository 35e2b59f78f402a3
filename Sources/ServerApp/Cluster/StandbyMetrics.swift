import APISupport
import HTTPServer
import Logging
import NIOCore
import NIOHTTP1
import ServerConfiguration
import StorageCore
import TreeModel

/// What a node that follows answers at the port for metrics: about itself. About the store the node that leads answers.
struct StandbyMetrics: RequestResponder {
  /// What a node that follows knows of itself.
  struct Sight: Sendable {
    /// The last batch of its copy; nil before the first look.
    var batch: Int64?
    /// For how long the copy may have been behind, in milliseconds; nil before the first look.
    var age: Int64?
    /// Where the node that leads is reached; nil while none does.
    var leader: String?
    /// Reads that were answered from the copy; nil where none are.
    var reads: Int?

    /// A copy that is older is of no use to who would lead next, in milliseconds.
    static let ageMax: Int64 = 10_000

    /// Why this node could not take over, or serve a client; empty if it could.
    var problems: [String] {
      let isOld = age.map { $0 > Self.ageMax } ?? true
      return [
        leader == nil ? "No other node leads at this moment." : nil,
        isOld ? "The working copy is not up to date: PostgreSQL does not answer, or the copy is being made." : nil,
      ].compactMap(\.self)
    }
  }

  /// Where the data folder is.
  let folder: String
  let sight: @Sendable () -> Sight

  /// Listens where the configuration says; nil where it says nothing.
  static func server(
    _ configuration: ServerConfiguration, folder: String, logger: Logger, sight: @escaping @Sendable () -> Sight
  ) -> HTTPServer? {
    configuration.metricsAddress.map { address in
      var http = HTTPServerConfiguration(host: address.host, port: address.port, threadCount: 1, connectionsMax: 64)
      // The node begins to lead when this has ended.
      http.drainTimeout = .milliseconds(100)
      return HTTPServer(
        configuration: http, responder: StandbyMetrics(folder: folder, sight: sight), metrics: HTTPMetrics(),
        clock: configuration.clock,
        logger: logger)
    }
  }

  func respond(to request: HTTPRequest, sink: ResponseSink) {
    guard request.method == .GET else {
      return sink.send(.error(.methodNotAllowed, message: "This node follows; its metrics are read with GET."))
    }
    switch RequestTarget.path(of: request.head).map({ String(decoding: $0, as: UTF8.self) }) {
    case "/metrics": sink.send(HTTPResponse(.ok, content: .metrics, body: Array(text.utf8)))
    case "/healthz": sink.send(.json(["status": "ok"]))
    case "/readyz":
      let problems = sight().problems
      sink.send(
        problems.isEmpty
          ? .json(["status": "ready"])
          : .json(
            ["status": "not ready", "reasons": .array(problems.map { .string($0) })], status: .serviceUnavailable))
    default: sink.send(.error(.notFound, message: "This node follows; here are /metrics, /healthz and /readyz."))
    }
  }

  private var text: String {
    let sight = sight()
    let own: [MetricFamily] = [
      ClusterSight.leads(false),
      .gauge(
        "doubloon_cluster_copy_batch", help: "The last batch of this node's working copy.", value: sight.batch.map(Double.init)),
      .gauge(
        "doubloon_cluster_copy_age_seconds", help: "For how long this node's working copy may have been behind.",
        value: sight.age.map { Double($0) / 1000 }),
    ]
    let reads = sight.reads.map {
      MetricFamily.counter(
        "doubloon_cluster_copy_reads_total", help: "Reads that this node has answered from its working copy.", value: $0)
    }
    return (own + [reads].compactMap(\.self) + MachineSight(folder: folder).families).text
  }

  var openBytesMax: Int { 0 }

  func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? { BodyLimit(bytesMax: 0) }

  func standing(of head: HTTPRequestHead) -> ClientStanding { .unauthenticated }
}
