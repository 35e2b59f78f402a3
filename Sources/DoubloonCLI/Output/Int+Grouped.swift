extension BinaryInteger {
  /// The digits in groups of three: `1,234,567`.
  var grouped: String {
    var digits = String(magnitude)
    var index = digits.endIndex
    while digits.distance(from: digits.startIndex, to: index) > 3 {
      index = digits.index(index, offsetBy: -3)
      digits.insert(",", at: index)
    }
    return (self < 0 ? "-" : "") + digits
  }

  /// So many bytes, in the unit that fits: `512 bytes`, `3.4 GB`.
  var byteText: String {
    let units = ["kB", "MB", "GB", "TB", "PB"]
    guard self >= 1000 else { return "\(self) bytes" }
    var (tenths, unit) = (Int64(clamping: self) / 100, 0)
    while tenths >= 10_000, unit < units.count - 1 { (tenths, unit) = (tenths / 1000, unit + 1) }
    return "\((tenths / 10).grouped).\(tenths % 10) \(units[unit])"
  }

  /// The number and its noun: `1 entry`, `2 entries`.
  func counted(_ one: String, _ many: String) -> String { "\(grouped) \(self == 1 ? one : many)" }
}
