import FunctionsKit
import StorageCore
import Synchronization

/// One runner: a thread, and the long-lived task that takes work on it.
final class Runner: Sendable {
  let thread = RunnerThread()
  private let task = Mutex<Task<Void, Never>?>(nil)
  private let leftBehind = Mutex(false)

  /// Whether another runner has replaced it, because its function does not come back.
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

/// A thread that runs functions: what blocks or spins on it holds up no request and no other runner.
///
/// The thread keeps itself alive until it has stopped, so that a function that never returns cannot outlive its executor.
/// `@unchecked Sendable`: `jobs`, the two flags and the count are touched only between `lock()` and `unlock()` of the one lock.
final class RunnerThread: TaskExecutor, @unchecked Sendable {
  private let lock = ConditionLock()
  private var jobs = Queue<UnownedJob>()
  private var isStopping = false
  private var hasEnded = false
  private var enqueued = 0

  init() {
    BlockingThread { [self] in main() }.detach()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lock.lock()
    let hasEnded = hasEnded
    enqueued += 1
    if !hasEnded { jobs.append(job) }
    lock.unlock()
    // A task that a function left behind may still come back when the thread is gone.
    if hasEnded { return globalConcurrentExecutor.enqueue(job) }
    lock.signal()
  }

  /// How often a task came to the thread: once at its beginning, and again each time that it had suspended.
  var jobCount: Int {
    lock.lock()
    defer { lock.unlock() }
    return enqueued
  }

  /// Lets the thread end once it has nothing to run.
  func stop() {
    lock.lock()
    isStopping = true
    lock.unlock()
    lock.signal()
  }

  private func main() {
    while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func next() -> UnownedJob? {
    lock.lock()
    defer { lock.unlock() }
    while jobs.isEmpty && !isStopping { lock.wait() }
    let job = jobs.popFirst()
    hasEnded = job == nil
    return job
  }
}

/// One run of a function, from the moment that a runner takes it.
final class Run: Sendable {
  let id: Int
  let delivery: Delivery
  let startedAt: Int64
  /// When it is abandoned.
  let deadline: Int64
  let runner: Runner
  /// Whether nothing else runs meanwhile.
  let isAlone: Bool
  /// Known once the event's values were read.
  let context = Mutex<FunctionContext?>(nil)

  init(id: Int, delivery: Delivery, startedAt: Int64, deadline: Int64, runner: Runner, isAlone: Bool) {
    self.isAlone = isAlone
    self.id = id
    self.delivery = delivery
    self.startedAt = startedAt
    self.deadline = deadline
    self.runner = runner
  }

  /// Cuts the run off: whatever it asks for from now on has no effect.
  func abandon() {
    context.withLock(\.self)?.abandon()
    runner.cancel()
  }
}

/// A run that came back, and how long it took.
struct EndedRun: Sendable {
  let run: Run
  let ending: RunEnding
  let nanoseconds: Int64
  /// Whether it waited for something, or had tasks of its own.
  let hasSuspended: Bool
}

/// How a run ended.
enum RunEnding: Sendable {
  /// Effects to commit, together with the execution record in the request.
  /// `leavesOutPaid` if a run on newer state may leave payments out that this one makes.
  case effect(CommitRequest, ExecutionRecord, leavesOutPaid: Bool)
  case skipped(String)
  case failed(String, NextAttempt)

  /// Whether it did not fail.
  var isClean: Bool {
    if case .failed = self { false } else { true }
  }

  enum NextAttempt: Sendable {
    /// To be tried again by the function's policy.
    case retry
    /// To be tried again after this many milliseconds.
    case retryAfter(Int64)
    /// Trying again is useless.
    case permanent
  }
}
