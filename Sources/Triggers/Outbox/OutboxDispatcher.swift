package import FunctionsKit
package import Logging
package import StorageCore
import Synchronization

/// Delivers messages to the outside: at least once, each with its own key, retried, and a dead letter in the end.
///
/// Messages are born in the transaction of the effect that sends them; here they only leave. A message that was delivered
/// and not yet recorded when the process dies is delivered again, under the same key.
package final class OutboxDispatcher: CommitObserver, Sendable {
  private let engine: any StorageEngine
  private let clock: any WallClock
  private let outlets: [String: any OutboxTransport]
  private let retry: RetryPolicy
  private let logger: Logger
  private let alarm: WakeUpTimer
  private let queue: Mutex<OutboxQueue>
  private let random: Mutex<any RandomNumberGenerator & Sendable>
  private let resting = Mutex<[CheckedContinuation<Void, Never>]>([])
  /// What became of attempts, by outlet: of those that are configured, and under an empty name of all others.
  private let ended = Mutex<[String: OutboxCounts]>([:])

  /// - `retry`: when a failed message is tried again; after its attempts it is a dead letter.
  /// - `concurrency`: how many messages are on their way at once.
  /// - `capacity`: how many messages are held in memory; what is beyond waits in storage.
  package init(
    outlets: [any OutboxTransport], engine: any StorageEngine, clock: any WallClock, retry: RetryPolicy = RetryPolicy(),
    concurrency: Int = 8, capacity: Int = 10_000,
    random: any RandomNumberGenerator & Sendable,
    logger: Logger = Logger(label: "doubloon.outbox")
  ) {
    self.engine = engine
    self.clock = clock
    self.outlets = Dictionary(outlets.map { ($0.name, $0) }) { _, _ in
      preconditionFailure("Two outlets have one name; give each its own.")
    }
    self.retry = retry
    self.logger = logger
    alarm = WakeUpTimer(clock: clock)
    queue = Mutex(OutboxQueue(capacity: capacity, concurrency: concurrency))
    self.random = Mutex(random)
  }

  package func didCommit(_ batch: [CommittedRequest]) {
    guard batch.contains(where: { !$0.request.rows.outbox.isEmpty }) else { return }
    let now = clock.now()
    let isNew = queue.withLock { queue in
      let before = queue.ready.count
      for committed in batch {
        for record in committed.request.rows.outbox {
          queue.add(OutboxItem(namespace: committed.request.namespace, record: record), at: now)
        }
      }
      return queue.ready.count > before || queue.hasUnread || queue.nextTime != nil
    }
    if isNew { alarm.ring() }
  }

  /// Delivers until the task is cancelled; begins with what waits in storage.
  package func run(writer: any TreeWriter) async throws {
    let namespaces = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces().map(\.id) }
    queue.withLock { $0.start(namespaces) }
    await withTaskGroup(of: Void.self) { group in
      while !Task.isCancelled {
        readUnread()
        let now = clock.now()
        let (items, next) = queue.withLock { queue in
          queue.fire(at: now)
          var items: [OutboxItem] = []
          while let item = queue.start() { items.append(item) }
          return (items, queue.nextTime)
        }
        for item in items { group.addTask { await self.deliver(item, writer: writer) } }
        wakeResting()
        await alarm.wait(until: next)
      }
      group.cancelAll()
    }
  }

  /// Waits until every message is delivered, waits for a later attempt, or is a dead letter.
  package func drain() async {
    alarm.ring()
    await withCheckedContinuation { continuation in
      resting.withLock { $0.append(continuation) }
      wakeResting()
    }
  }

  private func wakeResting() {
    let now = clock.now()
    let isResting = queue.withLock { $0.isResting && ($0.nextTime.map { $0 > now } ?? true) }
    guard isResting else { return }
    let waiters = resting.withLock { waiters in
      defer { waiters = [] }
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  // MARK: One message

  private func deliver(_ item: OutboxItem, writer: any TreeWriter) async {
    let failure = await attempt(item)
    let error = failure.map { "\($0)" }
    // A delivery that the shutdown interrupted is no failure: it comes again at the next start.
    if error != nil, Task.isCancelled { return }
    let now = clock.now()
    let record = item.record(
      after: error, retry: failure is PermanentError ? .never : retryTime(item, at: now),
      remainder: outlets[item.record.outlet]?.remainder(of: item.record.payload), at: now)
    count(record, at: outlets[item.record.outlet]?.name ?? "")
    if record.state == .dead {
      logger.warning("The message \(record.key) to \(record.outlet) is a dead letter: \(record.lastError ?? "")")
    }
    var request = CommitRequest(namespace: item.namespace, actor: .system("outbox"))
    request.rows.outbox = [record]
    var next = record.state == .waiting ? record : nil
    do {
      _ = try await writer.commit(request)
    } catch {
      logger.warning("The attempt at \(record.key) could not be recorded, so it is repeated: \(error)")
      next = item.record.later(now + 1000)
    }
    queue.withLock { $0.finish(item, next: next, at: now) }
    alarm.ring()
  }

  private func count(_ record: OutboxRecord, at outlet: String) {
    ended.withLock { ended in
      switch record.state {
      case .delivered: ended[outlet, default: OutboxCounts()].delivered += 1
      case .waiting: ended[outlet, default: OutboxCounts()].failed += 1
      case .dead: ended[outlet, default: OutboxCounts()].dead += 1
      }
    }
  }

  /// What waits in the outbox, as far as it is in memory, and what left it since the process started.
  package var report: OutboxReport {
    let (ready, later, running) = queue.withLock { ($0.ready.count, $0.count - $0.ready.count - $0.running, $0.running) }
    let counts = ended.withLock(\.self)
    let names = outlets.keys.sorted() + (counts[""] == nil ? [] : [""])
    return OutboxReport(
      ready: ready, later: later, running: running,
      outlets: names.map { OutboxReport.Outlet(name: $0.isEmpty ? "unknown" : $0, counts: counts[$0] ?? OutboxCounts()) })
  }

  /// - Returns: why the delivery failed; nil if it did not.
  private func attempt(_ item: OutboxItem) async -> (any Error)? {
    guard let outlet = outlets[item.record.outlet] else { return MissingTransport(name: item.record.outlet) }
    do {
      let name = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
        .first { $0.id == item.namespace }?.name
      try await outlet.deliver(key: item.key(in: name ?? "?"), payload: item.record.payload)
      return nil
    } catch {
      return error
    }
  }

  private func retryTime(_ item: OutboxItem, at now: Int64) -> OutboxItem.RetryAt {
    let failures = item.record.attempts + 1
    guard failures < retry.attempts else { return .never }
    let delay = Double(retry.delay(afterFailures: failures).wholeMilliseconds)
    let jitter = random.withLock { Double.random(in: 0.8...1.2, using: &$0) }
    return .at(now + Int64(delay * jitter))
  }

  /// Reads waiting messages from storage, until something is to be done or everything was read.
  private func readUnread() {
    while let page = queue.withLock({ $0.nextPage() }) {
      do throws(StorageError) {
        let records = try engine.read { (snapshot) throws(StorageError) in
          try snapshot.outbox(in: page.namespace, state: .waiting, after: page.after, limit: page.limit)
        }
        let now = clock.now()
        let isEnough = queue.withLock { queue in
          for record in records { queue.add(OutboxItem(namespace: page.namespace, record: record), at: now) }
          queue.finish(page, last: records.last?.key, isFull: records.count == page.limit)
          return queue.hasUnread && !queue.ready.isEmpty
        }
        if isEnough { return }
      } catch {
        logger.error("The outbox of namespace \(page.namespace.rawValue) cannot be read: \(error)")
        return queue.withLock { $0.finish(page, last: nil, isFull: true) }
      }
    }
  }
}

extension OutboxRecord {
  /// The same, to be tried at another time.
  fileprivate func later(_ time: Int64) -> OutboxRecord {
    OutboxRecord(
      key: key, outlet: outlet, payload: payload, cause: cause, state: .waiting, attempts: attempts, nextAttemptAt: time,
      lastError: lastError, createdAt: createdAt)
  }
}

/// A way to the outside: a mail server, a webhook, the players' messages.
public protocol OutboxTransport: Sendable {
  /// What functions call it: `context.send(…, to: name)`.
  var name: String { get }

  /// Delivers one message; returns when the other side has taken it, throws if it is to be tried again, and throws
  /// `PermanentError` if that would be useless: then the message is a dead letter at once, with that reason.
  ///
  /// - Parameters:
  ///   - key: the message's own, `namespace/event/function/outlet/label`: the same at every attempt. A message may come
  ///     more than once; the receiver recognises a repetition by this.
  ///   - payload: JSON.
  func deliver(key: String, payload: String) async throws
  /// What the store keeps of a payload once it was delivered; all of it, unless it holds what must not lie about.
  func remainder(of payload: String) -> String
}

extension OutboxTransport {
  public func remainder(of payload: String) -> String { payload }
}

/// A message for an outlet that this server does not have. It is tried again: the next start may bring the outlet.
struct MissingTransport: Error, CustomStringConvertible {
  let name: String

  var description: String { "No outlet is called \"\(name)\". Configure one, or correct who sends to it." }
}

/// What became of attempts to deliver messages.
package struct OutboxCounts: Sendable, Hashable {
  /// Messages that the other side has taken.
  package var delivered = 0
  /// Attempts that failed, and are made again.
  package var failed = 0
  /// Messages that were given up.
  package var dead = 0

  package init() {}
}

/// The outbox at one moment.
package struct OutboxReport: Sendable, Hashable {
  /// A way to the outside.
  package struct Outlet: Sendable, Hashable {
    /// As it is configured; `unknown` for all that are not.
    package let name: String
    package let counts: OutboxCounts
  }

  /// Messages that are due.
  package let ready: Int
  /// Messages that wait for another attempt.
  package let later: Int
  /// Messages that are on their way.
  package let running: Int
  package let outlets: [Outlet]
}
