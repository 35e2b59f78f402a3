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

  private static func digits(_ number: Int64, _ width: Int) -> String {
    let text = String(max(0, number))
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
