import HTTPServer
import Logging
import NIOCore
import ServerTestSupport
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

/// What a node that follows answers at its port for metrics.
@Suite struct StandbyMetricsTests {
  @Test("A node that follows tells of itself, and is ready while another leads and its copy is up to date")
  func answers() async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.path))
    #expect(StandbyMetrics.server(configuration, folder: folder.path, logger: Logger(label: "test")) { .init() } == nil)
    configuration.metricsAddress = PortAddress(host: "127.0.0.1", port: 0)
    let shared = Shared()
    let server = try #require(
      StandbyMetrics.server(configuration, folder: folder.path, logger: Logger(label: "test")) { shared.value })
    let port = try #require(try await server.bind().port)
    let running = Task { try await server.run() }
    let client = try await RawConnection.connect(to: port)
    func get(_ path: String, method: String = "GET") async throws -> RawResponse {
      try await client.send("\(method) \(path) HTTP/1.1\r\nHost: node\r\n\r\n")
      return try #require(try await client.next())
    }
    let begun = try await get("/readyz")
    #expect(begun.status == 503 && begun.json?["reasons"]?.array?.count == 2)
    #expect(!(try await get("/metrics")).body.contains("\ndoubloon_cluster_copy_batch "))
    shared.set(StandbyMetrics.Sight(batch: 7, age: 250, leader: "10.0.0.1:9000"))
    #expect(try await get("/readyz").status == 200)
    let metrics = try await get("/metrics")
    #expect(metrics["content-type"]?.hasPrefix("text/plain") == true)
    for line in ["doubloon_cluster_leads 0", "doubloon_cluster_copy_batch 7", "doubloon_cluster_copy_age_seconds 0.25"] {
      #expect(metrics.body.contains("\n\(line)\n"), "\(line)")
    }
    #expect(metrics.body.contains("process_open_fds ") && metrics.body.contains("doubloon_disk_free_bytes "))
    shared.set(StandbyMetrics.Sight(batch: 7, age: 10_001, leader: "10.0.0.1:9000"))
    #expect(try await get("/readyz").json?["reasons"]?.array?.count == 1)
    #expect(try await get("/healthz").status == 200)
    #expect(try await get("/users.json").status == 404)
    #expect(try await get("/metrics", method: "POST").status == 405)
    running.cancel()
    try await running.value
  }

  private final class Shared: Sendable {
    private let sight = Mutex(StandbyMetrics.Sight())

    var value: StandbyMetrics.Sight { sight.withLock(\.self) }

    func set(_ value: StandbyMetrics.Sight) { sight.withLock { $0 = value } }
  }
}
