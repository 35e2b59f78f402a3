import StorageCore
import TreeModel

extension ConfigurationReader {
  /// A span of time such as `"30s"`, in milliseconds.
  func duration(_ key: String, range: ClosedRange<Int64>) -> Int64? {
    guard let text = text(key) else { return nil }
    let units: [(String, Int64)] = [("ms", 1), ("s", 1000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
    guard let (number, unit) = Self.split(text), let factor = units.first(where: { $0.0 == unit })?.1 else {
      report(key, message: "\"\(path(key))\" must be a span of time such as \"30s\", \"5min\" or \"12h\".")
      return nil
    }
    let (product, overflows) = number.multipliedReportingOverflow(by: factor)
    guard !overflows, range.contains(product) else {
      func words(_ milliseconds: Int64) -> String {
        let (name, factor) = units.last { milliseconds % $0.1 == 0 && milliseconds >= $0.1 } ?? units[0]
        return "\(milliseconds / factor)\(name)"
      }
      report(key, message: "\"\(path(key))\" must be \(words(range.lowerBound)) to \(words(range.upperBound)).")
      return nil
    }
    return product
  }

  /// A number of bytes: a number, or a text such as `"16MB"`.
  func size(_ key: String, range: ClosedRange<Int>) -> Int? {
    guard let value = value(key), case .string(let text) = value.content else { return integer(key, range: range) }
    let units = [("B", 1), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)]
    guard let (number, unit) = Self.split(text), let factor = units.first(where: { $0.0 == unit })?.1,
      number <= Int64(Int.max / factor)
    else {
      report(key, message: "\"\(path(key))\" must be a number of bytes, or a text such as \"16MB\".")
      return nil
    }
    let product = Int(number) * factor
    guard range.contains(product) else {
      report(key, message: "\"\(path(key))\" must be \(range.lowerBound) to \(range.upperBound) bytes.")
      return nil
    }
    return product
  }

  /// How often something may happen; `false` for "as often as one likes".
  ///
  /// - Returns: the default where nothing is said, nil where there is no limit.
  func rate(_ key: String, default fallback: RateLimit?) -> RateLimit? {
    guard let value = value(key) else { return fallback }
    if case .bool(false) = value.content { return nil }
    if case .string(let text) = value.content, let limit = RateLimit(parsing: text) { return limit }
    report(
      key, message: "\"\(path(key))\" must be a rate such as \"100/s\", \"20/min\" or \"5/h burst 20\", or false for none.")
    return fallback
  }

  /// An `https` address, without a query and a fragment.
  func address(_ key: String) -> String? {
    guard let url = text(key) else { return nil }
    let isAddress =
      url.hasPrefix("https://") && url.utf8.count > 8 && url.utf8.count <= 1024
      && url.utf8.allSatisfy { (0x21..<0x7F).contains($0) && !"?#\"\\".utf8.contains($0) }
    guard isAddress else {
      report(key, message: "\"\(path(key))\" must be an address that begins with https://, without ? and #.")
      return nil
    }
    return url
  }

  /// Digits, and the letters behind them.
  private static func split(_ text: String) -> (Int64, String)? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int64(digits) else { return nil }
    return (number, String(text.dropFirst(digits.count).drop { $0 == " " }))
  }
}

/// Something that must not be seen: however it is printed, it does not show.
struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The secret itself, to send or compare it.
  let revealed: String

  init(_ text: String) {
    revealed = text
  }

  var description: String { "(secret)" }
  var debugDescription: String { "(secret)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
