import StorageCore
import Synchronization

/// Runs a task in place: what it enqueues is run by the thread that began it, before the call returns.
///
/// A task that suspends for something that another thread brings comes back on a thread of its own, never on this one.
/// `@unchecked Sendable`: `jobs` is touched only by the thread whose number is in `owner`, and only while it drains.
final class InlineExecutor: TaskExecutor, @unchecked Sendable {
  private var jobs = Queue<UnownedJob>()
  /// The thread that drains; zero while none does.
  private let owner = Atomic<UInt>(0)
  private let hasLeft = Atomic(false)
  private let strays: StrayThread

  /// - Parameter strays: where tasks go on that do not end in place.
  init(strays: StrayThread) {
    self.strays = strays
  }

  func enqueue(_ job: consuming ExecutorJob) {
    if owner.load(ordering: .acquiring) == ThreadIdentity.current {
      jobs.append(UnownedJob(job))
    } else {
      hasLeft.store(true, ordering: .releasing)
      strays.thread.enqueue(job)
    }
  }

  /// Runs `body` in a task, in place.
  ///
  /// - `isOver`: asked whenever the task goes on after it had yielded; if so it goes on elsewhere.
  /// - Returns: what it returned; nil if it suspended: then it goes on elsewhere, cancelled, and nobody waits for it.
  func run<Success: Sendable>(
    isOver: () -> Bool, _ body: @escaping @Sendable () async throws -> Success
  ) -> Result<Success, any Error>? {
    owner.store(ThreadIdentity.current, ordering: .releasing)
    let result = RunResult<Success>()
    // Captured, so that it lives as long as the task may come back to it.
    let task = Task(executorPreference: self) {
      do {
        result.set(.success(try await body()))
      } catch {
        result.set(.failure(error))
      }
      withExtendedLifetime(self) {}
    }
    if let first = jobs.popFirst() { first.runSynchronously(on: asUnownedTaskExecutor()) }
    while !jobs.isEmpty, !isOver(), let job = jobs.popFirst() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    owner.store(0, ordering: .releasing)
    while let job = jobs.popFirst() { enqueue(ExecutorJob(job)) }
    if !hasLeft.load(ordering: .acquiring), let ended = result.value { return ended }
    task.cancel()
    return nil
  }
}

/// What a task in place came to.
private final class RunResult<Success: Sendable>: Sendable {
  private let result = Mutex<Result<Success, any Error>?>(nil)

  var value: Result<Success, any Error>? { result.withLock(\.self) }

  func set(_ ended: Result<Success, any Error>) { result.withLock { $0 = ended } }
}

/// The thread on which runs end that were begun on the writer and suspended there: nothing that they do counts. Made when it is
/// first needed.
final class StrayThread: Sendable {
  private let made = Mutex<RunnerThread?>(nil)

  var thread: RunnerThread {
    made.withLock { made in
      let thread = made ?? RunnerThread()
      made = thread
      return thread
    }
  }

  /// Lets the thread end.
  func stop() {
    made.withLock { $0 }?.stop()
  }
}
