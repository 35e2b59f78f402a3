internal import StorageCore
internal import Synchronization

/// Knows which batches were written to the log, and which of them the disk has; holds back what must not be told before.
///
/// A batch that was written can be looked at by every connection, before it is durable. So a read is given out only when
/// the disk has all that the read may have seen: a crash must not take back what somebody was told.
///
/// Positions count batches. At most one is written and not yet flushed.
final class FlushGate: Sendable {
  private struct Waiting {
    let position: Int
    let proceed: @Sendable (_ isDurable: Bool) -> Void
  }

  private let written = Atomic<Int>(0)
  private let durable = Atomic<Int>(0)
  private let waiting = Mutex<[Waiting]>([])
  /// Whether the batch that was written last will never be durable: its journal has refused it.
  private let isLost = Atomic<Bool>(false)

  /// What a read that begins now may see at most.
  var position: Int { written.load(ordering: .sequentiallyConsistent) }

  /// Whether a batch was written that the disk may not have.
  var hasUnflushed: Bool { durable.load(ordering: .sequentiallyConsistent) < position }

  /// Said before a batch is written: a reader that sees it must find it counted.
  func willWrite() {
    written.add(1, ordering: .sequentiallyConsistent)
  }

  /// The disk has everything that was written. After a failure of the disk, too: nobody may wait for ever, and what a read
  /// saw then is no promise (the writer has stopped).
  func didFlush() {
    let position = position
    let ready = waiting.withLock { waiting in
      durable.store(position, ordering: .sequentiallyConsistent)
      let ready = waiting.filter { $0.position <= position }
      waiting.removeAll { $0.position <= position }
      return ready
    }
    for one in ready { one.proceed(true) }
  }

  /// What was written last will never be durable. Who waits for it is told so, as are those who come later.
  func didLose() {
    let waiting = waiting.withLock { waiting in
      isLost.store(true, ordering: .sequentiallyConsistent)
      defer { waiting = [] }
      return waiting
    }
    for one in waiting { one.proceed(false) }
  }

  /// Calls `proceed` once the disk has everything up to `position`: at once, or by the thread that flushes; or when it never will.
  func whenDurable(_ position: Int, _ proceed: @escaping @Sendable (_ isDurable: Bool) -> Void) {
    if durable.load(ordering: .sequentiallyConsistent) >= position { return proceed(true) }
    let isDurable: Bool? = waiting.withLock { waiting in
      if durable.load(ordering: .sequentiallyConsistent) >= position { return true }
      if isLost.load(ordering: .sequentiallyConsistent) { return false }
      waiting.append(Waiting(position: position, proceed: proceed))
      return nil
    }
    if let isDurable { proceed(isDurable) }
  }

  /// Waits until the disk has everything up to `position`, or it is known that it never will.
  func wait(for position: Int) {
    if durable.load(ordering: .sequentiallyConsistent) >= position { return }
    let signal = FlushSignal()
    whenDurable(position) { _ in signal.raise() }
    signal.wait()
  }
}

/// Lets one thread wait for another, once.
///
/// `@unchecked Sendable`: the flag is read and written only while the mutex is held.
final class FlushSignal: @unchecked Sendable {
  private let lock = ConditionLock()
  private var isRaised = false

  func raise() {
    lock.lock()
    isRaised = true
    // Before the lock is given back: the thread that waits may be the last one to hold this.
    lock.signal()
    lock.unlock()
  }

  func wait() {
    lock.lock()
    while !isRaised { lock.wait() }
    lock.unlock()
  }
}
