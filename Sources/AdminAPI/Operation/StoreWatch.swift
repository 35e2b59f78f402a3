import APISupport
package import StorageCore
import Synchronization

/// Looks into the store now and then, for what the metrics and the alerts say of it: what functions gave up on or try again,
/// which of them are paused, how old the oldest event is that waits.
///
/// Looking waits for the disk, which a request for the metrics must not do on its event loop. So a service looks, every few
/// seconds and whether somebody asks or not, and everyone else takes what it saw last. A look is bounded: of the deliveries of
/// a state it counts ten thousand at most.
package final class StoreWatch: Sendable {
  /// What was seen.
  package struct Sight: Sendable {
    /// When, in milliseconds since 1970.
    package let time: Int64
    package let namespaces: Int
    /// How many events each function gave up on, as far as they were counted.
    package let deadLetters: [Count]
    /// How many events each function failed on, and tries again.
    package let retries: [Count]
    /// Functions whose events wait until a person resumes them, with the reason.
    package let paused: [(function: String, reason: String)]
    /// When the oldest commit was made whose events are not all handled or on record; nil if there is none.
    package let oldestPending: Int64?
    /// When the oldest commit was made with an event that is tried again; nil if there is none.
    package let oldestRetry: Int64?
  }

  /// What one function has.
  package struct Count: Sendable, Hashable {
    package let function: String
    package let count: Int
    /// What the last of them said.
    package let error: String
  }

  private let engine: any StorageEngine
  private let clock: any WallClock
  private let functions: (any FunctionOperating)?
  private let sight = Mutex<Sight?>(nil)

  /// - `functions`: asked what waits; nil where none run.
  package init(engine: any StorageEngine, clock: any WallClock, functions: (any FunctionOperating)?) {
    self.engine = engine
    self.clock = clock
    self.functions = functions
  }

  /// What was seen last; nil before the first look.
  package var latest: Sight? { sight.withLock(\.self) }

  /// Looks, on the calling thread, which must be one that may wait for the disk.
  ///
  /// - Throws: `StorageError` if the store cannot be read; what was seen before stays.
  @discardableResult
  package func look() throws -> Sight {
    let oldest = functions?.backlog.oldest ?? []
    let seen = try engine.read { snapshot -> Sight in
      let dead = try DeliveryFailures(.dead, in: snapshot)
      let retries = try DeliveryFailures(.waiting, in: snapshot)
      return Sight(
        time: clock.now(), namespaces: try snapshot.namespaces().count, deadLetters: dead.byFunction,
        retries: retries.byFunction,
        paused: try snapshot.functions().filter(\.isPaused).map { ($0.name, $0.pauseReason ?? "paused") },
        oldestPending: try Self.time(of: oldest, in: snapshot), oldestRetry: try Self.time(of: retries.oldest, in: snapshot))
    }
    sight.withLock { $0 = seen }
    return seen
  }

  /// The time of the oldest of some commits.
  private static func time(of places: [FunctionBacklog.Place], in snapshot: any Snapshot) throws -> Int64? {
    try places.prefix(64).compactMap { place in
      // One that was forgotten, or that is still to come, is not waited for.
      try snapshot.commit(in: place.namespace, at: place.revision)?.time
    }.min()
  }
}

extension StoreWatch.Sight {
  /// What was seen, as metrics.
  ///
  /// - Parameter now: milliseconds since 1970.
  func families(at now: Int64) -> [MetricFamily] {
    func age(_ time: Int64?) -> Double { time.map { Double(max(0, now - $0)) / 1000 } ?? 0 }
    return [
      .gauge("doubloon_namespaces", help: "Namespaces of the store.", value: namespaces),
      .gauge("doubloon_dead_letters", help: "Events that a function gave up on and nobody has dealt with.")
        .with(deadLetters, label: "function") { ($0.function, Double($0.count)) },
      .gauge("doubloon_retries", help: "Events that a function failed on, and tries again.")
        .with(retries, label: "function") { ($0.function, Double($0.count)) },
      .gauge(
        "doubloon_event_lag_seconds", help: "Age of the oldest event that is neither handled nor waiting for a retry.",
        value: age(oldestPending)),
      .gauge("doubloon_retry_lag_seconds", help: "Age of the oldest event that is tried again.", value: age(oldestRetry)),
    ]
  }

  /// What there is where nothing was seen yet.
  static let none = StoreWatch.Sight(
    time: 0, namespaces: 0, deadLetters: [], retries: [], paused: [], oldestPending: nil, oldestRetry: nil)
}
