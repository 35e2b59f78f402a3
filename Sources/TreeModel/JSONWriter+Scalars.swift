extension JSONWriter {
  /// Prints `null`.
  public mutating func null() { raw("null") }

  /// Prints `true` or `false`.
  public mutating func bool(_ value: Bool) { value ? raw("true") : raw("false") }

  /// Prints a leaf's value.
  public mutating func scalar(_ value: Scalar) {
    switch value {
    case .bool(let value): bool(value)
    case .int(let value): int(value)
    case .double(let value): double(value)
    case .string(let value): string(value)
    }
  }

  /// Prints all digits, also beyond 2^53, where JavaScript would round.
  public mutating func int(_ value: Int64) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var at = 20
      repeat {
        at -= 1
        digits[at] = UInt8(truncatingIfNeeded: rest % 10) &+ 0x30
        rest /= 10
      } while rest != 0
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[at..<20]))
    }
  }

  /// Prints the shortest digits that read back as the same number, in JavaScript's notation: `1e+21`, `1.5e-7`, `100`.
  ///
  /// Infinities and NaN, which JSON lacks, become `null`; -0 becomes `0`.
  public mutating func double(_ value: Double) {
    guard value.isFinite else { return null() }
    if abs(value) < 9_007_199_254_740_992, let integer = Int64(exactly: value) { return int(integer) }
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    let (digits, point) = Self.decimal(value.magnitude)
    switch point {
    case digits.count...21:
      bytes.append(contentsOf: digits)
      bytes.append(contentsOf: repeatElement(0x30, count: point - digits.count))
    case 1..<digits.count:
      bytes.append(contentsOf: digits[..<point])
      bytes.append(UInt8(ascii: "."))
      bytes.append(contentsOf: digits[point...])
    case -5...0:
      raw("0.")
      bytes.append(contentsOf: repeatElement(0x30, count: -point))
      bytes.append(contentsOf: digits)
    default: exponential(digits, exponent: point - 1)
    }
  }

  private mutating func exponential(_ digits: [UInt8], exponent: Int) {
    bytes.append(digits[0])
    if digits.count > 1 {
      bytes.append(UInt8(ascii: "."))
      bytes.append(contentsOf: digits[1...])
    }
    bytes.append(UInt8(ascii: "e"))
    if exponent > 0 { bytes.append(UInt8(ascii: "+")) }
    int(Int64(exponent))
  }

  /// The shortest digits d1…dk and the n for which the number is 0.d1…dk × 10^n; taken from Swift's own notation, which
  /// finds the same digits and only places them differently.
  private static func decimal(_ value: Double) -> (digits: [UInt8], point: Int) {
    var digits: [UInt8] = []
    var fraction: Int?
    var exponent = 0
    let text = Array(value.description.utf8)
    for (i, byte) in text.enumerated() {
      if byte == UInt8(ascii: ".") {
        fraction = digits.count
      } else if byte == UInt8(ascii: "e") {
        exponent = Int(String(decoding: text[(i + 1)...], as: UTF8.self)) ?? 0
        break
      } else {
        digits.append(byte)
      }
    }
    var point = (fraction ?? digits.count) + exponent
    while digits.last == 0x30, digits.count > 1 { digits.removeLast() }
    let zeros = digits.prefix { $0 == 0x30 }.count
    digits.removeFirst(zeros)
    point -= zeros
    return (digits, point)
  }

  /// Prints a text in quotes; only what JSON demands is escaped, in JavaScript's spelling.
  public mutating func string(_ value: String) {
    var value = value
    bytes.append(UInt8(ascii: "\""))
    value.withUTF8 { utf8 in
      var start = 0
      for i in 0..<utf8.count {
        let byte = utf8[i]
        if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<i]))
        escape(byte)
        start = i + 1
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): raw("\\\"")
    case UInt8(ascii: "\\"): raw("\\\\")
    case 0x08: raw("\\b")
    case 0x09: raw("\\t")
    case 0x0A: raw("\\n")
    case 0x0C: raw("\\f")
    case 0x0D: raw("\\r")
    default:
      raw(byte < 0x10 ? "\\u000" : "\\u001")
      let digit = byte & 0x0F
      bytes.append(digit < 10 ? digit + 0x30 : digit + 87)
    }
  }
}
