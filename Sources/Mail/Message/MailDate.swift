/// Moments as headers write them: `Sun, 22 Nov 2026 02:20:05 +0000` (RFC 5322 §3.3).
enum MailDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Parameter time: milliseconds since 1970; before it counts as it.
  static func text(_ time: Int64) -> String {
    let seconds = max(0, time / 1000)
    let day = Int(seconds / 86_400)
    let rest = Int(seconds % 86_400)
    // Counted from 1 March of the year 0, so that the day of a leap year comes last.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let date = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = (monthFromMarch + 2) % 12
    let year = era * 400 + yearOfEra + (month < 2 ? 1 : 0)
    return "\(days[day % 7]), \(two(date)) \(months[month]) \(year) "
      + "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) +0000"
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
