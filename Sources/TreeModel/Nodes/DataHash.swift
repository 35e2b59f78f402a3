import Crypto
import TextFormats

/// One way of computing data hashes.
struct DataHash {
  enum Variant: CaseIterable {
    /// As specified.
    case exact
    /// JavaScript's exponent of numbers close to powers of two is one off.
    case javaScriptExponent
    /// iOS takes the children in key order when all of them have priorities.
    case keyOrder
  }

  let variant: Variant

  func text(of node: TreeNode) -> String {
    var hashed: [UInt8] = []
    if let priority = node.priority {
      hashed.append(contentsOf: "priority:".utf8)
      append(priority, to: &hashed)
      hashed.append(UInt8(ascii: ":"))
    }
    switch node.content {
    case .absent: return ""
    case .leaf(let scalar): append(scalar, to: &hashed)
    case .map(let map):
      for entry in ordered(map) {
        hashed.append(UInt8(ascii: ":"))
        hashed.append(contentsOf: entry.key.text.utf8)
        hashed.append(UInt8(ascii: ":"))
        hashed.append(contentsOf: text(of: entry.node).utf8)
      }
    }
    return Self.digest(hashed)
  }

  /// SHA-1 in base64.
  static func digest(_ hashed: [UInt8]) -> String {
    Base64.encode(Insecure.SHA1.hash(data: hashed), as: .standard)
  }

  private func ordered(_ map: TreeMap) -> [TreeMap.Entry] {
    let prioritised = map.count { $0.node.priority != nil }
    if prioritised == 0 || (variant == .keyOrder && prioritised == map.count) { return Array(map) }
    return map.sorted(by: NodeOrder.priority.precedes)
  }

  private func append(_ scalar: Scalar, to hashed: inout [UInt8]) {
    switch scalar {
    case .bool(let value): hashed.append(contentsOf: (value ? "boolean:true" : "boolean:false").utf8)
    case .int(let value): append(Double(value), to: &hashed)
    case .double(let value): append(value, to: &hashed)
    case .string(let value):
      hashed.append(contentsOf: "string:".utf8)
      hashed.append(contentsOf: value.utf8)
    }
  }

  private func append(_ number: Double, to hashed: inout [UInt8]) {
    hashed.append(contentsOf: "number:".utf8)
    let bits = variant == .javaScriptExponent ? JavaScriptDouble.bitPattern(number) : number.bitPattern
    for shift in stride(from: 60, through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: bits >> UInt64(shift)) & 0x0F
      hashed.append(digit < 10 ? digit + 0x30 : digit + 87)
    }
  }
}

/// The IEEE-754 bits of a number as the JavaScript client computes them.
///
/// That client takes the exponent to be `floor(Math.log(v) / Math.LN2)`, which for some numbers beside a power of two is
/// one too high or too low, and lets the fraction overflow. To accept what it sends, the same arithmetic is done here, down
/// the logarithm (fdlibm's, which V8 uses).
enum JavaScriptDouble {
  static func bitPattern(_ value: Double) -> UInt64 {
    let magnitude = value.magnitude
    guard magnitude.isNormal else { return value.bitPattern }
    let exponent = floorOfLog2(magnitude) ?? Int(magnitude.exponent)
    let biased = UInt64(truncatingIfNeeded: exponent + 1023) & 0x7FF
    return (value.sign == .minus ? 1 << 63 : 0) | biased << 52 | fraction(magnitude, exponent: exponent)
  }

  private static func fraction(_ magnitude: Double, exponent: Int) -> UInt64 {
    // Below 2^-971 the client's power of two is infinite, and the bits of infinity come out as zeros.
    guard exponent >= -971 else { return 0 }
    let scaled = magnitude * Double(sign: .plus, exponent: 52 - exponent, significand: 1) - 0x1p52
    let floor = scaled.rounded(.down)
    let rounded = Int64(scaled - floor >= 0.5 ? floor + 1 : floor)
    // What lies outside the 52 bits falls off, and a negative fraction wraps round: so does the client's bit loop.
    return UInt64(bitPattern: rounded) & 0x000F_FFFF_FFFF_FFFF
  }

  /// `floor(Math.log(v) / Math.LN2)`, where it may differ from the true exponent; nil elsewhere.
  private static func floorOfLog2(_ value: Double) -> Int? {
    // v = (1 + f) · 2^k with f around zero. Unless f is tiny, no rounding carries the quotient over an integer.
    var k = Int(value.exponent)
    var mantissa = value.significand
    if mantissa > 1.5 {
      mantissa /= 2
      k += 1
    }
    let f = mantissa - 1
    guard abs(f) < 0x1p-20 else { return nil }
    let quotient = logarithm(f: f, k: Double(k)) / 0.6931471805599453
    return min(Int(quotient.rounded(.down)), 1023)
  }

  /// fdlibm's `log((1 + f) · 2^k)` for |f| < 2^-20.
  private static func logarithm(f: Double, k: Double) -> Double {
    let ln2High = 6.93147180369123816490e-01
    let ln2Low = 1.90821492927058770002e-10
    if f == 0 { return k * ln2High + k * ln2Low }
    let r = f * f * (0.5 - 0.33333333333333333 * f)
    return k == 0 ? f - r : k * ln2High - ((r - k * ln2Low) - f)
  }
}
