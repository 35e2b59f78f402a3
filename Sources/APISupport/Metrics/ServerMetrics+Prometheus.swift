import HTTPServer

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
