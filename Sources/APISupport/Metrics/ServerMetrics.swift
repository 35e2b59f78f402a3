package import CoreMetrics
package import HTTPServer
import NIOCore
package import StorageCore
import Synchronization

/// What the server counts: requests, commits, and what came of them.
///
/// Counted through the facade of swift-metrics, for `/metrics` and for the backend that an embedder has bootstrapped, if there
/// is one. A batch of commits costs a few atomic additions. Given to the database as an observer, it sees the commits of every
/// client and function.
package final class ServerMetrics: CommitObserver {
  /// What `/metrics` is written from.
  package let recorder: PrometheusRecorder
  /// Requests and connections; also to be given to the ``HTTPServer``, or they are not counted.
  package let http: HTTPMetrics
  /// From a write's way into the queue until its answer is on the event loop.
  package let commitLatency: CoreMetrics.Timer
  /// From a write's being durable until its function's effect is.
  let effectLag: EffectLag
  let commits: Counter
  let events: Counter
  let executions: Counter
  let skips: Counter
  let deadLetters: Counter
  let entries: Counter
  let refusalsLeftOut: Counter
  /// Sign-ins by method and result.
  package let signIns: SignInCounters
  /// What the last verifications and backups came to: those who make one note it here.
  package let maintenance = MaintenanceRecord()

  package init() {
    let recorder = PrometheusRecorder(Self.descriptions)
    let embedders = MetricsSystem.factory
    let factory: any MetricsFactory =
      embedders is NOOPMetricsHandler ? recorder : MultiplexMetricsHandler(factories: [recorder, embedders])
    self.recorder = recorder
    http = HTTPMetrics(factory: factory)
    commitLatency = Timer(label: "doubloon_commit_seconds", factory: factory)
    effectLag = EffectLag(timer: Timer(label: "doubloon_effect_seconds", factory: factory))
    commits = Counter(label: "doubloon_commits_total", factory: factory)
    events = Counter(label: "doubloon_events_total", factory: factory)
    executions = Counter(label: "doubloon_executions_total", factory: factory)
    skips = Counter(label: "doubloon_executions_skipped_total", factory: factory)
    deadLetters = Counter(label: "doubloon_dead_letters_total", factory: factory)
    entries = Counter(label: "doubloon_ledger_entries_total", factory: factory)
    refusalsLeftOut = Counter(label: "doubloon_audit_left_out_total", factory: factory)
    signIns = SignInCounters(factory: factory)
  }

  /// What was counted under a label, with these dimensions.
  package func total(_ label: String, dimensions: [(String, String)] = []) -> Int {
    recorder.total(label, dimensions: dimensions)
  }

  /// The upper bounds of the buckets of ``effectCounts``, in microseconds.
  package var effectBounds: [Int64] { EffectLag.boundsMicroseconds }

  /// How many effects took how long, since the start: of each bucket, the last of what took longer than any bound.
  package var effectCounts: [Int64] { recorder.histogram("doubloon_effect_seconds")?.counts ?? [] }

  package var sockets: SocketMetrics { http.sockets }
  package var streams: AtomicCount { http.streams }

  package func didCommit(_ batch: [CommittedRequest]) {
    var made = (commits: 0, events: 0, executions: 0, skips: 0, deadLetters: 0, entries: 0)
    effectLag.note(batch)
    for one in batch {
      if one.receipt.changed { made.commits += 1 }
      made.events += one.receipt.events.count
      made.entries += one.receipt.entries.count
      if let execution = one.request.triggers.execution {
        made.executions += 1
        if execution.outcome == .skipped { made.skips += 1 }
      }
      for delivery in one.request.triggers.deliveries where delivery.state == .dead { made.deadLetters += 1 }
    }
    commits.increment(by: made.commits)
    events.increment(by: made.events)
    executions.increment(by: made.executions)
    skips.increment(by: made.skips)
    deadLetters.increment(by: made.deadLetters)
    entries.increment(by: made.entries)
  }
}

// MARK: - The text

extension ServerMetrics {
  /// Upper bounds of the durations of writes: they double.
  private static let doublingMicroseconds: [Int64] = [
    125, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 4_096_000,
  ]

