import Dispatch
import StorageCore
import TestSupport
import TreeDatabase
import TreeModel

/// Stops the writer at chosen requests, so that a test decides what waits in its queue.
final class WriterGate: CommitObserver {
  private static let name = "gate"
  private let opened = DispatchSemaphore(value: 0)
  private let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation

  init() {
    (arrivals, arrived) = AsyncStream.makeStream()
  }

  func didCommit(_ batch: [CommittedRequest]) {
    for committed in batch where committed.request.requestID == Self.name {
      arrived.yield()
      opened.wait()
    }
  }

  /// Queues a request at which the writer stops.
  func close(_ database: Database, in namespace: NamespaceID, round: Int) {
    var request = CommitRequest(
      namespace: namespace, actor: .admin("gate"), operations: [.set("gate", .leaf(.int(Int64(round))))])
    request.requestID = Self.name
    database.submit(request) { _ in }
  }

  /// Waits until the writer stands at the gate.
  func arrival() async {
    for await _ in arrivals { return }
  }

  func open() { opened.signal() }
}
