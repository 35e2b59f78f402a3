import TextFormats
import TreeModel

/// What a person must be told of.
enum AlertKind: String, Sendable, CaseIterable {
  /// A function gave up on events.
  case deadLetters = "dead_letters"
  /// Events wait until a person resumes their function.
  case functionPaused = "function_paused"
  /// The disk is nearly full.
  case diskLow = "disk_low"
  /// The store is not what was written.
  case verificationFailed = "verification_failed"
  /// Nothing can be written until the server is started again, or until the disk that was full has room.
  case writerStopped = "writer_stopped"
  /// The last backup failed, or is too old.
  case backupFailed = "backup_failed"
  /// A certificate ends soon.
  case certificateExpiring = "certificate_expiring"
  /// A node of the store shows no sign of life.
  case nodeSilent = "node_silent"
}

/// One message about one kind of trouble.
struct AlertNotice: Sendable, Hashable {
  enum State: String, Sendable {
    /// It has begun, or goes on.
    case firing
    /// It is over.
    case resolved
  }

  let kind: AlertKind
  let state: State
  /// One or two sentences: what it is, and what to do.
  let summary: String
  /// When it began, in milliseconds since 1970: with the kind it tells one trouble from another.
  let since: Int64
  /// When this was said.
  let time: Int64

  /// The same whenever it is sent again.
  var id: String { "\(kind.rawValue)-\(since)-\(state.rawValue)-\(time)" }

  /// What is posted.
  ///
  /// - Parameter project: which server says it.
  func json(project: String) -> JSON {
    [
      "id": .string(id), "kind": .string(kind.rawValue), "state": .string(state.rawValue), "project": .string(project),
      "summary": .string(summary), "since": .string(CalendarTime(milliseconds: since).rfc3339),
      "time": .string(CalendarTime(milliseconds: time).rfc3339),
    ]
  }
}

/// Decides what is told, and when: a value that is shown what is wrong at each look.
///
/// Of each kind one notice at its beginning, one again after each ``interval`` while it goes on, one when it is over. Between
/// two beginnings of a kind lies the interval, too: a disk that is now full and now not sends no stream of messages. The end of
/// what nobody was told is told to nobody.
struct AlertBoard: Sendable {
  /// A summary has so many bytes at most: errors of functions may be long.
  static let summaryBytesMax = 2000

  private struct Trouble {
    var summary: String
    let since: Int64
    /// Whether anybody was told.
    var isTold = false
  }

  /// How long at least between two notices of one kind, in milliseconds.
  let interval: Int64
  private var open: [AlertKind: Trouble] = [:]
  /// When each kind was last said to be there.
  private var toldAt: [AlertKind: Int64] = [:]

  init(interval: Int64) {
    self.interval = interval
  }

  /// What is wrong now, whether it was told or not.
  var active: Set<AlertKind> { Set(open.keys) }

  /// Takes in what a look has found.
  ///
  /// - Parameters:
  ///   - found: what is wrong, each with a summary.
  ///   - now: milliseconds since 1970.
  /// - Returns: what is to be told.
  mutating func update(_ found: [AlertKind: String], at now: Int64) -> [AlertNotice] {
    AlertKind.allCases.compactMap { kind in
      guard let summary = found[kind] else { return resolve(kind, at: now) }
      var trouble = open[kind] ?? Trouble(summary: "", since: now)
      trouble.summary = Self.bounded(summary)
      defer { open[kind] = trouble }
      // A time that is still to come says that the clock was set back since: it must not silence anything until then.
      if let last = toldAt[kind], last <= now, now - last < interval { return nil }
      toldAt[kind] = now
      trouble.isTold = true
      return AlertNotice(kind: kind, state: .firing, summary: trouble.summary, since: trouble.since, time: now)
    }
  }

  private mutating func resolve(_ kind: AlertKind, at now: Int64) -> AlertNotice? {
    guard let trouble = open.removeValue(forKey: kind), trouble.isTold else { return nil }
    return AlertNotice(kind: kind, state: .resolved, summary: trouble.summary, since: trouble.since, time: now)
  }

  /// One line: what a function failed with is in it, and must not look like a line of its own in a log.
  private static func bounded(_ text: String) -> String {
    let text = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    guard text.utf8.count > summaryBytesMax else { return text.printable }
    return String(decoding: text.utf8.prefix(summaryBytesMax), as: UTF8.self).printable + " …"
  }
}
