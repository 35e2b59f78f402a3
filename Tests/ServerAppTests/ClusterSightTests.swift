import Testing

@testable import APISupport
@testable import ServerApp
@testable import StoragePostgres

/// What a person is told of the nodes of a store.
@Suite("What the node that leads sees of the others")
struct ClusterSightTests {
  private func sight(_ silences: [String: Int64]) -> ClusterSight {
    let nodes = silences.keys.sorted().map {
      NodeSight(name: $0, address: $0 == "b" ? "10.0.0.2:9000" : "", version: "1", silence: silences[$0] ?? 0)
    }
    return ClusterSight(term: 7, nodes: nodes, totals: PostgresJournal.Totals(batches: 4, bytes: 900, time: 2500))
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
