import APISupport
import Logging
import StorageCore
import Synchronization

/// Sends notices on one way, one after the other: with a bound on how many wait, on how often each is tried and on how long.
///
/// A notice that fails is tried again after 5 s, 10 s, 20 s and so on, at most five minutes later each time; after
/// ``attemptsMax`` attempts it is given up, and the log says so. What waits when the process ends is lost: the next process
/// looks again, and says what is still wrong.
final class AlertPost: Sendable {
  /// Notices that wait at most; of more the oldest goes.
  static let capacity = 64
  static let attemptsMax = 12
  /// How often it looks whether something is to be sent, in milliseconds.
  static let interval: Int64 = 1000
  private static let firstDelay: Int64 = 5000
  private static let delayMax: Int64 = 300_000

  private struct Item: Sendable {
    let notice: AlertNotice
    var attempts = 0
    var dueAt: Int64

    /// Whether it is to be sent now. No attempt is put off for so long that the clock must have been set back since.
    func isDue(at now: Int64) -> Bool { dueAt <= now || dueAt > now + delayMax }
  }

  /// What became of notices.
  struct Counts: Sendable, Hashable {
    var sent = 0
    var failures = 0
    var dropped = 0
  }

  private struct State {
    var items: [Item] = []
    var counts = Counts()
  }

  private let way: any AlertWay
  private let clock: any WallClock
  private let logger: Logger
  private let state = Mutex(State())

  init(_ way: any AlertWay, clock: any WallClock, logger: Logger) {
    self.way = way
    self.clock = clock
    self.logger = logger
  }

  var name: String { way.name }
  var counts: Counts { state.withLock(\.counts) }
  /// Notices that wait.
  var count: Int { state.withLock(\.items.count) }

  /// Has a notice sent.
  func add(_ notice: AlertNotice) {
    let now = clock.now()
    state.withLock { state in
      if state.items.count >= Self.capacity {
        state.items.removeFirst()
        state.counts.dropped += 1
      }
      state.items.append(Item(notice: notice, dueAt: now))
    }
  }

  /// Sends until the task is cancelled.
  @Sendable func run() async throws {
    while true {
      try Task.checkCancellation()
      let now = clock.now()
      if let item = state.withLock({ state in state.items.first { $0.isDue(at: now) } }) {
        await attempt(item, at: now)
      } else {
        try await clock.sleep(until: now + Self.interval)
      }
    }
  }

  private func attempt(_ item: Item, at now: Int64) async {
    do {
      try await send(item.notice, at: now)
      state.withLock { state in
        state.items.removeAll { $0.notice == item.notice }
        state.counts.sent += 1
      }
    } catch {
      // A stop is no failure.
      if Task.isCancelled { return }
      fail(item, because: "\(error)")
    }
  }

  /// Sends, and returns at once if the server stops: a receiver that does not answer must not hold it up. What is under way then
  /// ends by its own timeout.
  private func send(_ notice: AlertNotice, at now: Int64) async throws {
    let (end, ending) = AsyncThrowingStream<Void, any Error>.makeStream()
    Task { [way] in
      do {
        try await way.send(notice, at: now)
        ending.finish()
      } catch {
        ending.finish(throwing: error)
      }
    }
    for try await _ in end {}
    try Task.checkCancellation()
  }

  private func fail(_ item: Item, because why: String) {
    let isGivenUp = item.attempts + 1 >= Self.attemptsMax
    let dueAt = clock.now() + min(Self.firstDelay << Int64(min(item.attempts, 16)), Self.delayMax)
    state.withLock { state in
      state.counts.failures += 1
      guard let index = state.items.firstIndex(where: { $0.notice == item.notice }) else { return }
      if isGivenUp {
        state.items.remove(at: index)
        state.counts.dropped += 1
      } else {
        state.items[index].attempts += 1
        state.items[index].dueAt = dueAt
      }
    }
    logger.warning(
      isGivenUp ? "an alert was given up" : "an alert could not be sent, and is tried again",
      metadata: ["way": "\(way.name)", "kind": "\(item.notice.kind.rawValue)", "why": "\(why)"])
  }
}
