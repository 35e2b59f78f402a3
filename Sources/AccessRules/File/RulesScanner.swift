/// Reads the JSON of rules files, which may have `//` and `/* */` comments, and strings that go on over lines
/// (spec: rtdb-protocol §2, admin endpoints).
struct RulesScanner {
  /// Arrays and objects inside each other: a path has at most 32 keys, each an object; the rest is for what the checks of
  /// the structure will refuse.
  private static let nestingMax = 64

  private let bytes: [UInt8]
  private var at = 0
  /// The last place that was asked for.
  private var known = (offset: 0, line: 1, column: 1)

  init(_ source: RulesSource) {
    bytes = source.bytes
  }

  /// The file's one value.
  mutating func document() throws(RulesError) -> RulesValue {
    let value = try value(nesting: 0)
    try skipBlank()
    guard at == bytes.count else { throw fault("The rules end with their last \"}\"; remove what comes behind it.") }
    return value
  }

  // MARK: Places

  /// The place of a byte. Asked for in ascending order, all together cost one walk through the file.
  private mutating func position(_ offset: Int) -> RulesPosition {
    if offset < known.offset { known = (0, 1, 1) }
    while known.offset < offset {
      let byte = bytes[known.offset]
      known.offset += 1
      if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && peek(known.offset) != UInt8(ascii: "\n")) {
        known.line += 1
        known.column = 1
      } else if peek(known.offset).map({ $0 & 0xC0 != 0x80 }) ?? true {
        // A scalar ends where the next byte is no continuation.
        known.column += 1
      }
    }
    return RulesPosition(line: known.line, column: known.column)
  }

  /// What the file is no JSON for. Firebase's tools and test libraries look for the first two words.
  private mutating func fault(_ message: String, at offset: Int? = nil) -> RulesError {
    RulesError(at: position(min(offset ?? at, bytes.count)), "Parse error. \(message)")
  }

  private func peek(_ offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  // MARK: Between the values

  private mutating func skipBlank() throws(RulesError) {
    while let byte = peek(at) {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): at += 1
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(RulesError) {
    let start = at
    switch peek(at + 1) {
    case UInt8(ascii: "/"):
      while let byte = peek(at), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { at += 1 }
    case UInt8(ascii: "*"):
      at += 2
      while !(peek(at) == UInt8(ascii: "*") && peek(at + 1) == UInt8(ascii: "/")) {
        guard at < bytes.count else { throw fault("This comment does not end; close it with */.", at: start) }
        at += 1
      }
      at += 2
    default: throw fault("Unexpected \"/\"; a comment begins with // or /*.")
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek(at) == byte else { return false }
    at += 1
    return true
  }

  // MARK: Values

  private mutating func value(nesting: Int) throws(RulesError) -> RulesValue {
    try skipBlank()
    guard nesting <= Self.nestingMax else { throw fault("The rules are nested too deeply: a path has at most 32 keys.") }
    let place = position(at)
    let content: RulesValue.Content
    switch peek(at) {
    case UInt8(ascii: "{"): content = .object(try members(nesting: nesting))
    case UInt8(ascii: "["): content = .array(try elements(nesting: nesting))
    case UInt8(ascii: "\""): content = .string(try string())
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
      skipWord()
      content = .number
    case nil: throw fault("The rules end too early: a value is missing.")
    default: content = try word()
    }
    return RulesValue(content: content, position: place)
  }

  private mutating func skipWord() {
    while let byte = peek(at), byte.isWordByte { at += 1 }
  }

  private mutating func word() throws(RulesError) -> RulesValue.Content {
    let start = at
    skipWord()
    switch String(decoding: bytes[start..<at], as: UTF8.self) {
    case "true": return .bool(true, offset: start)
    case "false": return .bool(false, offset: start)
    case "null": return .null
    case let text:
      throw fault(
        "Expected a value: an object, or a rule as a string, true or false\(text.isEmpty ? "" : ", not \(text)").", at: start)
    }
  }

  private mutating func members(nesting: Int) throws(RulesError) -> [RulesValue.Member] {
    at += 1
    var members: [RulesValue.Member] = []
    try skipBlank()
    if take(UInt8(ascii: "}")) { return [] }
    while true {
      try skipBlank()
      guard peek(at) == UInt8(ascii: "\"") else { throw fault("Expected a key in double quotes.") }
      let place = position(at)
      let key = try string().text
      try skipBlank()
      guard take(UInt8(ascii: ":")) else { throw fault("Expected \":\" behind the key.") }
      members.append(RulesValue.Member(key: key, keyPosition: place, value: try value(nesting: nesting + 1)))
      try skipBlank()
      if take(UInt8(ascii: "}")) { return members }
      guard take(UInt8(ascii: ",")) else { throw fault("Expected \",\" or \"}\".") }
      // Firebase takes a comma behind the last one; its own guides have some.
      try skipBlank()
      if take(UInt8(ascii: "}")) { return members }
    }
  }

  private mutating func elements(nesting: Int) throws(RulesError) -> [RulesValue] {
    at += 1
    var elements: [RulesValue] = []
    try skipBlank()
    if take(UInt8(ascii: "]")) { return [] }
    while true {
      elements.append(try value(nesting: nesting + 1))
      try skipBlank()
      if take(UInt8(ascii: "]")) { return elements }
      guard take(UInt8(ascii: ",")) else { throw fault("Expected \",\" or \"]\".") }
      try skipBlank()
      if take(UInt8(ascii: "]")) { return elements }
    }
  }

  // MARK: Strings

  private mutating func string() throws(RulesError) -> RulesText {
    let start = at
    at += 1
    var text: [UInt8] = []
    var marks = [RulesText.Mark(offset: 0, source: at)]
    while let byte = peek(at) {
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return RulesText(text: String(decoding: text, as: UTF8.self), marks: marks)
      case UInt8(ascii: "\\"):
        try escape(into: &text)
        marks.append(RulesText.Mark(offset: text.count, source: at))
      default: text.append(byte)
      }
    }
    throw fault("This string does not end; close it with a double quote.", at: start)
  }

  private mutating func escape(into text: inout [UInt8]) throws(RulesError) {
    let start = at - 1
    guard let byte = peek(at) else { throw fault("This string does not end; close it with a double quote.", at: start) }
    at += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: Array(String(Character(try scalar(start))).utf8))
    default: throw fault("Unknown escape in a string; double a backslash that is meant as one.", at: start)
    }
  }

  /// The scalar of a `\u` escape; of a surrogate, together with its other half.
  private mutating func scalar(_ start: Int) throws(RulesError) -> Unicode.Scalar {
    var code = try codeUnit(start)
    if (0xD800..<0xDC00).contains(code), peek(at) == UInt8(ascii: "\\"), peek(at + 1) == UInt8(ascii: "u") {
      at += 2
      let low = try codeUnit(start)
      guard (0xDC00..<0xE000).contains(low) else { throw fault("Half of a surrogate pair in a string.", at: start) }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw fault("Half of a surrogate pair in a string.", at: start) }
    return scalar
  }

  private mutating func codeUnit(_ start: Int) throws(RulesError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = peek(at).flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
        throw fault("\\u needs four hexadecimal digits.", at: start)
      }
      code = code << 4 | UInt32(digit)
      at += 1
    }
    return code
  }
}

