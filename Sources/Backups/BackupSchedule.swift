import Glibc
import TextFormats

/// When backups are due: every so often, or at a time of day.
package struct BackupSchedule: Sendable {
  static let day: Int64 = 86_400_000
  /// A time of day may come so much earlier or later than a day after the last one: clocks are moved for the summer.
  private static let slack: Int64 = 2 * 3_600_000

  /// How much time lies between two, in milliseconds; whole days where ``minuteOfDay`` is set.
  package let every: Int64
  /// Minutes after the local midnight; nil: whenever ``every`` has passed.
  package let minuteOfDay: Int?
  /// How much local time is ahead of UTC at a moment, both in milliseconds.
  let offset: @Sendable (Int64) -> Int64

  /// - Parameter offset: how much local time is ahead of UTC at a moment, both in milliseconds; by default the machine's zone.
  package init(
    every: Int64, minuteOfDay: Int? = nil, offset: @escaping @Sendable (Int64) -> Int64 = Self.machineOffset(at:)
  ) {
    precondition(every > 0 && (minuteOfDay == nil || every % Self.day == 0), "A time of day needs whole days.")
    self.every = every
    self.minuteOfDay = minuteOfDay
    self.offset = offset
  }

  /// The moment of the next one. What was missed is made up for once, at once.
  ///
  /// - `last`: when the last good one was made; nil if there was none.
  /// - `now`: a `last` behind it shows that the clock was set back since; it counts as now then.
  package func next(after last: Int64?, now: Int64) -> Int64 {
    guard minuteOfDay != nil else { return last.map { max(now, min($0, now) + every) } ?? now }
    guard let last = last.map({ min($0, now) }) else { return firstDue(after: now) }
    return max(now, firstDue(after: last + every - Self.day + Self.slack))
  }

  /// The first moment of the time of day that is later than a moment.
  private func firstDue(after moment: Int64) -> Int64 {
    var date = Self.floor(moment + offset(moment), Self.day) - 1
    while due(on: date) <= moment { date += 1 }
    return due(on: date)
  }

  /// The moment of the time of day on a date, in days since 1970. Where the clock shows it twice, the first; where it leaps over
  /// it, as long after the leap as it would have been after its beginning.
  private func due(on date: Int64) -> Int64 {
    let shown = date * Self.day + Int64(minuteOfDay ?? 0) * 60_000
    let (before, after) = (offset(shown - Self.day - Self.slack), offset(shown + Self.day + Self.slack))
    let real = [shown - before, shown - after].filter { $0 + offset($0) == shown }
    return real.min() ?? shown - before
  }

  private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// How much the machine's zone is ahead of UTC at a moment, both in milliseconds.
  package static func machineOffset(at moment: Int64) -> Int64 {
    var seconds = time_t(floor(moment, 1000))
    var local = tm()
    localtime_r(&seconds, &local)
    return Int64(local.tm_gmtoff) * 1000
  }
}

/// What of the backups in a folder is kept.
package struct BackupRetention: Sendable, Hashable {
  /// So many of the newest.
  package let last: Int
  /// The newest of each of so many days, of those that have one.
  package let daily: Int
  /// The newest of each of so many weeks, of those that have one. Weeks begin on Monday; days and weeks are those of UTC.
  package let weekly: Int

  package init(last: Int, daily: Int, weekly: Int) {
    self.last = last
    self.daily = daily
    self.weekly = weekly
  }

  /// The times of those to keep: always the newest, whatever the numbers say.
  ///
  /// - Parameter times: when each was made, in milliseconds since 1970.
  package func kept(of times: [Int64]) -> Set<Int64> {
    let newestFirst = times.sorted(by: >)
    var kept = Set(newestFirst.prefix(max(last, 1)))
    // 1970-01-01 was a Thursday.
    for (count, span, shift) in [
      (daily, BackupSchedule.day, Int64(0)), (weekly, 7 * BackupSchedule.day, 3 * BackupSchedule.day),
    ] {
      var spans: Set<Int64> = []
      for time in newestFirst where spans.count < count && spans.insert((time + shift) / span).inserted { kept.insert(time) }
    }
    return kept
  }
}

/// What scheduled backups are called: whose they are and when they were made. Nothing else in a folder is touched.
struct BackupName: Sendable, Hashable {
  private static let start = "doubloon-"
  static let ending = ".backup"

  /// The beginning of the store's identity.
  let store: String
  /// Milliseconds since 1970.
  let time: Int64

  init(store: String, time: Int64) {
    self.store = String(store.prefix(12))
    self.time = time
  }

  /// Reads ``text``; nil if a scheduled backup is not called that.
  init?(_ text: String) {
    guard text.hasPrefix(Self.start), text.hasSuffix(Self.ending) else { return nil }
    let parts = text.dropFirst(Self.start.count).dropLast(Self.ending.count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let time = CompactTime.milliseconds(parts[1]) else { return nil }
    self.init(store: String(parts[0]), time: time)
    guard self.text == text else { return nil }
  }

  /// `doubloon-3f2a9c01d4e5-20261124T033000.000Z.backup`.
  var text: String { "\(Self.start)\(store)-\(CompactTime.text(time))\(Self.ending)" }
}

/// A moment of UTC as files are named by it: `20261124T033000.000Z`, which sorts by time.
private enum CompactTime {
  static func text(_ milliseconds: Int64) -> String {
    CalendarTime(milliseconds: milliseconds).rfc3339.filter { $0 != "-" && $0 != ":" }
  }

  static func milliseconds(_ text: Substring) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 20 else { return nil }
    func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    return CalendarTime.milliseconds(
      rfc3339: "\(part(0..<4))-\(part(4..<6))-\(part(6..<11)):\(part(11..<13)):\(part(13..<20))")
  }
}
