/// A moment of UTC by the Gregorian calendar, to the millisecond.
package struct CalendarTime: Sendable, Hashable {
  /// Such as 2026; the year before 1 is 0.
  package let year: Int
  /// 1 to 12.
  package let month: Int
  /// 1 to 31.
  package let day: Int
  /// 0 to 23.
  package let hour: Int
  /// 0 to 59.
  package let minute: Int
  /// 0 to 59: leap seconds do not occur.
  package let second: Int
  /// 0 to 999.
  package let millisecond: Int
  /// Days since Sunday: 0 to 6.
  package let weekday: Int

  /// - Parameter milliseconds: since 1970; negative before it.
  package init(milliseconds: Int64) {
    let (days, rest) = Self.floorDivide(Int(milliseconds), divisor: 86_400_000)
    (year, month, day) = Self.date(daysSince1970: days)
    hour = rest / 3_600_000
    minute = rest / 60_000 % 60
    second = rest / 1000 % 60
    millisecond = rest % 1000
    // 1970-01-01 was a Thursday.
    weekday = Self.floorDivide(days + 4, divisor: 7).remainder
  }

  /// The days from 1970-01-01 to a date. A day beyond its month's end counts on into the next month.
  ///
  /// Years begin in March here, so that the leap day comes last (Howard Hinnant, "chrono-compatible low-level date
  /// algorithms").
  package static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floorDivide(year, divisor: 400)
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The date of a day; the inverse of ``daysSince1970(year:month:day:)``.
  package static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = floorDivide(days + 719_468, divisor: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func floorDivide(_ value: Int, divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

// MARK: - Texts

extension CalendarTime {
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// RFC 3339 with milliseconds: `2026-01-31T12:00:00.000Z`.
  package var rfc3339: String { "\(date)T\(clock).\(Self.padded(millisecond, width: 3))Z" }

  /// For sentences: `2026-07-30 18:00:05 UTC`.
  package var readable: String { "\(date) \(clock) UTC" }

  /// The date of HTTP (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
  package var httpDate: String { "\(messageDate) GMT" }

  /// The date of mails (RFC 5322 §3.3): `Sun, 06 Nov 1994 08:49:37 +0000`.
  package var mailDate: String { "\(messageDate) +0000" }

  /// Reads ``rfc3339``, with or without a fraction, from 1970 to 9999.
  ///
  /// - Returns: milliseconds since 1970; nil for anything else.
  package static func milliseconds(rfc3339 text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T") else { return nil }
    func number(_ range: Range<Int>) -> Int? { Int(String(decoding: bytes[range], as: UTF8.self)) }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), (1970...9999).contains(year), (1...12).contains(month),
      (1...31).contains(day), (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
    else { return nil }
    var fraction = 0
    if bytes.count > 20 {
      guard bytes[19] == UInt8(ascii: "."), let digits = number(20..<min(23, bytes.count - 1)), digits >= 0 else { return nil }
      fraction = digits * [100, 10, 1][min(bytes.count - 22, 2)]
    }
    let days = daysSince1970(year: year, month: month, day: day)
    return Int64((days * 86_400 + hour * 3600 + minute * 60 + second) * 1000 + fraction)
  }

  private var date: String { "\(Self.padded(year, width: 4))-\(Self.padded(month, width: 2))-\(Self.padded(day, width: 2))" }
  private var clock: String {
    "\(Self.padded(hour, width: 2)):\(Self.padded(minute, width: 2)):\(Self.padded(second, width: 2))"
  }
  private var messageDate: String {
    "\(Self.weekdays[weekday]), \(Self.padded(day, width: 2)) \(Self.months[month - 1]) \(year) \(clock)"
  }

  private static func padded(_ number: Int, width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
