import ClientRuntime
import SyncModel

/// What becomes of a write that was made without waiting for it.
public final class WriteReceipt: Sendable {
  /// How far a write has come.
  public enum State: Sendable, Equatable {
    /// It waits to be sent.
    case queued
    /// It was sent.
    case sent
    /// The server did it.
    case acknowledged
    /// The server did not do it.
    case refused(DatabaseError)
    /// It was withdrawn before the server answered.
    case superseded

    var isFinal: Bool {
      switch self {
      case .queued, .sent: false
      case .acknowledged, .refused, .superseded: true
      }
    }
  }

  private struct Progress {
    var state = State.queued
    var watchers: [Int: AsyncStream<State>.Continuation] = [:]
    var lastWatcher = 0
  }

  /// The place that was written.
  public let ref: DatabaseReference
  private let clock: any ClientClock
  private let progress = Locked(Progress())

  init(_ ref: DatabaseReference, clock: any ClientClock) {
    self.ref = ref
    self.clock = clock
  }

  /// How far it has come.
  public var state: State { progress.copy.state }

  /// How far it has come, and every step from there; ends with the last one.
  public var states: AsyncStream<State> {
    AsyncStream { continuation in
      let number = progress.withLock { progress -> Int? in
        continuation.yield(progress.state)
        if progress.state.isFinal { return nil }
        progress.lastWatcher += 1
        progress.watchers[progress.lastWatcher] = continuation
        return progress.lastWatcher
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in _ = self?.progress.withLock { $0.watchers.removeValue(forKey: number) } }
    }
  }

  /// Waits until the server did it.
  ///
  /// - Parameter timeout: in seconds; nil waits as long as it takes. The write goes on in any case.
  /// - Throws: why it was not done, or ``DatabaseError/timedOut``; `CancellationError` if the task ends.
  public func acknowledged(timeout: Double? = nil) async throws {
    let end = try await withThrowingTaskGroup(of: State?.self) { group in
      group.addTask { [states] in
        for await state in states where state.isFinal { return state }
        try Task.checkCancellation()
        return nil
      }
      if let timeout {
        group.addTask { [clock] in
          try await clock.sleep(milliseconds: Int64(min(max(timeout, 0), 1e9) * 1000))
          return nil
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
    switch end {
    case .acknowledged: return
    case .refused(let error): throw error
    case .superseded: throw DatabaseError.writeCanceled
    case .queued, .sent, nil: throw DatabaseError.timedOut
    }
  }

  func move(to state: State) {
    let watchers = progress.withLock { progress -> [AsyncStream<State>.Continuation] in
      if progress.state.isFinal || progress.state == state { return [] }
      progress.state = state
      defer { if state.isFinal { progress.watchers.removeAll() } }
      return Array(progress.watchers.values)
    }
    for watcher in watchers {
      watcher.yield(state)
      if state.isFinal { watcher.finish() }
    }
  }
}
