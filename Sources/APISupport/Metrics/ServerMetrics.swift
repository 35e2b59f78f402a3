package import HTTPServer
import NIOCore
package import StorageCore
import Synchronization

/// What the server counts: requests, commits, and what came of them.
///
/// A batch of commits costs a few atomic additions. Given to the database as an observer, it sees the commits of every
/// client and function.
package final class ServerMetrics: CommitObserver {
  /// Requests and connections; also to be given to the ``HTTPServer``, or they are not counted.
  package let http = HTTPMetrics()
  /// From a write's way into the queue until its answer is on the event loop.
  package let commitLatency = LatencyHistogram()
  /// From a write's being durable until its function's effect is.
  let effectLag = EffectLag()
  let commits = Counter()
  let events = Counter()
  let executions = Counter()
  let skips = Counter()
  let deadLetters = Counter()
  let entries = Counter()
  let refusalsLeftOut = Counter()

  package init() {}

  package var sockets: SocketMetrics { http.sockets }
  package var streams: Counter { http.streams }

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
    commits.add(made.commits)
    events.add(made.events)
    executions.add(made.executions)
    skips.add(made.skips)
    deadLetters.add(made.deadLetters)
    entries.add(made.entries)
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

  let histogram = LatencyHistogram(boundsMicroseconds: boundsMicroseconds)
  private let causes = Mutex([Cause?](repeating: nil, count: Int(capacity)))

  init() {}

  /// Takes in a batch that is durable since `now`.
  func note(_ batch: [CommittedRequest], at now: NIODeadline = .now()) {
    causes.withLock { causes in
      for one in batch {
        if let execution = one.request.triggers.execution, execution.outcome == .done,
          let cause = causes[Self.slot(execution.event.revision)], cause.revision == execution.event.revision,
          cause.namespace == one.request.namespace
        {
          histogram.record(now - cause.durableAt)
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

extension ServerMetrics {
  /// The numbers in Prometheus' text format.
  ///
  /// - Parameters:
  ///   - totals: what others have counted: name, description, value.
  ///   - gauges: what is true at the moment, such as the depth of a queue: name, description, value.
  package func prometheus(
    totals: [(name: String, help: String, value: Int)] = [], gauges: [(name: String, help: String, value: Int)]
  ) -> String {
    var text = "# HELP doubloon_http_requests_total Requests answered.\n# TYPE doubloon_http_requests_total counter\n"
    for routeClass in RouteClass.allCases {
      for hundred in 1..<6 {
        let count = http.count(of: routeClass, hundred: hundred)
        guard count > 0 else { continue }
        text += "doubloon_http_requests_total{route=\"\(routeClass.label)\",status=\"\(hundred)xx\"} \(count)\n"
      }
    }
    text += latency
    for (name, help, counter) in counters {
      text += "# HELP \(name) \(help)\n# TYPE \(name) counter\n\(name) \(counter.current)\n"
    }
    for total in totals {
      text += "# HELP \(total.name) \(total.help)\n# TYPE \(total.name) counter\n\(total.name) \(total.value)\n"
    }
    for gauge in gauges {
      text += "# HELP \(gauge.name) \(gauge.help)\n# TYPE \(gauge.name) gauge\n\(gauge.name) \(gauge.value)\n"
    }
    return text
  }

  private var counters: [(String, String, Counter)] {
    [
      ("doubloon_commits_total", "Commits that changed something.", commits),
      ("doubloon_events_total", "Events that commits caused.", events),
      ("doubloon_executions_total", "Runs of functions that ended: done or skipped.", executions),
      ("doubloon_executions_skipped_total", "Runs of functions that had nothing to do.", skips),
      ("doubloon_dead_letters_total", "Events that a function gave up on.", deadLetters),
      ("doubloon_ledger_entries_total", "Entries written to the ledger.", entries),
      ("doubloon_rate_limited_total", "Requests that one client made too many of.", http.rateLimited),
      (
        "doubloon_audit_left_out_total", "Refusals of strangers that the audit log has not, for there were too many a minute.",
        refusalsLeftOut
      ),
      ("doubloon_socket_sessions_total", "Realtime sessions that began.", sockets.opened),
      ("doubloon_socket_requests_total", "Requests of realtime sessions.", sockets.requests),
      ("doubloon_socket_frames_received_total", "Frames from realtime clients.", sockets.framesReceived),
      ("doubloon_socket_frames_sent_total", "Frames to realtime clients.", sockets.framesSent),
      (
        "doubloon_socket_pauses_total", "Times that a realtime client was not read from, for it had written too much.",
        sockets.pauses
      ),
      ("doubloon_socket_slow_readers_total", "Clients cut off because they did not read.", sockets.slowReaders),
    ]
  }

  private var latency: String {
    Self.prometheus(commitLatency, "doubloon_commit_seconds", "From a write's way into the queue to its answer.")
      + Self.prometheus(
        effectLag.histogram, "doubloon_effect_seconds", "From a write's being durable until the effect of its function is.")
  }

  private static func prometheus(_ histogram: LatencyHistogram, _ name: String, _ help: String) -> String {
    var text = "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
    let (counts, seconds) = histogram.current
    var sum = 0
    for (index, bound) in histogram.boundsMicroseconds.enumerated() {
      sum += counts[index]
      text += "\(name)_bucket{le=\"\(Double(bound) / 1e6)\"} \(sum)\n"
    }
    sum += counts[counts.count - 1]
    return text + "\(name)_bucket{le=\"+Inf\"} \(sum)\n\(name)_sum \(seconds)\n\(name)_count \(sum)\n"
  }
}
