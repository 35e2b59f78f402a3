import StorageCore

/// Which messages are to be delivered, and when: the outbox as a value.
///
/// Bounded, in two halves: messages that are due, and messages that wait for another attempt. Those of an outlet that is down
/// fill the second half at most, so they are never in the way of others. What does not fit is dropped here, and read from
/// storage again: namespace by namespace, each from where its last page ended.
struct OutboxQueue {
  /// A page of waiting messages to read from storage.
  struct Page {
    let namespace: NamespaceID
    /// The last key of the page before.
    let after: String?
    let limit: Int
  }

  private(set) var ready = Queue<OutboxItem>()
  private var timers = TimerQueue<OutboxItem>()
  /// Keys that are in memory, so that what is read from storage does not come twice.
  private var known: [NamespaceID: Set<String>] = [:]
  /// How long at least between two looks at the messages that are in storage alone.
  private static let lookInterval: Int64 = 5000
  private var lookedAt = Int64.min / 2
  /// Namespaces with messages in storage that are not here, in the order of their turns; and where each was read to.
  private var unread = Queue<NamespaceID>()
  private var cursors: [NamespaceID: String?] = [:]
  /// Of these something was forgotten that may stand before the cursor: they are read once more from the start.
  private var missed: Set<NamespaceID> = []
  /// Namespaces with messages whose times did not fit, and when the first of them is due.
  private var postponed: (namespaces: Set<NamespaceID>, time: Int64)?
  private(set) var running = 0
  /// Whether storage was asked what waits.
  private(set) var isStarted = false
  let capacity: Int
  let concurrency: Int

  init(capacity: Int, concurrency: Int) {
    self.capacity = capacity
    self.concurrency = concurrency
  }

  private var half: Int { max(1, capacity / 2) }
  var count: Int { ready.count + timers.count + running }
  var hasUnread: Bool { !unread.isEmpty }
  /// When the next message is due; nil if none waits for a time.
  var nextTime: Int64? { [timers.earliest, postponedTime].compactMap(\.self).min() }
  /// When those that are in storage alone are looked at: not each time that one of many is due, for each look reads all.
  private var postponedTime: Int64? { postponed.map { max($0.time, lookedAt + Self.lookInterval) } }
  /// Whether nothing is left but messages that wait for their time.
  var isResting: Bool { isStarted && ready.isEmpty && running == 0 && unread.isEmpty }

  mutating func add(_ item: OutboxItem, at now: Int64) {
    guard item.record.state == .waiting, known[item.namespace]?.contains(item.record.key) != true else { return }
    if item.record.nextAttemptAt > now { return wait(item) }
    guard ready.count + running < half else {
      missed.insert(item.namespace)
      return mark(item.namespace)
    }
    known[item.namespace, default: []].insert(item.record.key)
    ready.append(item)
  }

  private mutating func wait(_ item: OutboxItem) {
    guard timers.count < half else {
      let time = item.record.nextAttemptAt
      return postponed = (postponed?.namespaces.union([item.namespace]) ?? [item.namespace], min(time, postponed?.time ?? time))
    }
    known[item.namespace, default: []].insert(item.record.key)
    timers.add(item, at: item.record.nextAttemptAt)
  }

  mutating func fire(at now: Int64) {
    while let item = timers.popDue(at: now) { ready.append(item) }
    guard let due = postponed, let time = postponedTime, time <= now else { return }
    postponed = nil
    lookedAt = now
    for namespace in due.namespaces.sorted(by: { $0.rawValue < $1.rawValue }) {
      missed.insert(namespace)
      mark(namespace)
    }
  }

  /// The next message to deliver; nil if there is none, or enough are on their way.
  mutating func start() -> OutboxItem? {
    guard running < concurrency, let item = ready.popFirst() else { return nil }
    running += 1
    return item
  }

  /// A delivery has ended and its record is durable.
  ///
  /// - `next`: the record to try again; nil if there is nothing more to do.
  mutating func finish(_ item: OutboxItem, next: OutboxRecord?, at now: Int64) {
    running -= 1
    known[item.namespace]?.remove(item.record.key)
    if known[item.namespace]?.isEmpty == true { known[item.namespace] = nil }
    if let next { wait(OutboxItem(namespace: item.namespace, record: next)) }
  }

  // MARK: What is in storage alone

  /// Begins, with namespaces to read from storage.
  mutating func start(_ namespaces: [NamespaceID]) {
    isStarted = true
    for namespace in namespaces { mark(namespace) }
  }

  /// Notes that a namespace has messages in storage that are not here.
  mutating func mark(_ namespace: NamespaceID) {
    guard cursors[namespace] == nil else { return }
    cursors.updateValue(nil, forKey: namespace)
    unread.append(namespace)
  }

  /// Takes a page to read from storage, if there is space; its end must be reported.
  mutating func nextPage() -> Page? {
    let limit = half - ready.count - running
    guard limit * 2 >= half, let namespace = unread.popFirst() else { return nil }
    return Page(namespace: namespace, after: cursors[namespace] ?? nil, limit: limit)
  }

  /// A page was read, and what it held was added.
  ///
  /// - `last`: its last key; nil if it could not be read, and is to be read again.
  mutating func finish(_ page: Page, last: String?, isFull: Bool) {
    if isFull {
      cursors.updateValue(last ?? page.after, forKey: page.namespace)
      return unread.append(page.namespace)
    }
    cursors[page.namespace] = nil
    // From the start, behind the others.
    if missed.remove(page.namespace) != nil { mark(page.namespace) }
  }
}

/// A message on its way to its outlet.
struct OutboxItem: Sendable, Hashable {
  let namespace: NamespaceID
  let record: OutboxRecord

  /// What the receiver knows the message by: keys are unique in their namespace only.
  func key(in name: String) -> String { "\(name)/\(record.key)" }

  /// The record after an attempt.
  ///
  /// - `error`: why it failed; nil if it was delivered.
  /// - `remainder`: what is kept of the payload if it was delivered.
  func record(after error: String?, retry: RetryAt, remainder: String? = nil, at now: Int64) -> OutboxRecord {
    let state: OutboxRecord.State =
      switch (error, retry) {
      case (nil, _): .delivered
      case (_, .never): .dead
      case (_, .at): .waiting
      }
    var nextAttemptAt: Int64 = 0
    if case .at(let time) = retry, error != nil { nextAttemptAt = time }
    return OutboxRecord(
      key: record.key, outlet: record.outlet, payload: state == .delivered ? remainder ?? record.payload : record.payload,
      cause: record.cause, state: state,
      attempts: record.attempts + 1, nextAttemptAt: nextAttemptAt, lastError: error ?? record.lastError,
      createdAt: record.createdAt)
  }

  /// When a message is tried again.
  enum RetryAt: Sendable {
    case at(Int64)
    case never
  }
}
