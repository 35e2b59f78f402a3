public import StorageCore
internal import Synchronization

/// A journal in memory, whose answers a test decides.
public final class MemoryJournal: BatchJournal {
  private struct State {
    var batches: [JournalBatch] = []
    var sent: JournalBatch?
    var isLost = false
    /// What is done before a batch is durable.
    var stall: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  public init() {}

  /// What is durable.
  public var batches: [JournalBatch] { state.withLock(\.batches) }
  public var isCurrent: Bool { state.withLock { !$0.isLost } }

  /// From now on nothing is taken in.
  public func lose() { state.withLock { $0.isLost = true } }

  public func end(_ reason: String) { lose() }

  /// Another term may write.
  public func begin() { state.withLock { ($0.isLost, $0.sent) = (false, nil) } }

  public func stall(_ body: (@Sendable () -> Void)?) { state.withLock { $0.stall = body } }

  public func append(_ batch: JournalBatch) throws(StorageError) {
    let isRefused = state.withLock { state in
      if state.isLost { return true }
      precondition(state.sent == nil, "One batch at a time.")
      precondition(batch.position.batch == (state.batches.last?.position.batch ?? 0) + 1, "Batches follow one on the other.")
      state.sent = batch
      return false
    }
    if isRefused { throw Self.lost }
  }

  public func flush() throws(StorageError) {
    state.withLock(\.stall)?()
    let isLost = state.withLock { state in
      if state.isLost { return true }
      if let sent = state.sent { state.batches.append(sent) }
      state.sent = nil
      return false
    }
    if isLost { throw Self.lost }
  }

  private static let lost = StorageError(.lost, "The term is over.")
}