extension UInt8 {
  /// Whether the byte belongs to a word or a number outside of strings.
  fileprivate var isWordByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "$"):
      true
    default: false
    }
  }
}

/// The bytes of a rules file, with the places of its lines.
final class RulesSource: Sendable {
  let bytes: [UInt8]
  /// The offset of each line's first byte.
  private let lines: [Int]

  init(_ source: String) {
    var bytes = Array(source.utf8)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    var lines = [0]
    for (offset, byte) in bytes.enumerated() {
      let isLast = offset + 1 == bytes.count
      if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && (isLast || bytes[offset + 1] != UInt8(ascii: "\n"))) {
        lines.append(offset + 1)
      }
    }
    self.bytes = bytes
    self.lines = lines
  }

  /// The line and column of a byte. Costs a walk along its line.
  func position(of offset: Int) -> RulesPosition {
    let offset = min(max(offset, 0), bytes.count)
    var low = 0
    var high = lines.count
    while low < high {
      let middle = (low + high) / 2
      if lines[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    let column = bytes[lines[low - 1]..<offset].count { $0 & 0xC0 != 0x80 } + 1
    return RulesPosition(line: low, column: column)
  }
}

/// A string of a rules file: its text, and where each part of it stands in the file.
struct RulesText: Sendable {
  /// From this byte of the text on, text and file run side by side, until the next mark.
  struct Mark: Sendable {
    let offset: Int
    let source: Int
  }

  let text: String
  /// In ascending order; the first is at the text's beginning.
  let marks: [Mark]

  /// Where a byte of the text stands in the file.
  func source(of offset: Int) -> Int {
    let mark = marks.last { $0.offset <= offset } ?? marks[0]
    return mark.source + offset - mark.offset
  }
}

/// A JSON value of a rules file, with its place.
struct RulesValue {
  struct Member {
    let key: String
    let keyPosition: RulesPosition
    let value: RulesValue
  }

  enum Content {
    case string(RulesText)
    /// With the place of its first byte in the file.
    case bool(Bool, offset: Int)
    case number
    case null
    case array([RulesValue])
    case object([Member])
  }

  let content: Content
  let position: RulesPosition
}
