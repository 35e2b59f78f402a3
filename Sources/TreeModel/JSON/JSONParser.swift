/// Reads JSON (RFC 8259, strictly) straight from bytes.
///
/// Recursive descent that allocates nothing but the values; nesting is bounded, so no input can exhaust the stack. Integers
/// within Int64 are exact, longer ones become doubles, and a number beyond a double's range is an error
/// rather than an infinity. Bad UTF-8 and lone surrogates are refused.
public struct JSONParser: ~Copyable {
  private let bytes: UnsafePointer<UInt8>
  private let count: Int
  private let depthMax: Int
  private let replacesLoneSurrogates: Bool
  private var at = 0
  private var depth = 0
  private var valuesLeft: Int

  private init(
    bytes: UnsafePointer<UInt8>, count: Int, depthMax: Int, valuesMax: Int, replacesLoneSurrogates: Bool
  ) {
    self.bytes = bytes
    self.count = count
    self.depthMax = depthMax
    valuesLeft = valuesMax
    self.replacesLoneSurrogates = replacesLoneSurrogates
  }

  /// Reads one value that fills the whole text, whitespace around it aside.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 text; only read during the call.
  ///   - depthMax: how many arrays and objects may stand inside each other.
  ///   - valuesMax: how many values there may be, arrays and objects among them: two bytes of text become a value of many.
  ///   - replacesLoneSurrogates: whether half of a surrogate pair, which JavaScript's strings can hold and UTF-8 cannot,
  ///     becomes U+FFFD instead of an error.
  /// - Throws: ``JSONError`` with the place of the first fault.
  public static func parse(
    _ bytes: UnsafeRawBufferPointer, depthMax: Int = 64, valuesMax: Int = .max, replacesLoneSurrogates: Bool = false
  ) throws(JSONError) -> JSON {
    guard let base = bytes.baseAddress, !bytes.isEmpty else { throw JSONError(offset: 0, reason: .empty) }
    var parser = JSONParser(
      bytes: base.assumingMemoryBound(to: UInt8.self), count: bytes.count, depthMax: depthMax,
      valuesMax: valuesMax, replacesLoneSurrogates: replacesLoneSurrogates)
    parser.skipSpace()
    if parser.at == parser.count { throw parser.jsonError(.empty) }
    let value = try parser.value()
    parser.skipSpace()
    if parser.at != parser.count { throw parser.jsonError(.trailingBytes) }
    return value
  }

  /// Reads one value that fills the whole text, whitespace around it aside.
  public static func parse(
    _ bytes: [UInt8], depthMax: Int = 64, valuesMax: Int = .max, replacesLoneSurrogates: Bool = false
  ) throws(JSONError) -> JSON {
    // A Result carries the typed error out of the closure.
    try bytes.withUnsafeBytes { buffer in
      Result { () throws(JSONError) -> JSON in
        try parse(buffer, depthMax: depthMax, valuesMax: valuesMax, replacesLoneSurrogates: replacesLoneSurrogates)
      }
    }.get()
  }

  /// Reads one value that fills the whole text, whitespace around it aside.
  public static func parse(_ text: String, depthMax: Int = 64) throws(JSONError) -> JSON {
    var text = text
    return try text.withUTF8 { buffer in
      Result { () throws(JSONError) -> JSON in try parse(UnsafeRawBufferPointer(buffer), depthMax: depthMax) }
    }.get()
  }

  @inline(__always)
  private borrowing func jsonError(_ reason: JSONError.Reason) -> JSONError { JSONError(offset: at, reason: reason) }

  @inline(__always)
  private mutating func skipSpace() {
    while at < count {
      let byte = bytes[at]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      at &+= 1
    }
  }

  private mutating func value() throws(JSONError) -> JSON {
    skipSpace()
    guard at < count else { throw jsonError(.unexpectedEnd) }
    guard valuesLeft > 0 else { throw jsonError(.tooManyValues) }
    valuesLeft &-= 1
    switch bytes[at] {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", value: .bool(true))
    case UInt8(ascii: "f"): return try literal("false", value: .bool(false))
    case UInt8(ascii: "n"): return try literal("null", value: .null)
    default: return try number()
    }
  }

