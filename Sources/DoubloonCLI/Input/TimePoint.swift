import Glibc

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
  var description: String {
    let days = floorDivide(milliseconds, 86_400_000)
    let rest = milliseconds - days * 86_400_000
    let (year, month, day) = Self.date(daysSince1970: days)
    let clock = "\(pad(rest / 3_600_000, 2)):\(pad(rest / 60_000 % 60, 2)):\(pad(rest / 1000 % 60, 2)).\(pad(rest % 1000, 3))"
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(clock)Z"
  }

  /// The days from 1970-01-01 to a date of the Gregorian calendar.
  ///
  /// Years begin in March here, so that the leap day comes last (Hinnant, "chrono-compatible low-level date algorithms").
  static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = floorDivide(year, 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The date of a day; the inverse of ``daysSince1970(year:month:day:)``.
  static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}

/// Division that rounds down, also below zero.
private func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
  a / b - (a % b < 0 ? 1 : 0)
}

/// Digits with zeros before them.
private func pad(_ value: Int64, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
