import TreeModel

/// What the server did lately, and the copies of it.
package enum AdminOperation {
  package static let series = Endpoint<SeriesQuery, NoBody, Series>(
    .get, "/admin/v1/series",
    "What the server did in the last minutes or hours, in parts of equal time; a part that nobody saw has nothing in it.")

  /// How far a series goes back.
  package enum SeriesWindow: String, AdminWord, Hashable, CaseIterable {
    case quarter = "15m"
    case hour = "1h"
    case sixHours = "6h"
    case day = "24h"
  }

  /// Which part of the past is wanted, and how finely.
  package struct SeriesQuery: AdminValue {
    package var window: SeriesWindow?
    package var points: Int64?

    package init(window: SeriesWindow? = nil, points: Int64? = nil) {
      self.window = window
      self.points = points
    }

    package static let notes: [String: FieldNote] = [
      "window": .text("How far back: 1h if it is not given."),
      "points": .only(
        .integer(1...2160),
        text: "In about so many parts, 120 if it is not given; not finer than 1 s (15m), 10 s (1h, 6h) or 60 s (24h)."),
    ]
  }

  /// What happened in a part of the time. The counts are of this part alone.
  package struct SeriesPoint: AdminValue {
    /// Its first moment.
    package var time: Timestamp
    /// For how much of it the counts stand; 0 where the server did not look: that is a gap, and no standstill.
    package var coveredMs: Int64
    package var commits: Int64
    package var events: Int64
    /// Ledger entries.
    package var grants: Int64
    /// Events that a function gave up on.
    package var deadLetters: Int64
    /// How long effects took, in microseconds; not given where there was none.
    package var lagP95Micros: Int64?
    /// The most at a moment of this part.
    package var listens: Int64
    package var connections: Int64
    package var queue: Int64
    package var waiting: Int64

    package init(
      time: Timestamp, coveredMs: Int64 = 0, commits: Int64 = 0, events: Int64 = 0, grants: Int64 = 0, deadLetters: Int64 = 0,
      lagP95Micros: Int64? = nil, listens: Int64 = 0, connections: Int64 = 0, queue: Int64 = 0, waiting: Int64 = 0
    ) {
      self.time = time
      self.coveredMs = coveredMs
      self.commits = commits
      self.events = events
      self.grants = grants
      self.deadLetters = deadLetters
      self.lagP95Micros = lagP95Micros
      self.listens = listens
      self.connections = connections
      self.queue = queue
      self.waiting = waiting
    }

    package static let notes: [String: FieldNote] = [
      "time": .text("its first moment"),
      "coveredMs": .text("for how much of it the counts stand; 0 where the server did not look: a gap, and no standstill"),
      "grants": .text("ledger entries"),
      "deadLetters": .text("events that a function gave up on"),
      "lagP95Micros": .text("microseconds from a durable write to its function's durable effect: 95 of 100 took no longer"),
      "listens": .text("the most at a moment of this part, as connections, queue and waiting"),
      "connections": .text("sockets and streams"),
      "queue": .text("writes that waited"),
      "waiting": .text("events that waited for a function"),
    ]
  }

  /// The past in parts of equal time, the oldest first.
  package struct Series: AdminValue {
    package var window: SeriesWindow
    /// How long a part is; the last may be under way.
    package var stepMs: Int64
    /// The server's time.
    package var time: Timestamp
    package var points: [SeriesPoint]

    package init(window: SeriesWindow, stepMs: Int64, time: Timestamp, points: [SeriesPoint]) {
      self.window = window
      self.stepMs = stepMs
      self.time = time
      self.points = points
    }

    package static let notes: [String: FieldNote] = [
      "stepMs": .text("how long a part is; the last may be under way"),
      "time": .text("the server's time"),
    ]
  }
}

extension AdminOperation {
  package static let backups = Endpoint<NoQuery, NoBody, BackupList>(
    .get, "/admin/v1/backups", "The copies that were made and that are there, newest first, and when the next one is due.")

  /// A copy, or a try that failed.
  package struct BackupCopy: AdminValue {
    /// Where it is: a file, or the name that a command was given.
    package var place: String
    /// When it was begun.
    package var time: Timestamp
    package var bytes: Int64?
    /// Not given for one of before the server's start.
    package var durationMs: Int64?
    /// Whether it was made by the schedule.
    package var scheduled: Bool
    /// Whether it was read again and found whole; not given where that is not known.
    package var verified: Bool?
    /// Why there is none.
    package var failure: String?

    package init(
      place: String, time: Timestamp, bytes: Int64? = nil, durationMs: Int64? = nil, scheduled: Bool, verified: Bool? = nil,
      failure: String? = nil
    ) {
      self.place = place
      self.time = time
      self.bytes = bytes
      self.durationMs = durationMs
      self.scheduled = scheduled
      self.verified = verified
      self.failure = failure
    }

    package static let notes: [String: FieldNote] = [
      "place": .text("where it is: a file, or the name that a command was given"),
      "time": .text("when it was begun"),
      "durationMs": .text("not given for one of before the server's start"),
      "scheduled": .text("whether it was made by the schedule"),
      "verified": .text("whether it was read again and found whole; not given where that is not known"),
      "failure": .text("why there is none"),
    ]
  }

  /// What of scheduled copies in a folder is kept; the newest always is.
  package struct BackupRetention: AdminValue {
    package var last: Int64
    package var daily: Int64
    package var weekly: Int64

    package init(last: Int64, daily: Int64, weekly: Int64) {
      self.last = last
      self.daily = daily
      self.weekly = weekly
    }

    package static let notes: [String: FieldNote] = [
      "last": .text("so many of the newest"), "daily": .text("the newest of each of so many days"),
      "weekly": .text("the newest of each of so many weeks"),
    ]
  }

  /// The copies of the store.
  package struct BackupList: AdminValue {
    /// When, where to and for whom, for people; not given where none are scheduled.
    package var schedule: String?
    package var next: Timestamp?
    /// Not given where all are kept.
    package var retention: BackupRetention?
    /// The 200 newest.
    package var copies: [BackupCopy]

    package init(
      schedule: String? = nil, next: Timestamp? = nil, retention: BackupRetention? = nil, copies: [BackupCopy]
    ) {
      self.schedule = schedule
      self.next = next
      self.retention = retention
      self.copies = copies
    }

    package static let notes: [String: FieldNote] = [
      "schedule": .text("when, where to and for whom, for people; not given where none are scheduled"),
      "next": .text("when the next one is due"),
      "retention": .text("what of scheduled copies in a folder is kept; not given where all are"),
      "copies": .text("the 200 newest, failed ones since the server's start among them"),
    ]
  }
}
