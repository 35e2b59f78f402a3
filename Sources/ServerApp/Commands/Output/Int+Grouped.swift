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

  /// The number and its noun: `1 entry`, `2 entries`.
  func counted(_ one: String, _ many: String) -> String { "\(grouped) \(self == 1 ? one : many)" }
}
