import TreeModel

/// Cuts the text of an expression into words.
struct ExpressionScanner {
  /// Longer marks before those that they begin with.
  private static let marks = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "**", "++", "--", "+=", "-=", "=>", "(", ")", "[", "]", "{", "}", ".",
    ",",
    "?", ":", "!", "<", ">", "+", "-", "*", "/", "%", "=", ";", "&", "|", "^", "~",
  ].map { Array($0.utf8) }

  let bytes: [UInt8]
  private(set) var at = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  mutating func next() throws(ExpressionError) -> ExpressionToken {
    while let byte = peek(), byte == 0x20 || (0x09...0x0D).contains(byte) { at += 1 }
    let start = at
    guard let byte = peek() else { return ExpressionToken(kind: .end, range: start..<start) }
    let kind: ExpressionToken.Kind
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): kind = .number(try number())
    case UInt8(ascii: ".") where peek(1).map { (48...57).contains($0) } ?? false: kind = .number(try number())
    case UInt8(ascii: "'"), UInt8(ascii: "\""): kind = .string(try string(quote: byte))
    case UInt8(ascii: "$"):
      at += 1
      skipName()
      kind = .variable(text(start..<at))
    case _ where byte.isNameByte:
      skipName()
      kind = .name(text(start..<at))
    default:
      guard let mark = Self.marks.first(where: { bytes[at...].starts(with: $0) }) else {
        throw ExpressionError(at: at, "Unexpected character \"\(character)\".")
      }
      at += mark.count
      kind = .mark(String(decoding: mark, as: UTF8.self))
    }
    return ExpressionToken(kind: kind, range: start..<at)
  }

  /// Reads a regular expression whose first slash was taken for a division.
  mutating func pattern(from start: Int) throws(ExpressionError) -> (pattern: Range<Int>, flags: String, end: Int) {
    at = start + 1
    var isInSet = false
    while let byte = peek(), byte != UInt8(ascii: "\n") {
      if byte == UInt8(ascii: "\\") {
        at += 1
      } else if byte == UInt8(ascii: "[") {
        isInSet = true
      } else if byte == UInt8(ascii: "]") {
        isInSet = false
      } else if byte == UInt8(ascii: "/"), !isInSet {
        let pattern = start + 1..<at
        at += 1
        let flags = at
        skipName()
        return (pattern, text(flags..<at), at)
      }
      at += 1
    }
    throw ExpressionError(at: start, "This regular expression does not end; close it with a slash.")
  }

  private func peek(_ offset: Int = 0) -> UInt8? { at + offset < bytes.count ? bytes[at + offset] : nil }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The character at hand, for a message.
  private var character: Character { String(decoding: bytes[at...].prefix(32), as: UTF8.self).first ?? " " }

  private mutating func skipName() {
    while let byte = peek(), byte.isNameByte || (48...57).contains(byte) { at += 1 }
  }

  private mutating func skipDigits() {
    while let byte = peek(), (48...57).contains(byte) { at += 1 }
  }

  private mutating func number() throws(ExpressionError) -> Scalar {
    let start = at
    skipDigits()
    var isWhole = true
    if peek() == UInt8(ascii: "."), !(peek(1).map(\.isNameByte) ?? false) {
      isWhole = false
      at += 1
      skipDigits()
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      isWhole = false
      at += 1
      if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { at += 1 }
      skipDigits()
    }
    if let byte = peek(), byte.isNameByte || byte == UInt8(ascii: "$") {
      throw ExpressionError(at: start, "Numbers are decimal: 5, 0.5 or 1e3.")
    }
    var digits = text(start..<at)
    if isWhole, let value = Int64(digits) { return .int(value) }
    if digits.utf8.last == UInt8(ascii: ".") { digits += "0" }
    if digits.utf8.first == UInt8(ascii: ".") { digits = "0" + digits }
    guard let value = Double(digits), value.isFinite else {
      throw ExpressionError(at: start, "\(digits.prefix(40)) is no number, or too large for one.")
    }
    return .number(value)
  }

  private mutating func string(quote: UInt8) throws(ExpressionError) -> String {
    let start = at
    at += 1
    var content: [UInt8] = []
    while let byte = peek() {
      at += 1
      switch byte {
      case quote: return String(decoding: content, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &content)
      case UInt8(ascii: "\n"): throw ExpressionError(at: start, "This string does not end on its line; close it with a quote.")
      default: content.append(byte)
      }
    }
    throw ExpressionError(at: start, "This string does not end; close it with a quote.")
  }

  private mutating func escape(into content: inout [UInt8]) throws(ExpressionError) {
    let start = at - 1
    guard let byte = peek() else { return }
    at += 1
    switch byte {
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "v"): content.append(0x0B)
    case UInt8(ascii: "0"): content.append(0x00)
    case UInt8(ascii: "x"): content += Array(String(Character(try scalar(digits: 2, from: start))).utf8)
    case UInt8(ascii: "u"): content += Array(String(Character(try scalar(digits: 4, from: start))).utf8)
    default: content.append(byte)
    }
  }

  /// The scalar of an escape; of a surrogate, together with its other half.
  private mutating func scalar(digits: Int, from start: Int) throws(ExpressionError) -> Unicode.Scalar {
    var code = try codeUnit(digits, from: start)
    if (0xD800..<0xDC00).contains(code), peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
      at += 2
      let low = try codeUnit(4, from: start)
      guard (0xDC00..<0xE000).contains(low) else { throw ExpressionError(at: start, "Half of a surrogate pair in a string.") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw ExpressionError(at: start, "Half of a surrogate pair in a string.") }
    return scalar
  }

  private mutating func codeUnit(_ digits: Int, from start: Int) throws(ExpressionError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<digits {
      guard let digit = peek().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
        throw ExpressionError(at: start, "This escape needs \(digits) hexadecimal digits.")
      }
      code = code << 4 | UInt32(digit)
      at += 1
    }
    return code
  }
}

extension UInt8 {
  /// Whether a name may have the byte; digits aside, it may begin with it.
  fileprivate var isNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

/// A word of an expression, with the bytes of the text that it takes.
struct ExpressionToken {
  enum Kind: Equatable {
    case number(Scalar)
    case string(String)
    /// A name, also `true`, `false` and `null`.
    case name(String)
    /// A path variable, with its `$`.
    case variable(String)
    /// An operator or a bracket.
    case mark(String)
    case end
  }

  let kind: Kind
  let range: Range<Int>
}

/// What is wrong with an expression, and at which byte of its text.
struct ExpressionError: Error {
  let offset: Int
  let message: String

  init(at offset: Int, _ message: String) {
    self.offset = offset
    self.message = message
  }
}
