import NIOCore

/// The `Date` header, kept as text for as long as its second lasts (RFC 9110 §6.6.1).
package struct DateHeader {
  private var second: Int64 = -1
  private var line: [UInt8] = []

  /// Takes the present time, in milliseconds since 1970.
  mutating func set(_ now: Int64) {
    let current = now / 1000
    guard current != second else { return }
    second = current
    line = Array("Date: \(Self.text(second: current))\r\n".utf8)
  }

  func write(to buffer: inout ByteBuffer) { buffer.writeBytes(line) }

  /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(second: Int64) -> String {
    let (days, rest) = (second / 86_400, second % 86_400)
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(days % 7)]
    let (year, month, day) = civil(days)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    return "\(weekday), \(two(day)) \(months[Int(month) - 1]) \(year) \(time) GMT"
  }

  private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

  /// The date of a day counted from 1970-01-01, after Howard Hinnant's `civil_from_days`.
  static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

/// A moment in sentences: `2026-07-30 18:00:05 UTC`.
package enum UTCText {
  /// - Parameter time: milliseconds since 1970, from 1970 on.
  package static func of(_ time: Int64) -> String {
    let seconds = max(time, 0) / 1000
    let (year, month, day) = DateHeader.civil(seconds / 86_400)
    let rest = seconds % 86_400
    return "\(year)-\(two(month))-\(two(day)) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) UTC"
  }

  private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
