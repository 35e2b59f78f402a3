import TreeModel

extension AdminEvents {
  package static let histogram = Endpoint<HistogramQuery, NoBody, Histogram>(
    .get, "/admin/v1/events/histogram",
    "How many runs had which outcome, by time: the events that the same filters list, as far as they were looked at.",
    isScoped: true)

  /// Which events are counted, and how finely.
  package struct HistogramQuery: AdminValue {
    package var function: String?
    package var outcome: Outcome?
    package var reason: String?
    package var attempt: Int64?
    package var actor: String?
    package var path: String?
    package var uid: String?
    package var cause: String?
    package var since: Timestamp?
    package var until: Timestamp?
    package var buckets: Int64?
    package var scan: Int64?

    package init(
      since: Timestamp? = nil, until: Timestamp? = nil, function: String? = nil, outcome: Outcome? = nil, reason: String? = nil,
      attempt: Int64? = nil, actor: String? = nil, path: String? = nil, uid: String? = nil, cause: String? = nil,
      buckets: Int64? = nil, scan: Int64? = nil
    ) {
      self.since = since
      self.until = until
      self.function = function
      self.outcome = outcome
      self.reason = reason
      self.attempt = attempt
      self.actor = actor
      self.path = path
      self.uid = uid
      self.cause = cause
      self.buckets = buckets
      self.scan = scan
    }

    /// The filters as the list takes them.
    package var filters: Query {
      Query(
        since: since, until: until, function: function, outcome: outcome, reason: reason, attempt: attempt, actor: actor,
        path: path, uid: uid, cause: cause)
    }

    package static let notes: [String: FieldNote] = Query.notes.filter { HistogramQuery.filterNames.contains($0.key) }
      .merging([
        "buckets": .only(.integer(1...200), text: "In so many parts of equal time; 60 if it is not given."),
        "scan": .only(.integer(1...50_000), text: "At most so many events are looked at; 5,000 if it is not given."),
      ]) { $1 }

    private static let filterNames: Set<String> = [
      "since", "until", "function", "outcome", "reason", "attempt", "actor", "path", "uid", "cause",
    ]
  }

  /// What happened in a part of the time.
  package struct Bucket: AdminValue {
    /// Its first moment; it ends where the next begins.
    package var from: Timestamp
    package var done: Int64
    package var skipped: Int64
    package var waiting: Int64
    package var paused: Int64
    package var dead: Int64
    /// Events of which nothing is known yet.
    package var none: Int64

    package init(
      from: Timestamp, done: Int64 = 0, skipped: Int64 = 0, waiting: Int64 = 0, paused: Int64 = 0, dead: Int64 = 0,
      none: Int64 = 0
    ) {
      self.from = from
      self.done = done
      self.skipped = skipped
      self.waiting = waiting
      self.paused = paused
      self.dead = dead
      self.none = none
    }

    package static let notes: [String: FieldNote] = [
      "from": .text("its first moment; it ends where the next begins"),
      "none": .text("events of which nothing is known yet"),
    ]
  }

  /// Runs by outcome and time.
  package struct Histogram: AdminValue {
    /// The first moment: the one that was asked for, or that of the oldest event that was looked at.
    package var since: Timestamp
    /// The last moment.
    package var until: Timestamp
    package var buckets: [Bucket]
    /// Events that were looked at.
    package var scanned: Int64
    /// Whether that was all of them.
    package var complete: Bool

    package init(since: Timestamp, until: Timestamp, buckets: [Bucket], scanned: Int64, complete: Bool) {
      self.since = since
      self.until = until
      self.buckets = buckets
      self.scanned = scanned
      self.complete = complete
    }

    package static let notes: [String: FieldNote] = [
      "since": .text("the first moment: the one that was asked for, or that of the oldest event that was looked at"),
      "until": .text("the last moment"),
      "scanned": .text("events that were looked at"),
      "complete": .text("whether that was all of them"),
    ]
  }
}
