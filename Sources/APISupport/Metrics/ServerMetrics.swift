package import HTTPServer
package import StorageCore

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
      if let execution = one.request.execution {
        made.executions += 1
        if execution.outcome == .skipped { made.skips += 1 }
      }
      for delivery in one.request.deliveries where delivery.state == .dead { made.deadLetters += 1 }
    }
    commits.add(made.commits)
    events.add(made.events)
    executions.add(made.executions)
    skips.add(made.skips)
    deadLetters.add(made.deadLetters)
    entries.add(made.entries)
  }
}
