#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Lets one thread wait for another, once.
///
/// `@unchecked Sendable`: the flag is read and written only while the mutex is held.
final class FlushSignal: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isRaised = false

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func raise() {
    pthread_mutex_lock(mutex)
    isRaised = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  func wait() {
    pthread_mutex_lock(mutex)
    while !isRaised { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
  }
}