  private mutating func literal(_ word: StaticString, value: JSON) throws(JSONError) -> JSON {
    for i in 0..<word.utf8CodeUnitCount {
      guard at < count else { throw jsonError(.unexpectedEnd) }
      guard bytes[at] == word.utf8Start[i] else { throw jsonError(.unexpectedCharacter) }
      at &+= 1
    }
    return value
  }

  private mutating func members() throws(JSONError) -> [JSON.Member] {
    guard try open(closing: UInt8(ascii: "}")) else { return [] }
    var members: [JSON.Member] = []
    repeat {
      skipSpace()
      guard at < count else { throw jsonError(.unexpectedEnd) }
      guard bytes[at] == UInt8(ascii: "\"") else { throw jsonError(.unexpectedCharacter) }
      let key = try string()
      skipSpace()
      guard at < count else { throw jsonError(.unexpectedEnd) }
      guard bytes[at] == UInt8(ascii: ":") else { throw jsonError(.unexpectedCharacter) }
      at &+= 1
      members.append(JSON.Member(key: key, value: try value()))
    } while try continues(closing: UInt8(ascii: "}"))
    return members
  }

  private mutating func elements() throws(JSONError) -> [JSON] {
    guard try open(closing: UInt8(ascii: "]")) else { return [] }
    var elements: [JSON] = []
    repeat { elements.append(try value()) } while try continues(closing: UInt8(ascii: "]"))
    return elements
  }

  /// Passes the opening bracket; false if the closing one follows at once.
  private mutating func open(closing: UInt8) throws(JSONError) -> Bool {
    guard depth < depthMax else { throw jsonError(.tooDeep) }
    depth &+= 1
    at &+= 1
    skipSpace()
    guard at < count, bytes[at] == closing else { return true }
    at &+= 1
    depth &-= 1
    return false
  }

  /// Passes the comma (true) or the closing bracket (false) after an element.
  private mutating func continues(closing: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard at < count else { throw jsonError(.unexpectedEnd) }
    let byte = bytes[at]
    guard byte == UInt8(ascii: ",") || byte == closing else { throw jsonError(.unexpectedCharacter) }
    at &+= 1
    if byte == closing { depth &-= 1 }
    return byte != closing
  }
}

extension JSONParser {
  private mutating func number() throws(JSONError) -> JSON {
    let start = at
    let negative = bytes[at] == UInt8(ascii: "-")
    if negative { at &+= 1 }
    guard at < count else { throw jsonError(.unexpectedEnd) }
    guard isDigit(bytes[at]) else { throw jsonError(negative ? .badNumber : .unexpectedCharacter) }
    var magnitude: UInt64 = 0
    var isInteger = true
    if bytes[at] == UInt8(ascii: "0") {
      at &+= 1
      if at < count, isDigit(bytes[at]) { throw jsonError(.badNumber) }
    } else {
      isInteger = integerDigits(&magnitude)
    }
    if at < count, bytes[at] == UInt8(ascii: ".") {
      isInteger = false
      at &+= 1
      try requireDigits()
    }
    if at < count, bytes[at] | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      at &+= 1
      if at < count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at &+= 1 }
      try requireDigits()
    }
    if isInteger, let value = Self.integer(magnitude, negative: negative) { return .int(value) }
    return try double(from: start)
  }

  /// Reads digits; false if they exceed 64 bits.
  private mutating func integerDigits(_ magnitude: inout UInt64) -> Bool {
    var fits = true
    while at < count, isDigit(bytes[at]) {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(bytes[at] &- 0x30))
      if overflow || carry { fits = false }
      magnitude = sum
      at &+= 1
    }
    return fits
  }

  private static func integer(_ magnitude: UInt64, negative: Bool) -> Int64? {
    guard negative else { return Int64(exactly: magnitude) }
    return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
  }

  private mutating func requireDigits() throws(JSONError) {
    let start = at
    while at < count, isDigit(bytes[at]) { at &+= 1 }
    if at == start { throw jsonError(.badNumber) }
  }

  private borrowing func double(from start: Int) throws(JSONError) -> JSON {
    let text = String(decoding: UnsafeBufferPointer(start: bytes + start, count: at - start), as: UTF8.self)
    guard let value = Double(text), value.isFinite else { throw JSONError(offset: start, reason: .numberOutOfRange) }
    return .double(value == 0 ? 0 : value)  // -0.0 becomes 0: the tree has one zero
  }

  @inline(__always)
  private borrowing func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }
}

