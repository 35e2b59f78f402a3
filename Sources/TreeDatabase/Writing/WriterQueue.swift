#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bounded queue before the writer: many threads push, one thread takes everything that waits.
///
/// No timer: while the writer waits for the disk, the next batch gathers here. `@unchecked Sendable`: every stored
/// property is read and written only between `lock()` and `unlock()` of the one mutex.
final class WriterQueue<Element>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  private var elements: [Element] = []
  private var isClosed = false

  enum PushResult {
    case queued
    case full
    case closed
  }

  init(capacity: Int) {
    self.capacity = capacity
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

  var count: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return elements.count
  }

  /// - `isBounded`: false for one that must not be refused because of others.
  func push(_ element: Element, isBounded: Bool = true) -> PushResult {
    pthread_mutex_lock(mutex)
    guard !isClosed, elements.count < capacity || !isBounded else {
      defer { pthread_mutex_unlock(mutex) }
      return isClosed ? .closed : .full
    }
    let wasEmpty = elements.isEmpty
    elements.append(element)
    pthread_mutex_unlock(mutex)
    // Only the first of a batch wakes the writer: for the others it is awake, or about to be.
    if wasEmpty { pthread_cond_signal(condition) }
    return .queued
  }

  /// Puts an element before all others, whatever the capacity; it must be one of few. Dropped if the queue is closed.
  func pushFirst(_ element: Element) {
    pthread_mutex_lock(mutex)
    if !isClosed { elements.insert(element, at: 0) }
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(condition)
  }

  /// Waits until something is there, and takes at most `limit` of it; nil once the queue is closed and empty.
  func take(_ limit: Int) -> [Element]? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while elements.isEmpty && !isClosed { pthread_cond_wait(condition, mutex) }
    if elements.isEmpty { return nil }
    if elements.count <= limit {
      let taken = elements
      elements = []
      elements.reserveCapacity(min(taken.count, limit))
      return taken
    }
    let taken = Array(elements[..<limit])
    elements.removeFirst(limit)
    // Where several take, the next one need not wait for another push.
    pthread_cond_signal(condition)
    return taken
  }

  /// Refuses what comes from now on, and forgets what is queued.
  func discardAndClose() {
    pthread_mutex_lock(mutex)
    elements = []
    pthread_mutex_unlock(mutex)
    close()
  }

  /// Takes at most `limit` of what is there, without waiting; nil once the queue is closed and empty.
  func takeNow(_ limit: Int) -> [Element]? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if elements.isEmpty { return isClosed ? nil : [] }
    let taken = Array(elements.prefix(limit))
    elements.removeFirst(taken.count)
    return taken
  }

  /// Refuses what comes from now on; what is queued is still taken.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_mutex_unlock(mutex)
    pthread_cond_broadcast(condition)
  }
}
