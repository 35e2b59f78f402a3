import AdminModel
import ServerTestSupport
import Testing
import TreeModel

@testable import AdminAPI

/// What administrators are told of the nodes of a store.
struct ClusterRouteTests {
  private static let term = AdminCluster.Term(
    number: 7, startedAt: 1_700_000_000_000, batches: 4, bytes: 900, batchMicros: 2500)
  private static let nodes = [
    AdminCluster.Node(name: "a", address: "10.0.0.1:9000", version: "0.1.0", leads: true, alive: true, silentMs: 0),
    AdminCluster.Node(name: "b", version: "0.1.0", leads: false, alive: false, silentMs: 40_000),
  ]

  @Test("A server whose data folder is the truth says that it has no nodes, and nothing else")
  func single() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("GET", "/admin/v1/cluster", headers: APIServer.admin, is: #"{"clustered":false}"#),
        .init("GET", "/admin/v1/cluster", status: 401))
    }
  }

  @Test("Of a store in PostgreSQL it tells who leads in which term, what that did, and which nodes live")
  func several() async throws {
    let state = AdminCluster.State(node: "a", term: Self.term, nodes: Self.nodes)
    try await APIServer.run(administering: { $0.cluster = { state } }) { server in
      let answer = try await server.send("GET", "/admin/v1/cluster", headers: APIServer.admin)
      #expect(
        answer.json == [
          "clustered": true, "node": "a",
          "term": ["number": 7, "startedAt": 1_700_000_000_000, "batches": 4, "bytes": 900, "batchMicros": 2500],
          "nodes": [
            ["name": "a", "address": "10.0.0.1:9000", "version": "0.1.0", "leads": true, "alive": true, "silentMs": 0],
            ["name": "b", "version": "0.1.0", "leads": false, "alive": false, "silentMs": 40_000],
          ],
        ])
      let described = JSONSchema(of: AdminCluster.State.self)
      #expect(described.problem(in: try #require(answer.json), at: "the answer", names: AnswerSchemas.byName) == nil)
    }
  }

  @Test("What else an administrator should look at, such as a silent node, is among the status's warnings")
  func warned() async throws {
    try await APIServer.run(administering: { $0.furtherWarnings = { ["Nodes show no sign of life: b."] } }) { server in
      let status = try await server.send("GET", "/admin/v1/status", headers: APIServer.admin)
      #expect(status.json?["warnings"] == ["Nodes show no sign of life: b."])
    }
  }
}