extension JSONParser {
  private mutating func string() throws(JSONError) -> String {
    at &+= 1
    let start = at
    while at < count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\"") {
        let text = try validated(UnsafeBufferPointer(start: bytes + start, count: at - start))
        at &+= 1
        return text
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      if byte < 0x20 { throw jsonError(.controlCharacter) }
      at &+= 1
    }
    throw jsonError(.unexpectedEnd)
  }

  private borrowing func validated(_ utf8: UnsafeBufferPointer<UInt8>) throws(JSONError) -> String {
    guard let text = String(utf8: UnsafeRawBufferPointer(utf8)) else { throw jsonError(.invalidUTF8) }
    return text
  }

  /// Goes on with a string in which a backslash was met: everything is copied from here on.
  private mutating func escapedString(from start: Int) throws(JSONError) -> String {
    var utf8 = Array(UnsafeBufferPointer(start: bytes + start, count: at - start))
    while at < count {
      let byte = bytes[at]
      if byte < 0x20 { throw jsonError(.controlCharacter) }
      at &+= 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = utf8.withUnsafeBytes({ String(utf8: $0) }) else { throw jsonError(.invalidUTF8) }
        return text
      case UInt8(ascii: "\\"): try escape(into: &utf8)
      default: utf8.append(byte)
      }
    }
    throw jsonError(.unexpectedEnd)
  }

  private mutating func escape(into utf8: inout [UInt8]) throws(JSONError) {
    guard at < count else { throw jsonError(.unexpectedEnd) }
    let byte = bytes[at]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): utf8.append(byte)
    case UInt8(ascii: "b"): utf8.append(0x08)
    case UInt8(ascii: "f"): utf8.append(0x0C)
    case UInt8(ascii: "n"): utf8.append(0x0A)
    case UInt8(ascii: "r"): utf8.append(0x0D)
    case UInt8(ascii: "t"): utf8.append(0x09)
    case UInt8(ascii: "u"):
      at &+= 1
      utf8.append(contentsOf: String(Character(try unicodeEscape())).utf8)
      return
    default: throw jsonError(.badEscape)
    }
    at &+= 1
  }

  /// Reads the digits of `\u`, and the second half of a surrogate pair with them.
  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let unit = try hexUnit()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    let behind = at
    if unit < 0xDC00, at + 1 < count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") {
      at &+= 2
      let low = try hexUnit()
      if (0xDC00..<0xE000).contains(low), let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) {
        return scalar
      }
    }
    guard replacesLoneSurrogates else { throw jsonError(.loneSurrogate) }
    at = behind
    return "\u{FFFD}"
  }

  private mutating func hexUnit() throws(JSONError) -> UInt32 {
    guard at + 4 <= count else { throw jsonError(.unexpectedEnd) }
    var unit: UInt32 = 0
    for _ in 0..<4 {
      let byte = bytes[at]
      let letter = byte | 0x20
      if isDigit(byte) {
        unit = unit << 4 | UInt32(byte &- 0x30)
      } else if letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "f") {
        unit = unit << 4 | UInt32(letter &- 87)
      } else {
        throw jsonError(.badEscape)
      }
      at &+= 1
    }
    return unit
  }
}