  private static let descriptions: [PrometheusRecorder.Description] = [
    .counter("doubloon_http_requests_total", help: "Requests answered, by class of route and of status."),
    .histogram(
      "doubloon_http_request_seconds",
      help: "From a request's last byte to its answer, by class of route; polls, which wait on purpose, are unknown.",
      boundsMicroseconds: doublingMicroseconds),
    .histogram(
      "doubloon_commit_seconds", help: "From a write's way into the queue to its answer.",
      boundsMicroseconds: doublingMicroseconds),
    .histogram(
      "doubloon_effect_seconds", help: "From a write's being durable until the effect of its function is.",
      boundsMicroseconds: EffectLag.boundsMicroseconds),
    .counter("doubloon_commits_total", help: "Commits that changed something."),
    .counter("doubloon_events_total", help: "Events that commits caused."),
    .counter("doubloon_executions_total", help: "Runs of functions that ended: done or skipped."),
    .counter("doubloon_executions_skipped_total", help: "Runs of functions that had nothing to do."),
    .counter("doubloon_dead_letters_total", help: "Events that a function gave up on."),
    .counter("doubloon_ledger_entries_total", help: "Entries written to the ledger."),
    .counter("doubloon_sign_ins_total", help: "Sign-ins by method, and whether the player got in."),
    .counter("doubloon_rate_limited_total", help: "Requests that one client made too many of."),
    .counter(
      "doubloon_audit_left_out_total",
      help: "Refusals of strangers that the audit log has not, for there were too many a minute."),
    .counter("doubloon_socket_sessions_total", help: "Realtime sessions that began."),
    .counter("doubloon_socket_requests_total", help: "Requests of realtime sessions."),
    .counter("doubloon_socket_frames_received_total", help: "Frames from realtime clients."),
    .counter("doubloon_socket_frames_sent_total", help: "Frames to realtime clients."),
    .counter(
      "doubloon_socket_pauses_total", help: "Times that a realtime client was not read from, for it had written too much."),
    .counter("doubloon_socket_slow_readers_total", help: "Clients cut off because they did not read."),
  ]

  /// The numbers in Prometheus' text format.
  ///
  /// - Parameter families: what was read for this look: what others have counted, and what is true at the moment.
  package func prometheus(_ families: [MetricFamily]) -> String {
    var text = recorder.text
    for family in families + maintenance.notes.families { family.write(to: &text) }
    return text
  }
}

/// How long players wait for a reward: from a write's being durable until the effect of a function that it caused is.
///
/// Remembers when the last commits with events became durable. An effect that comes so much later that its write is
/// forgotten was retried, held back or replayed: it says nothing about speed, and is not counted.
final class EffectLag: Sendable {
  /// A commit whose events may have effects.
  private struct Cause {
    var namespace: NamespaceID
    var revision: Revision
    var durableAt: NIODeadline
  }

  /// Finer than the writes' around the promise, which is 5 ms at the 99th percentile.
  static let boundsMicroseconds: [Int64] = [
    500, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 12_000, 16_000, 32_000, 64_000, 128_000, 256_000, 1_024_000,
  ]
  /// So many revisions are remembered; a power of two.
  private static let capacity: Int64 = 4096

  private let timer: CoreMetrics.Timer
  private let causes = Mutex([Cause?](repeating: nil, count: Int(capacity)))

  init(timer: CoreMetrics.Timer) {
    self.timer = timer
  }

  /// Takes in a batch that is durable since `now`.
  func note(_ batch: [CommittedRequest], at now: NIODeadline = .now()) {
    causes.withLock { causes in
      for one in batch {
        if let execution = one.request.triggers.execution, execution.outcome == .done,
          let cause = causes[Self.slot(execution.event.revision)], cause.revision == execution.event.revision,
          cause.namespace == one.request.namespace
        {
          timer.recordNanoseconds((now - cause.durableAt).nanoseconds)
        }
        if one.receipt.changed, !one.receipt.events.isEmpty {
          causes[Self.slot(one.receipt.revision)] = Cause(
            namespace: one.request.namespace, revision: one.receipt.revision, durableAt: now)
        }
      }
    }
  }

  private static func slot(_ revision: Revision) -> Int { Int(revision.rawValue & (capacity - 1)) }
}
