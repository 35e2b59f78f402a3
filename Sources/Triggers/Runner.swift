import Synchronization

/// One runner: a thread, and the long-lived task that takes work on it.
final class Runner: Sendable {
  let thread = RunnerThread()
  private let task = Mutex<Task<Void, Never>?>(nil)
  private let leftBehind = Mutex(false)

  /// Whether another runner has taken its place, because its function does not come back.
  var isLeftBehind: Bool { leftBehind.withLock(\.self) }

  /// Starts the loop.
  ///
  /// The task is not a child of the service's task on purpose: a function that never returns would keep a task group, and
  /// with it the shutdown of the server, waiting for ever. The dispatcher stops its runners itself.
  func start(_ loop: @escaping @Sendable (Runner) async -> Void) {
    let started = Task(executorPreference: thread) {
      await loop(self)
      self.thread.stop()
    }
    task.withLock { $0 = started }
  }

  func leaveBehind() {
    leftBehind.withLock { $0 = true }
  }

  /// Cancels the loop, and with it what the function awaits.
  func cancel() {
    task.withLock { $0?.cancel() }
  }
}
