import StorageCore
import Testing
import TreeModel

@testable import Triggers

struct SettlementTrackerTests {
  private func event(_ revision: Int64, _ path: Path = "/a") -> EventID {
    EventID(epoch: 1, revision: Revision(revision), path: PathBytes(path))
  }

  @Test func theWatermarkStopsBeforeTheFirstUnsettledRevision() {
    var tracker = SettlementTracker(settled: Revision(10))
    #expect(tracker.watermark(isLagging: false) == Revision(10))
    _ = tracker.absorb(event(12), functions: 1, parent: nil)
    _ = tracker.absorb(event(13), functions: 2, parent: nil)
    _ = tracker.absorb(event(15), functions: 0, parent: nil)
    #expect(tracker.watermark(isLagging: false) == Revision(11))
    tracker.settle(Revision(13))
    tracker.settle(Revision(12))
    #expect(tracker.watermark(isLagging: false) == Revision(12))
    tracker.settle(Revision(13))
    #expect(tracker.watermark(isLagging: false) == Revision(15))
    // More events of the last revision may be unread.
    #expect(tracker.watermark(isLagging: true) == Revision(14))
  }

  @Test func severalEventsOfOneRevisionCountTogether() {
    var tracker = SettlementTracker(settled: .zero)
    _ = tracker.absorb(event(1, "/a"), functions: 1, parent: nil)
    tracker.settle(Revision(1))
    _ = tracker.absorb(event(1, "/b"), functions: 1, parent: nil)
    #expect(tracker.watermark(isLagging: false) == .zero)
    #expect(tracker.hasAbsorbed(event(1, "/a")))
    #expect(!tracker.hasAbsorbed(event(1, "/c")))
    tracker.settle(Revision(1))
    #expect(tracker.watermark(isLagging: false) == Revision(1))
  }

  @Test func aChildKeepsItsRootActive() {
    var tracker = SettlementTracker(settled: .zero)
    let root = tracker.absorb(event(1), functions: 1, parent: nil)
    tracker.begin(Revision(1), root: root)
    let isWatched = tracker.watch(root, for: 7)
    #expect(isWatched)
    let child = tracker.absorb(event(2), functions: 1, parent: Revision(1))
    #expect(child == root)
    tracker.begin(Revision(2), root: child)
    let first = tracker.end(Revision(1), root: root)
    #expect(first.isEmpty)
    let second = tracker.end(Revision(2), root: child)
    #expect(second == [7])
    #expect(tracker.isQuiet)
  }

  @Test func anExpectedCommitKeepsItsRootActiveUntilItsEventsAreTakenIn() {
    var tracker = SettlementTracker(settled: .zero)
    let root = tracker.absorb(event(1), functions: 1, parent: nil)
    tracker.begin(Revision(1), root: root)
    tracker.expect(Revision(2), root: root)
    let ended = tracker.end(Revision(1), root: root)
    #expect(ended.isEmpty)
    let isWatched = tracker.watch(root, for: 7)
    #expect(isWatched)
    let child = tracker.absorb(event(2), functions: 0, parent: Revision(1))
    #expect(child == root)
    let released = tracker.releaseExpected(through: Revision(2))
    #expect(released == [7])
  }
}
