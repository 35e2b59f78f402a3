import NIOHTTP1
public import StorageCore

/// What the server counts: requests, commits, and what came of them.
///
/// A request costs one atomic addition, a batch of commits a few. Given to the database as an observer, it sees every
/// commit, whoever made it.
public final class ServerMetrics: CommitObserver {
  /// Answers by route class and kind of status; 304 and 412 count as what their hundreds say.
  private let answers = RouteClass.allCases.map { _ in (0..<6).map { _ in Counter() } }
  /// From a write's way into the queue until its answer is on the event loop.
  public let commitLatency = LatencyHistogram()
  /// From a write's being durable until its function's effect is.
  let effectLag = EffectLag()
  let sockets = SocketMetrics()
  let commits = Counter()
  let events = Counter()
  let executions = Counter()
  let skips = Counter()
  let deadLetters = Counter()
  let entries = Counter()
  /// Requests that were too many.
  let rateLimited = Counter()
  /// Whether a proxy is taken for a client.
  let proxySuspicion = ProxySuspicion()
  let refusalsLeftOut = Counter()
  /// Event streams that are open now.
  let streams = Counter()

  public init() {}

  func count(_ status: HTTPResponseStatus, of routeClass: RouteClass) {
    answers[routeClass.rawValue][min(5, Int(status.code) / 100)].add()
  }

  /// How many answers of a class had a status of this hundred.
  func count(of routeClass: RouteClass, hundred: Int) -> Int { answers[routeClass.rawValue][hundred].current }

  public func didCommit(_ batch: [CommittedRequest]) {
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
