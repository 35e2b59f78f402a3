import StorageCore
import Testing

@testable import StoragePostgres

/// Which nodes show that they live.
@Suite("Watching the nodes of a store")
struct NodeWatchTests {
  private func shown(_ beats: [String: Int64]) -> [String: NodeWatch.Beat] {
    beats.mapValues { (beat: $0, address: "", version: "1") }
  }

  private func silences(_ nodes: [NodeSight]) -> [String: Int64] {
    Dictionary(uniqueKeysWithValues: nodes.map { ($0.name, $0.silence) })
  }

  @Test("A node whose beat stands still is silent from the look at which it was new; one beat ends that")
  func silence() {
    var watch = NodeWatch()
    #expect(silences(watch.see(shown(["a": 1, "b": 7]), at: 1000)) == ["a": 0, "b": 0])
    #expect(silences(watch.see(shown(["a": 2, "b": 7]), at: 11_000)) == ["a": 0, "b": 10_000])
    #expect(silences(watch.see(shown(["a": 3, "b": 7]), at: 41_000)) == ["a": 0, "b": 40_000])
    #expect(silences(watch.see(shown(["a": 3, "b": 8]), at: 51_000)) == ["a": 10_000, "b": 0])
  }

  @Test("A node that is not listed any more is forgotten, and begins again when it comes back; nodes are told by name")
  func forgotten() {
    var watch = NodeWatch()
    _ = watch.see(shown(["b": 1, "a": 1]), at: 0)
    #expect(watch.see(shown(["a": 2]), at: 10_000).map(\.name) == ["a"])
    #expect(silences(watch.see(shown(["b": 1, "a": 3]), at: 60_000)) == ["a": 0, "b": 0])
    #expect(watch.see(shown(["b": 2, "c": 1, "a": 4]), at: 70_000).map(\.name) == ["a", "b", "c"])
  }

  @Test("A host that took a connection and did not answer stands last; several links that found it silent count once")
  func order() {
    let order = HostOrder()
    let turn = order.first
    order.pass(turn)
    order.pass(turn)
    #expect(order.first == turn + 1)
    order.pass(order.first)
    #expect(order.first == turn + 2)
  }
}
