/// Prints JSON into a growing buffer.
///
/// Numbers read exactly as JavaScript prints them. Values can be written whole (``write(_:)``) or piece by piece:
/// ``beginObject()``, ``key(_:)`` before each value, ``endObject()``; ``beginArray()``, ``element()`` before each value,
/// ``endArray()``. The writer puts commas and, in pretty mode, line breaks.
public struct JSONWriter: Sendable {
  /// What was printed so far: UTF-8.
  public var bytes: [UInt8] = []
  private let pretty: Bool
  private var depth = 0
  /// Whether the innermost open container has no member yet. One flag serves all: closing a container means that the
  /// one around it has a member.
  private var isFirst = true

  /// - Parameters:
  ///   - pretty: two spaces of indentation a level, one member a line.
  ///   - capacity: how many bytes to reserve.
  public init(pretty: Bool = false, capacity: Int = 256) {
    self.pretty = pretty
    bytes.reserveCapacity(capacity)
  }

  /// Prints a whole value.
  public mutating func write(_ json: JSON) {
    switch json {
    case .null: null()
    case .bool(let value): bool(value)
    case .int(let value): int(value)
    case .double(let value): double(value)
    case .string(let value): string(value)
    case .array(let elements):
      beginArray()
      for value in elements {
        element()
        write(value)
      }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        key(member.key)
        write(member.value)
      }
      endObject()
    }
  }

  /// Appends bytes as they are: they must be JSON that fits here.
  public mutating func raw(_ json: some Sequence<UInt8>) { bytes.append(contentsOf: json) }

  /// Appends a text as it is: it must be JSON that fits here.
  public mutating func raw(_ json: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
  }

  /// Opens an object.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }

  /// Closes the innermost container, an object.
  public mutating func endObject() { close(UInt8(ascii: "}")) }

  /// Opens an array.
  public mutating func beginArray() { open(UInt8(ascii: "[")) }

  /// Closes the innermost container, an array.
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Starts a member of the innermost object; its value comes next.
  public mutating func key(_ name: String) {
    element()
    string(name)
    bytes.append(UInt8(ascii: ":"))
    if pretty { bytes.append(UInt8(ascii: " ")) }
  }

  /// Starts an element of the innermost array; its value comes next.
  public mutating func element() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    breakLine()
  }

  private mutating func open(_ bracket: UInt8) {
    bytes.append(bracket)
    depth += 1
    isFirst = true
  }

  private mutating func close(_ bracket: UInt8) {
    depth -= 1
    if !isFirst { breakLine() }
    bytes.append(bracket)
    isFirst = false
  }

  private mutating func breakLine() {
    guard pretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}

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
