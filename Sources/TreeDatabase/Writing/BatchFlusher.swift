import StorageCore
import Synchronization

/// Makes written batches durable and tells everyone, on a thread of its own, while the writer judges the next batch.
///
/// One batch at a time: the next is written only when this one was told, so a read in a completion never waits for a batch
/// that stands behind it.
final class BatchFlusher: Sendable {
  private struct Batch: Sendable {
    let judged: [PendingCompletion]
    let failure: StorageError?
  }

  private struct State {
    var isIdle = true
    /// Whether the writer has a batch that waits for the end of this one.
    var isAwaited = false
    var failure: StorageError?
  }

  private let state = Mutex(State())
  private let queue = WriterQueue<Batch>(capacity: 1)
  /// Holds a token whenever a batch has ended, for a writer that cannot take more.
  private let ended = WriterQueue<Void>(capacity: 1)
  private let observers: [any CommitObserver]
  private let checkpointer: Checkpointer?
  private let statistics: WriterStatistics
  /// Called when a batch was told that the writer has waited for.
  private let didEnd: @Sendable () -> Void
  /// Called once, when nothing can be written any more.
  private let didStop: @Sendable (StorageError) -> Void

  init(
    observers: [any CommitObserver], checkpointer: Checkpointer, statistics: WriterStatistics,
    didStop: @escaping @Sendable (StorageError) -> Void, didEnd: @escaping @Sendable () -> Void
  ) {
    self.statistics = statistics
    self.observers = observers
    self.checkpointer = checkpointer
    self.didStop = didStop
    self.didEnd = didEnd
  }

  /// One that writes nothing, and says why.
  init(stoppedFor reason: StorageError, statistics: WriterStatistics) {
    self.statistics = statistics
    observers = []
    checkpointer = nil
    didStop = { _ in }
    didEnd = {}
    state.withLock { $0.failure = reason }
  }

  /// Why nothing can be written any more.
  var failure: StorageError? { state.withLock { $0.failure } }

  /// Whether the batch before is told; if not, `didEnd` is called when it is. Only for the writer.
  func isIdleNow() -> Bool {
    state.withLock { state in
      if !state.isIdle { state.isAwaited = true }
      return state.isIdle
    }
  }

  /// Waits for the batch before. Only for the writer.
  func waitUntilIdle() {
    while !state.withLock({ $0.isIdle }) { _ = ended.take(1) }
  }

  /// Takes over a batch that was written, or that could not be. Only for the writer, when this is idle.
  func flush(_ judged: [PendingCompletion], failure: StorageError?) {
    state.withLock { state in
      precondition(state.isIdle, "One batch at a time.")
      state.isIdle = false
    }
    _ = queue.push(Batch(judged: judged, failure: failure))
  }

  /// The thread's work, until ``stop()``.
  func run(_ session: any WriteSession) {
    while let batches = queue.take(1) {
      for batch in batches { finish(batch, session: session) }
    }
  }

  /// Ends the thread behind the batch that it works on.
  func stop() {
    queue.close()
  }

  private func finish(_ batch: Batch, session: any WriteSession) {
    var failure = batch.failure
    if failure == nil {
      do throws(StorageError) {
        try statistics.flush(of: batch.judged.count) { () throws(StorageError) in try session.flush() }
      } catch {
        failure = error
      }
    }
    if let failure { stop(failure) }
    if failure == nil { notifyObservers(batch.judged) }
    for one in batch.judged { one.tell(failure: failure) }
    checkpointer?.didCommit(batch.judged.count)
    let isAwaited = state.withLock { state in
      defer { state.isAwaited = false }
      state.isIdle = true
      return state.isAwaited
    }
    _ = ended.push(())
    if isAwaited { didEnd() }
  }

  private func stop(_ failure: StorageError) {
    let isFirst = state.withLock { state in
      defer { state.failure = state.failure ?? failure }
      return state.failure == nil
    }
    if isFirst { didStop(failure) }
  }

  private func notifyObservers(_ judged: [PendingCompletion]) {
    guard !observers.isEmpty else { return }
    var committed: [CommittedRequest] = []
    committed.reserveCapacity(judged.count)
    for case .committed(let one, _) in judged where one.receipt.replayed == nil { committed.append(one) }
    for observer in observers {
      if !committed.isEmpty { observer.didCommit(committed) }
      for case .forgotten(let namespace, _) in judged { observer.didForget(namespace) }
    }
  }
}
