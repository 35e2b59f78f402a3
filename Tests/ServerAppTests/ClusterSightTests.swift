import Testing

@testable import APISupport
@testable import AdminModel
@testable import ServerApp
@testable import StoragePostgres

/// What a person is told of the nodes of a store.
@Suite("What the node that leads sees of the others")
struct ClusterSightTests {
  private func sight(_ silences: [String: Int64], batches: Int64 = 4) -> ClusterSight {
    let nodes = silences.keys.sorted().map {
      NodeSight(name: $0, address: $0 == "b" ? "10.0.0.2:9000" : "", version: "1", silence: silences[$0] ?? 0)
    }
    return ClusterSight(
      node: "a", term: 7, startedAt: 1_700_000_000_000, nodes: nodes,
      totals: PostgresJournal.Totals(batches: batches, bytes: 900, time: 2500))
  }

  @Test("Nothing is wrong while every node has been heard of within half a minute")
  func calm() {
    #expect(sight([:]).trouble == nil)
    #expect(sight(["a": 0, "b": 29_999]).trouble == nil)
  }

  @Test("A silent node is named, with where it was reached, and what to do")
  func silent() throws {
    let text = try #require(sight(["a": 0, "b": 30_000, "c": 65_000]).trouble)
    #expect(text.contains("b (10.0.0.2:9000) for 30 s, c for 65 s"))
    #expect(!text.contains("a for") && text.contains("doubloon cluster forget NODE"))
  }

  @Test("Administrators read who leads, who lives, and what the term did")
  func told() throws {
    let state = AdminCluster.State(sight(["a": 0, "b": 29_999, "c": 30_000]))
    #expect(state.clustered && state.node == "a")
    let nodes = try #require(state.nodes)
    #expect(nodes.map(\.name) == ["a", "b", "c"] && nodes.map(\.address) == [nil, "10.0.0.2:9000", nil])
    #expect(nodes.map(\.leads) == [true, false, false] && nodes.map(\.alive) == [true, true, false])
    #expect(nodes.map(\.silentMs) == [0, 29_999, 30_000] && nodes.allSatisfy { $0.version == "1" })
    let term = try #require(state.term)
    #expect(term.number == 7 && term.startedAt == 1_700_000_000_000 && term.batches == 4 && term.bytes == 900)
    #expect(term.batchMicros == 625_000)
    #expect(AdminCluster.State(sight([:], batches: 0)).term?.batchMicros == nil)
    let single = AdminCluster.State(nil)
    #expect(!single.clustered && single.node == nil && single.term == nil && single.nodes == nil)
  }

  @Test("The metrics count the nodes and what the journal took")
  func metrics() {
    let families = Dictionary(
      uniqueKeysWithValues: sight(["a": 0, "b": 30_000]).families.map { ($0.name, $0.samples.map(\.value)) })
    #expect(families["doubloon_cluster_nodes"] == [1, 1])
    #expect(families["doubloon_cluster_term"] == [7])
    #expect(families["doubloon_cluster_batches_total"] == [4] && families["doubloon_cluster_bytes_total"] == [900])
    #expect(families["doubloon_cluster_batch_seconds_total"] == [2.5])
  }
}
