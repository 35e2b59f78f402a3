import Testing
import TextFormats

@testable import Backups

@Suite("When backups are due, and which are kept")
struct ScheduleTests {
  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 24 * hour

  /// Milliseconds of a moment of UTC.
  private static func utc(_ text: String) -> Int64 {
    CalendarTime.milliseconds(rfc3339: text + ":00Z") ?? .min
  }

  /// Central Europe in 2026: an hour ahead of UTC, two from 29 March to 25 October, both at 01:00 UTC.
  private static let berlin: @Sendable (Int64) -> Int64 = { moment in
    (utc("2026-03-29T01:00")..<utc("2026-10-25T01:00")).contains(moment) ? 2 * hour : hour
  }

  @Test("without a time of day: at once, then whenever the time has passed; what was missed is made up for once")
  func intervals() {
    let schedule = BackupSchedule(every: Self.hour)
    #expect(schedule.next(after: nil, now: 5) == 5)
    #expect(schedule.next(after: 100, now: 200) == 100 + Self.hour)
    #expect(schedule.next(after: 0, now: 50 * Self.hour) == 50 * Self.hour)
    // The clock was set back behind the last one: it counts from now, and not from a time that is still to come.
    #expect(schedule.next(after: 90 * Self.hour, now: 10 * Self.hour) == 11 * Self.hour)
  }

  /// The last one, now, and when the next is due; all at 02:30 by the clock of Berlin.
  static let rows: [(String?, String, String)] = [
    // The first waits for its time.
    (nil, "2026-01-10T12:00", "2026-01-11T01:30"), (nil, "2026-01-10T01:00", "2026-01-10T01:30"),
    ("2026-01-10T01:30", "2026-01-10T01:31", "2026-01-11T01:30"),
    // 02:30 does not exist on 29 March: an hour and a half after 01:00 it is 03:30.
    ("2026-03-28T01:30", "2026-03-28T02:00", "2026-03-29T01:30"), ("2026-03-29T01:30", "2026-03-29T01:31", "2026-03-30T00:30"),
    // It comes twice on 25 October: the first time counts, and the second is no other.
    ("2026-10-24T00:30", "2026-10-24T01:00", "2026-10-25T00:30"), ("2026-10-25T00:30", "2026-10-25T00:31", "2026-10-26T01:30"),
    ("2026-10-25T00:30", "2026-10-25T01:29", "2026-10-26T01:30"),
    // The machine was off for three days: once, at once, and then at the usual time.
    ("2026-01-10T01:30", "2026-01-13T09:00", "2026-01-13T09:00"), ("2026-01-13T09:00", "2026-01-13T09:01", "2026-01-14T01:30"),
    // The clock leapt ahead and back: at the next usual time.
    ("2027-06-01T00:30", "2026-01-10T12:00", "2026-01-11T01:30"),
  ]

  @Test("at a time of day, when clocks are moved and machines are off", arguments: rows)
  func daily(last: String?, now: String, due: String) {
    let schedule = BackupSchedule(every: Self.day, minuteOfDay: 150, offset: Self.berlin)
    let found = schedule.next(after: last.map(Self.utc), now: Self.utc(now))
    #expect(found == Self.utc(due), "\(CalendarTime(milliseconds: found).rfc3339)")
  }

  @Test("a year of days and of weeks at a time of day, each once, whatever the clocks do")
  func year() {
    for (every, count) in [(Self.day, 365), (7 * Self.day, 52)] {
      for minute in [0, 119, 150, 180, 1439] {
        let schedule = BackupSchedule(every: every, minuteOfDay: minute, offset: Self.berlin)
        var now = Self.utc("2026-01-01T12:00")
        var last: Int64?
        var made: [Int64] = []
        while made.count < count {
          now = schedule.next(after: last, now: now)
          // It takes a while, and is noted as of its beginning.
          last = now
          made.append(now)
          now += 5000
        }
        for (one, next) in zip(made, made.dropFirst()) {
          #expect((every - Self.hour...every + Self.hour).contains(next - one), "\(every) \(minute)")
        }
      }
    }
  }

  /// Days before the last at which there is one, what is kept (last, daily, weekly), and which days stay.
  static let retentions: [([Int], [Int], [Int])] = [
    ([0], [1, 0, 0], [0]), ([0, 1, 2], [1, 0, 0], [0]), ([0, 1, 2, 3], [3, 0, 0], [0, 1, 2]),
    (Array(0..<20), [1, 7, 0], Array(0..<7)),
    // The last was on a Wednesday: Sundays end the weeks before.
    (Array(0..<30), [1, 0, 4], [0, 3, 10, 17]), (Array(0..<30), [2, 3, 2], [0, 1, 2, 3]),
    // Days without one do not count.
    ([0, 5, 9, 20], [1, 3, 0], [0, 5, 9]), ([], [1, 1, 1], []),
    // Whatever the numbers say, the newest stays.
    ([0, 1], [0, 0, 0], [0]),
  ]

  @Test("what is kept of a folder", arguments: retentions)
  func retention(days: [Int], keep: [Int], stay: [Int]) {
    let last = Self.utc("2026-11-25T03:30")
    let times = days.map { last - Int64($0) * Self.day }
    let kept = BackupRetention(last: keep[0], daily: keep[1], weekly: keep[2]).kept(of: times.reversed())
    #expect(kept == Set(stay.map { last - Int64($0) * Self.day }))
  }

  @Test("of several on one day the newest stands for the day")
  func sameDay() {
    let noon = Self.utc("2026-11-25T12:00")
    let kept = BackupRetention(last: 1, daily: 2, weekly: 0).kept(of: [
      noon, noon - Self.hour, noon - Self.day, noon - 25 * Self.hour,
    ])
    #expect(kept == [noon, noon - Self.day])
  }

  @Test("names are read as they are written, and nothing else is taken for one")
  func names() {
    let name = BackupName(store: "3f2a9c01d4e5aaaa", time: Self.utc("2026-11-24T03:30") + 7)
    #expect(name.text == "doubloon-3f2a9c01d4e5-20261124T033000.007Z.backup")
    #expect(BackupName(name.text) == name)
    let others = [
      "doubloon-monday.backup", "doubloon-3f2a9c01d4e5-20261124T033000.007Z.backup.partial", "doubloon.db", ".backup",
      "doubloon-3f2a9c01d4e5-20261324T033000.007Z.backup", "doubloon-3f2a9c01d4e5-20261124T033000Z.backup", "",
      "doubloon-3f-2a9c01d4e5-20261124T033000.007Z.backup", "copy of doubloon-3f2a9c01d4e5-20261124T033000.007Z.backup",
    ]
    for text in others { #expect(BackupName(text) == nil, "\(text)") }
    #expect(ScheduledBackups.filled("a{name}b{name}", name: "x") == "axbx")
    #expect(ScheduledBackups.filled("{nam}", name: "x") == "{nam}")
  }
}
