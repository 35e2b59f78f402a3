/// A moment by the calendar (UTC), to the second.
struct CivilTime {
  let year: Int
  let month: Int
  let day: Int
  let hour: Int
  let minute: Int
  let second: Int

  /// - Parameter milliseconds: since 1970; not negative.
  init(milliseconds: Int64) {
    let seconds = Int(milliseconds / 1000)
    hour = seconds / 3600 % 24
    minute = seconds / 60 % 60
    second = seconds % 60
    // Years that begin in March put the leap day last; 719,468 days lie between that calendar's start and 1970.
    let days = seconds / 86_400 + 719_468
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    month = shifted < 10 ? shifted + 3 : shifted - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}
