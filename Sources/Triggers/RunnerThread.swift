#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that runs functions: what blocks or spins on it holds up no request and no other runner.
///
/// The thread keeps itself alive until it has stopped, so that a function that never returns cannot outlive its executor.
/// `@unchecked Sendable`: `jobs` and the two flags are touched only between lock and unlock of the one mutex; the pointers
/// never change.
final class RunnerThread: TaskExecutor, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var jobs = Queue<UnownedJob>()
  private var isStopping = false
  private var hasEnded = false

  init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
    var handle = pthread_t()
    let status = pthread_create(
      &handle, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<RunnerThread>.fromOpaque(context).takeRetainedValue().main()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    precondition(status == 0, "The system gave no thread: \(String(cString: strerror(status))). Raise the limit of threads.")
    pthread_detach(handle)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pthread_mutex_lock(mutex)
    let hasEnded = hasEnded
    if !hasEnded { jobs.append(job) }
    pthread_mutex_unlock(mutex)
    // A task that a function left behind may still come back when the thread is gone.
    if hasEnded { return globalConcurrentExecutor.enqueue(job) }
    pthread_cond_signal(condition)
  }

  /// Lets the thread end once it has nothing to run.
  func stop() {
    pthread_mutex_lock(mutex)
    isStopping = true
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(condition)
  }

  private func main() {
    while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func next() -> UnownedJob? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while jobs.isEmpty && !isStopping { pthread_cond_wait(condition, mutex) }
    let job = jobs.popFirst()
    hasEnded = job == nil
    return job
  }
}
