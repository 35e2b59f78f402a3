import StorageCore
import Synchronization

/// Waits for a time, or for somebody who finds that it should be earlier.
final class Alarm: Sendable {
  private struct State {
    var isRung = false
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let clock: any WallClock
  private let state = Mutex(State())

  init(clock: any WallClock) {
    self.clock = clock
  }

  /// Ends the wait, or the next one if nobody waits.
  func ring() {
    state.withLock { state in
      guard let waiting = state.continuation.take() else {
        state.isRung = true
        return nil as CheckedContinuation<Void, Never>?
      }
      return waiting
    }?.resume()
  }

  /// Returns at `time`, when rung, or when the task is cancelled. One may wait at a time.
  func wait(until time: Int64?) async {
    guard let time else { return await waitForRing() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.waitForRing() }
      group.addTask { try? await self.clock.sleep(until: time) }
      await group.next()
      group.cancelAll()
    }
  }

  private func waitForRing() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isRung = state.withLock { state in
          if state.isRung || Task.isCancelled {
            state.isRung = false
            return true
          }
          state.continuation = continuation
          return false
        }
        if isRung { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.continuation.take() }?.resume()
    }
  }
}
