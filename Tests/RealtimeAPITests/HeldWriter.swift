import Dispatch
import StorageCore
import Synchronization
import TreeDatabase
import TreeModel

/// Stops the writer while it judges chosen requests, so that a test decides what waits behind them.
final class HeldWriter: CommitParticipant {
  private static let name = "held"
  private let opened = DispatchSemaphore(value: 0)
  private let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation
  private let count = Mutex<Int64>(0)

  init() {
    (arrivals, arrived) = AsyncStream.makeStream()
  }

  /// Queues a request at which the writer stops.
  func hold(_ database: Database, in namespace: NamespaceID) {
    let number = count.withLock { count in
      count += 1
      return count
    }
    var request = CommitRequest(
      namespace: namespace, actor: .admin(Self.name), operations: [.set("held", .leaf(.int(number)))])
    request.log.requestID = Self.name
    database.submit(request) { _ in }
  }

  /// Waits until the writer stands at one.
  func arrival() async {
    for await _ in arrivals { return }
  }

  /// Lets the writer go on.
  func open() { opened.signal() }

  /// Lets the writer go on whatever is queued: a test that has failed must be able to end.
  func free() {
    for _ in 0..<100 { opened.signal() }
  }

  func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  { [] }

  func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {
    guard draft.request.log.requestID == Self.name else { return }
    arrived.yield()
    opened.wait()
  }
}
