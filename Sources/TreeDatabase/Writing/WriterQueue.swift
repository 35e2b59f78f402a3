import StorageCore

/// The bounded queue before the writer: many threads push, one thread takes everything that waits.
///
/// No timer: while the writer waits for the disk, the next batch gathers here. `@unchecked Sendable`: every stored
/// property is read and written only between `lock()` and `unlock()` of the one mutex.
final class WriterQueue<Element>: @unchecked Sendable {
  private let lock = ConditionLock()
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
  }

  var count: Int {
    lock.lock()
    defer { lock.unlock() }
    return elements.count
  }

  /// - `isBounded`: false for one that must not be refused because of others.
  func push(_ element: Element, isBounded: Bool = true) -> PushResult {
    lock.lock()
    guard !isClosed, elements.count < capacity || !isBounded else {
      defer { lock.unlock() }
      return isClosed ? .closed : .full
    }
    let wasEmpty = elements.isEmpty
    elements.append(element)
    lock.unlock()
    // Only the first of a batch wakes the writer: for the others it is awake, or about to be.
    if wasEmpty { lock.signal() }
    return .queued
  }

  /// Puts an element before all others, whatever the capacity; it must be one of few. Dropped if the queue is closed.
  func pushFirst(_ element: Element) {
    lock.lock()
    if !isClosed { elements.insert(element, at: 0) }
    lock.unlock()
    lock.signal()
  }

  /// Waits until something is there, and takes at most `limit` of it; nil once the queue is closed and empty.
  func take(_ limit: Int) -> [Element]? {
    lock.lock()
    defer { lock.unlock() }
    while elements.isEmpty && !isClosed { lock.wait() }
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
    lock.signal()
    return taken
  }

  /// Refuses what comes from now on, and forgets what is queued.
  func discardAndClose() {
    lock.lock()
    elements = []
    lock.unlock()
    close()
  }

  /// Takes at most `limit` of what is there, without waiting; nil once the queue is closed and empty.
  func takeNow(_ limit: Int) -> [Element]? {
    lock.lock()
    defer { lock.unlock() }
    if elements.isEmpty { return isClosed ? nil : [] }
    let taken = Array(elements.prefix(limit))
    elements.removeFirst(taken.count)
    return taken
  }

  /// Refuses what comes from now on; what is queued is still taken.
  func close() {
    lock.lock()
    isClosed = true
    lock.unlock()
    lock.broadcast()
  }
}
