#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A mutex with a condition variable: for threads that wait for each other's work. `Mutex` of the standard library cannot
/// wait.
///
/// `@unchecked Sendable`: the pointers never change, and what they point to is made to be shared.
package final class ConditionLock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  /// A lock that nobody holds.
  package init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Takes the lock, waiting while another thread holds it.
  package func lock() { pthread_mutex_lock(mutex) }

  /// Gives the lock back.
  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Gives the lock back until a signal, then takes it again. May return without one: ask again for what is waited for.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Wakes one thread that waits; with the lock held or not.
  package func signal() { pthread_cond_signal(condition) }

  /// Wakes all threads that wait.
  package func broadcast() { pthread_cond_broadcast(condition) }
}
