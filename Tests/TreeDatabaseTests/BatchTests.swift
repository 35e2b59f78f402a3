import StorageCore
import Synchronization
import Testing
import TreeDatabase
import TreeModel

@Suite struct BatchTests {
  /// How many commits each batch had.
  private final class Sizes: CommitObserver {
    let all = Mutex<[Int]>([])

    func didCommit(_ batch: [CommittedRequest]) {
      all.withLock { $0.append(batch.count) }
    }
  }

  @Test("a batch takes requests until it has many of them, or they touched many leaves", .timeLimit(.minutes(1)))
  func ends() async throws {
    for (limits, left, largest) in [
      (WriteLimits(), 0, 6), (WriteLimits(batchMax: 4), 2, 4), (WriteLimits(batchLeavesMax: 5), 4, 2),
    ] {
      let (gate, sizes) = (WriterGate(), Sizes())
      let base = try await DatabaseFixture(observers: [sizes, gate], limits: limits)
      gate.close(base.database, in: base.namespace, round: 1)
      await gate.arrival()
      // The batch before is held up: nothing is written, and the writer judges as many as a batch takes.
      for place in ["/a", "/b", "/c", "/d", "/e", "/f"] as [Path] {
        let operation = WriteOperation.set(place, ["x": 1, "y": 2, "z": 3])
        base.database.submit(CommitRequest(namespace: base.namespace, actor: .admin("test"), operations: [operation])) { _ in }
      }
      while base.database.queueDepth > left { await Task.yield() }
      gate.open()
      // Ends when everything is written and told.
      base.close()
      let found = sizes.all.withLock(\.self)
      #expect(found.first == 1 && found.dropFirst().first == largest && found.max() == largest && found.reduce(0, +) == 7)
    }
  }
}
