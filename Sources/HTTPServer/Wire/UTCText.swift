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
