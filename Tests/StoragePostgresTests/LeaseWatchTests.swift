import StorageCore
import Testing

@testable import StoragePostgres

/// When a node that follows may lead.
@Suite("Watching the node that leads")
struct LeaseWatchTests {
  /// What is asked one look after the other.
  private final class Watch {
    private var watch = LeaseWatch()

    func asks(_ view: LeaseView, as node: String) -> Bool { watch.mayTake(view, node: node) }
  }

  private func view(
    _ time: ClosedRange<Int64>, beat: Int64 = 1, fence: Int64 = 3, node: String = "a", isClean: Bool = false,
    wanted: String? = nil
  ) -> LeaseView {
    LeaseView(
      fence: fence, batch: 9, node: node, address: "", isClean: isClean, beat: beat, secret: [], wanted: wanted, time: time)
  }

  @Test("A lease that was given back, that nobody had, or that an earlier process of the same node had is taken at once")
  func free() {
    let watch = Watch()
    #expect(watch.asks(view(0...1, isClean: true), as: "b"))
    #expect(watch.asks(view(0...1, node: ""), as: "b"))
    #expect(watch.asks(view(0...1), as: "a"))
  }

  @Test("A node whose beat stands still for five seconds is followed by another; one beat, or another term, begins them again")
  func silence() {
    let watch = Watch()
    #expect(!watch.asks(view(0...10), as: "b"))
    #expect(!watch.asks(view(5009...5010), as: "b"))
    #expect(watch.asks(view(5010...5020), as: "b"))
    #expect(!watch.asks(view(5100...5110, beat: 2), as: "b"))
    #expect(!watch.asks(view(10_109...10_110, beat: 2), as: "b"))
    #expect(!watch.asks(view(10_110...10_120, beat: 2, fence: 4), as: "b"))
    #expect(watch.asks(view(15_120...15_130, beat: 2, fence: 4), as: "b"))
  }

  @Test("A lease that was given back is left to the node that is wanted for two seconds, by its own last node, too")
  func wanted() {
    for node in ["a", "b"] {
      let watch = Watch()
      #expect(!watch.asks(view(0...10, wanted: "c"), as: "b"), "while it is held, nothing is different")
      #expect(!watch.asks(view(100...110, isClean: true, wanted: "c"), as: node))
      #expect(!watch.asks(view(2109...2111, beat: 7, isClean: true, wanted: "c"), as: node))
      #expect(watch.asks(view(2110...2111, beat: 8, isClean: true, wanted: "c"), as: node), "it has died, perhaps")
    }
    #expect(Watch().asks(view(0...1, isClean: true, wanted: "c"), as: "c"))
    let watch = Watch()
    #expect(!watch.asks(view(0...10, wanted: "c"), as: "b"))
    #expect(watch.asks(view(5010...5020, wanted: "c"), as: "b"), "who died while another was wanted is followed as ever")
  }

  @Test("A look that took long, or after which the node stood still, is no proof")
  func slow() {
    let watch = Watch()
    #expect(!watch.asks(view(0...9000), as: "b"), "the answer came late: the beat may be that new")
    #expect(!watch.asks(view(9100...60_000), as: "b"), "and this one was asked for a moment later")
    #expect(watch.asks(view(60_100...60_110), as: "b"))
  }

  @Test("Who leads is silent a second before another leads, even if one of their clocks is slow by a tenth")
  func margin() {
    #expect(PostgresLease.validity * 11 / 10 < PostgresLease.patience * 9 / 10)
    #expect(PostgresLease.beatInterval * 3 < PostgresLease.validity)
  }
}
