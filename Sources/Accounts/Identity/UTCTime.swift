/// Times as RFC 3339 writes them.
enum UTCTime {
  /// `2026-01-31T12:00:00.000Z`.
  ///
  /// - Parameter time: milliseconds since 1970.
  static func text(_ time: Int64) -> String {
    let seconds = time.quotientAndRemainder(dividingBy: 1000)
    let day = seconds.quotient / 86_400
    let second = seconds.quotient % 86_400
    // Howard Hinnant's civil calendar, with eras of 400 years that begin in March.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let date = [digits(year, 4), digits(month, 2), digits(dayOfYear - (153 * monthIndex + 2) / 5 + 1, 2)].joined(separator: "-")
    let clock = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }.joined(separator: ":")
    return "\(date)T\(clock).\(digits(seconds.remainder, 3))Z"
  }

  /// Reads ``text(_:)``, with or without a fraction; nil for anything else.
  ///
  /// - Returns: milliseconds since 1970.
  static func milliseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T") else { return nil }
    func number(_ range: Range<Int>) -> Int64? { Int64(String(decoding: bytes[range], as: UTF8.self)) }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), (1970...9999).contains(year), (1...12).contains(month),
      (1...31).contains(day), (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count > 20 {
      guard bytes[19] == UInt8(ascii: "."), let digits = number(20..<min(23, bytes.count - 1)), digits >= 0 else { return nil }
      fraction = digits * [100, 10, 1][min(bytes.count - 22, 2)]
    }
    // The same calendar backwards: years begin in March.
    let shiftedYear = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = shiftedYear * 365 + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400 + dayOfYear - 719_468
    return (days * 86_400 + hour * 3600 + minute * 60 + second) * 1000 + fraction
  }

  private static func digits(_ number: Int64, _ width: Int) -> String {
    let text = String(max(0, number))
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
