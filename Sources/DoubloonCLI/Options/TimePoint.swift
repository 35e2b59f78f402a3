import AdminClient
import AdminModel
import ArgumentParser
import Glibc
import TextFormats

/// A moment, as commands read and print it.
struct TimePoint: Sendable, Hashable, CustomStringConvertible {
  /// Milliseconds since 1970.
  let milliseconds: Int64

  /// The system's clock.
  static var now: TimePoint {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return TimePoint(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// RFC 3339 in UTC, with milliseconds: `2026-07-30T09:15:00.000Z`.
  var description: String { CalendarTime(milliseconds: milliseconds).rfc3339 }
}

extension TimePoint {
  /// How times are written, for help texts.
  static let forms = "12h, 30m, 7d, yesterday, 2026-07-30, \"2026-07-30 18:00\" or 2026-07-30T18:00:00Z"

  /// Reads a time as people write it.
  ///
  /// | Text | Meaning |
  /// |---|---|
  /// | `2026-07-30T18:00:00Z`, `…+02:00` | RFC 3339 |
  /// | `2026-07-30`, `2026-07-30 18:00`, `2026-07-30T18:00:30` | the time of this machine's zone |
  /// | `now`, `today`, `yesterday` | now; the midnight before now; the one before that |
  /// | `90s`, `30m`, `12h`, `7d`, `2w` | that long ago |
  ///
  /// - Returns: nil if it is none of these, or no such day or hour exists.
  init?(parsing text: String, now: TimePoint) {
    switch text.lowercased() {
    case "now": self = now
    case "today": self = Self.midnight(before: now, days: 0)
    case "yesterday": self = Self.midnight(before: now, days: 1)
    default:
      guard let point = Self.ago(text, now: now) ?? Self.calendar(text) else { return nil }
      self = point
    }
  }

  /// For the parser of the command line.
  init(argument text: String) throws {
    guard let point = TimePoint(parsing: text, now: .now) else {
      throw ValidationError("write a time as \(Self.forms).")
    }
    self = point
  }

  private static func ago(_ text: String, now: TimePoint) -> TimePoint? {
    let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000]
    guard let last = text.last, let unit = units[last], let count = digits(text.dropLast()) else { return nil }
    let (span, overflow) = count.multipliedReportingOverflow(by: unit)
    guard !overflow, span <= now.milliseconds else { return nil }
    return TimePoint(milliseconds: now.milliseconds - span)
  }

  private static func midnight(before now: TimePoint, days: Int32) -> TimePoint {
    var seconds = time_t(now.milliseconds / 1000)
    var local = tm()
    localtime_r(&seconds, &local)
    return TimePoint(
      milliseconds: seconds1970(local.tm_year, month: local.tm_mon, day: local.tm_mday - days, hour: 0, minute: 0, second: 0)
        * 1000)
  }

  /// A date, perhaps a time of day, perhaps an offset.
  private static func calendar(_ text: String) -> TimePoint? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = digits(text.prefix(4)), let month = digits(text.dropFirst(5).prefix(2)),
      let day = digits(text.dropFirst(8).prefix(2)), isDate(year, month: month, day: day)
    else { return nil }
    guard bytes.count > 10 else { return local(year, month: month, day: day, seconds: 0, fraction: 0) }
    guard [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(bytes[10]) else { return nil }
    var rest = text.dropFirst(11)
    guard let seconds = clock(&rest), let fraction = fraction(&rest) else { return nil }
    if rest.isEmpty { return local(year, month: month, day: day, seconds: seconds, fraction: fraction) }
    guard let offset = offset(rest) else { return nil }
    let days = CalendarTime.daysSince1970(year: Int(year), month: Int(month), day: Int(day))
    return TimePoint(milliseconds: (Int64(days) * 86_400 + seconds - offset) * 1000 + fraction)
  }

  private static func isDate(_ year: Int64, month: Int64, day: Int64) -> Bool {
    guard year >= 1970, (1...12).contains(month), day >= 1 else { return false }
    let date = (Int(year), Int(month), Int(day))
    return CalendarTime.date(daysSince1970: CalendarTime.daysSince1970(year: date.0, month: date.1, day: date.2)) == date
  }

  /// Takes `18:00` or `18:00:30`; the seconds of the day.
  private static func clock(_ rest: inout Substring) -> Int64? {
    guard let hour = digits(rest.prefix(2)), hour < 24, rest.dropFirst(2).first == ":",
      let minute = digits(rest.dropFirst(3).prefix(2)), minute < 60
    else { return nil }
    rest = rest.dropFirst(5)
    guard rest.first == ":" else { return hour * 3600 + minute * 60 }
    guard let second = digits(rest.dropFirst().prefix(2)), second < 60 else { return nil }
    rest = rest.dropFirst(3)
    return hour * 3600 + minute * 60 + second
  }

  /// Takes `.125`; milliseconds, further digits are dropped.
  private static func fraction(_ rest: inout Substring) -> Int64? {
    guard rest.first == "." else { return 0 }
    let digits = rest.dropFirst().prefix { ("0"..."9").contains($0) }
    guard !digits.isEmpty else { return nil }
    rest = rest[digits.endIndex...]
    return Int64((digits + "000").prefix(3))
  }

  /// `Z`, `+02:00`; in seconds.
  private static func offset(_ rest: Substring) -> Int64? {
    if rest == "Z" || rest == "z" { return 0 }
    guard rest.utf8.count == 6, let sign = rest.first, sign == "+" || sign == "-" else { return nil }
    var time = rest.dropFirst()
    guard let seconds = clock(&time), time.isEmpty else { return nil }
    return sign == "-" ? -seconds : seconds
  }

  private static func local(_ year: Int64, month: Int64, day: Int64, seconds: Int64, fraction: Int64) -> TimePoint {
    let start = seconds1970(
      Int32(year - 1900), month: Int32(month - 1), day: Int32(day), hour: Int32(seconds / 3600),
      minute: Int32(seconds / 60 % 60), second: Int32(seconds % 60))
    return TimePoint(milliseconds: start * 1000 + fraction)
  }

  /// The C library knows the zone, and what a day before the first of a month is.
  private static func seconds1970(
    _ year: Int32, month: Int32, day: Int32, hour: Int32, minute: Int32, second: Int32
  ) -> Int64 {
    var local = tm()
    local.tm_year = year
    local.tm_mon = month
    local.tm_mday = day
    local.tm_hour = hour
    local.tm_min = minute
    local.tm_sec = second
    local.tm_isdst = -1
    return Int64(mktime(&local))
  }

  /// Decimal digits and nothing else.
  private static func digits(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text)
  }
}

/// Between which moments something is wanted. Both moments count, for every command.
struct TimeSpan: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only since then, that moment included: \(TimePoint.forms).", valueName: "time"),
    transform: TimePoint.init(argument:))
  var since: TimePoint?

  @Option(help: ArgumentHelp("Only until then, that moment included.", valueName: "time"), transform: TimePoint.init(argument:))
  var until: TimePoint?

  /// The first moment, as requests have it.
  var from: Timestamp? { since.map { Timestamp($0.milliseconds) } }
  /// The last moment, as requests have it.
  var through: Timestamp? { until.map { Timestamp($0.milliseconds) } }
}
