/// A value of a JSON file with comments, with its place: `//` and `/* */` comments and a comma behind the last member are
/// allowed, as in the files that people edit.
package struct CommentedJSON: Sendable {
  /// What a value is.
  package indirect enum Content: Sendable {
    case null
    case bool(Bool)
    /// The text as it is written, from its first digit or sign on; it may still be no number.
    case number(String)
    case string(Text)
    case array([CommentedJSON])
    /// In the order of the file. A key may occur twice, unless the dialect refuses that.
    case object([Member])
  }

  /// A member of an object.
  package struct Member: Sendable {
    /// Without its quotes and escapes.
    package let key: String
    /// Where the key begins.
    package let keyPosition: Position
    /// What the key stands for.
    package let value: CommentedJSON
  }

  /// A string without its quotes and escapes, with the place of each part of it in the file.
  package struct Text: Sendable, Hashable {
    /// From this byte of the text on, offsets in the text and in the file differ by a constant, until the next mark.
    package struct Mark: Sendable, Hashable {
      package let offset: Int
      package let source: Int

      package init(offset: Int, source: Int) {
        self.offset = offset
        self.source = source
      }
    }

    /// The text.
    package let text: String
    /// In ascending order; the first is at the text's beginning.
    package let marks: [Mark]

    package init(text: String, marks: [Mark]) {
      self.text = text
      self.marks = marks
    }

    /// The offset in the file of a byte of the text.
    package func source(of offset: Int) -> Int {
      let mark = marks.last { $0.offset <= offset } ?? marks[0]
      return mark.source + offset - mark.offset
    }
  }

  /// A place in a file: line and column from 1, the column in Unicode scalars.
  package struct Position: Sendable, Hashable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// What one kind of file allows and another does not.
  package struct Dialect: Sendable {
    /// How many arrays and objects may contain each other.
    package let nestingMax: Int
    /// Whether a string may go on over lines, and hold control characters.
    package let allowsControlCharacters: Bool
    /// Whether a key may occur in an object once only.
    package let refusesDuplicateKeys: Bool

    package init(nestingMax: Int, allowsControlCharacters: Bool, refusesDuplicateKeys: Bool) {
      self.nestingMax = nestingMax
      self.allowsControlCharacters = allowsControlCharacters
      self.refusesDuplicateKeys = refusesDuplicateKeys
    }
  }

  /// The value.
  package let content: Content
  /// Where it begins.
  package let position: Position
  /// Where it begins, in bytes of the source.
  package let offset: Int

  /// Reads the one value of a file.
  ///
  /// - `source`: UTF-8, without a byte order mark.
  package static func parse(_ source: [UInt8], as dialect: Dialect) throws(CommentedJSONError) -> CommentedJSON {
    var scanner = CommentedJSONScanner(source, dialect)
    return try scanner.document()
  }

  /// The bytes without the mark that some editors put before a text (RFC 8259 §8.1).
  package static func withoutByteOrderMark(_ source: [UInt8]) -> [UInt8] {
    source.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(source.dropFirst(3)) : source
  }
}

/// Why a file is not JSON with comments. The reader words the message: it knows what the file is for.
package struct CommentedJSONError: Error, Sendable, Hashable {
  /// What is wrong.
  package enum Reason: Sendable, Hashable {
    case commentNotClosed
    /// A slash that begins no comment.
    case unexpectedSlash
    case nestedTooDeeply
    /// The file ends where a value should be.
    case valueMissing
    /// A word that is no value; empty where there is no word.
    case notAValue(String)
    case expectedKey
    case expectedColon(key: String)
    /// Neither a comma nor this closing bracket.
    case expectedSeparator(closing: String)
    /// Something follows the file's value.
    case trailingContent
    case duplicateKey(String)
    case stringNotClosed
    case controlCharacter
    case unknownEscape
    /// Not four hexadecimal digits behind `\u`.
    case badUnicodeEscape
    case loneSurrogate
  }

  /// What is wrong.
  package let reason: Reason
  /// Where.
  package let position: CommentedJSON.Position

  package init(reason: Reason, position: CommentedJSON.Position) {
    self.reason = reason
    self.position = position
  }
}

private struct CommentedJSONScanner {
  private let bytes: [UInt8]
  private let dialect: CommentedJSON.Dialect
  private var at = 0
  /// The last place that was asked for.
  private var known = (offset: 0, line: 1, column: 1)

  init(_ source: [UInt8], _ dialect: CommentedJSON.Dialect) {
    bytes = source
    self.dialect = dialect
  }

  mutating func document() throws(CommentedJSONError) -> CommentedJSON {
    let value = try value(nesting: 0)
    try skipBlank()
    guard at == bytes.count else { throw error(.trailingContent) }
    return value
  }

  // MARK: Places

  /// The place of a byte. Ascending queries cost one walk through the file together.
  private mutating func position(_ offset: Int) -> CommentedJSON.Position {
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
    return CommentedJSON.Position(line: known.line, column: known.column)
  }

  private mutating func error(_ reason: CommentedJSONError.Reason, at offset: Int? = nil) -> CommentedJSONError {
    CommentedJSONError(reason: reason, position: position(min(offset ?? at, bytes.count)))
  }

  private func peek(_ offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  // MARK: Between the values

  private mutating func skipBlank() throws(CommentedJSONError) {
    while let byte = peek(at) {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): at += 1
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(CommentedJSONError) {
    let start = at
    switch peek(at + 1) {
    case UInt8(ascii: "/"):
      while let byte = peek(at), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { at += 1 }
    case UInt8(ascii: "*"):
      at += 2
      while !(peek(at) == UInt8(ascii: "*") && peek(at + 1) == UInt8(ascii: "/")) {
        guard at < bytes.count else { throw error(.commentNotClosed, at: start) }
        at += 1
      }
      at += 2
    default: throw error(.unexpectedSlash)
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek(at) == byte else { return false }
    at += 1
    return true
  }

  // MARK: Values

  private mutating func value(nesting: Int) throws(CommentedJSONError) -> CommentedJSON {
    try skipBlank()
    guard nesting <= dialect.nestingMax else { throw error(.nestedTooDeeply) }
    let start = at
    let startPosition = position(at)
    let content: CommentedJSON.Content
    switch peek(at) {
    case UInt8(ascii: "{"): content = .object(try members(nesting: nesting))
    case UInt8(ascii: "["): content = .array(try elements(nesting: nesting))
    case UInt8(ascii: "\""): content = .string(try string())
    case nil: throw error(.valueMissing)
    default: content = try word()
    }
    return CommentedJSON(content: content, position: startPosition, offset: start)
  }

  private mutating func word() throws(CommentedJSONError) -> CommentedJSON.Content {
    let start = at
    while let byte = peek(at), byte.belongsToWord { at += 1 }
    let text = String(decoding: bytes[start..<at], as: UTF8.self)
    switch text {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      guard let first = text.utf8.first, first == UInt8(ascii: "-") || (48...57).contains(first) else {
        throw error(.notAValue(text), at: start)
      }
      return .number(text)
    }
  }

  private mutating func members(nesting: Int) throws(CommentedJSONError) -> [CommentedJSON.Member] {
    at += 1
    var members: [CommentedJSON.Member] = []
    while true {
      try skipBlank()
      // Behind a comma too: Firebase's own guides have files that end so.
      if take(UInt8(ascii: "}")) { return members }
      guard peek(at) == UInt8(ascii: "\"") else { throw error(.expectedKey) }
      let start = at
      let startPosition = position(at)
      let key = try string().text
      if dialect.refusesDuplicateKeys, members.contains(where: { $0.key == key }) {
        throw error(.duplicateKey(key), at: start)
      }
      try skipBlank()
      guard take(UInt8(ascii: ":")) else { throw error(.expectedColon(key: key)) }
      members.append(.init(key: key, keyPosition: startPosition, value: try value(nesting: nesting + 1)))
      try skipBlank()
      if take(UInt8(ascii: "}")) { return members }
      guard take(UInt8(ascii: ",")) else { throw error(.expectedSeparator(closing: "}")) }
    }
  }

  private mutating func elements(nesting: Int) throws(CommentedJSONError) -> [CommentedJSON] {
    at += 1
    var elements: [CommentedJSON] = []
    while true {
      try skipBlank()
      if take(UInt8(ascii: "]")) { return elements }
      elements.append(try value(nesting: nesting + 1))
      try skipBlank()
      if take(UInt8(ascii: "]")) { return elements }
      guard take(UInt8(ascii: ",")) else { throw error(.expectedSeparator(closing: "]")) }
    }
  }

  // MARK: Strings

  private mutating func string() throws(CommentedJSONError) -> CommentedJSON.Text {
    let start = at
    at += 1
    var text: [UInt8] = []
    var marks = [CommentedJSON.Text.Mark(offset: 0, source: at)]
    while let byte = peek(at) {
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return CommentedJSON.Text(text: String(decoding: text, as: UTF8.self), marks: marks)
      case UInt8(ascii: "\\"):
        try escape(into: &text)
        marks.append(CommentedJSON.Text.Mark(offset: text.count, source: at))
      case UInt8(ascii: "\n") where !dialect.allowsControlCharacters: throw error(.stringNotClosed, at: start)
      case 0..<0x20 where !dialect.allowsControlCharacters: throw error(.controlCharacter, at: at - 1)
      default: text.append(byte)
      }
    }
    throw error(.stringNotClosed, at: start)
  }

  private mutating func escape(into text: inout [UInt8]) throws(CommentedJSONError) {
    let start = at - 1
    guard let byte = peek(at) else { throw error(.stringNotClosed, at: start) }
    at += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try scalar(start))).utf8)
    default: throw error(.unknownEscape, at: start)
    }
  }

  /// The scalar of a `\u` escape; of a surrogate, together with its other half.
  private mutating func scalar(_ start: Int) throws(CommentedJSONError) -> Unicode.Scalar {
    var code = try codeUnit(start)
    if (0xD800..<0xDC00).contains(code), peek(at) == UInt8(ascii: "\\"), peek(at + 1) == UInt8(ascii: "u") {
      at += 2
      let low = try codeUnit(start)
      guard (0xDC00..<0xE000).contains(low) else { throw error(.loneSurrogate, at: start) }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw error(.loneSurrogate, at: start) }
    return scalar
  }

  private mutating func codeUnit(_ start: Int) throws(CommentedJSONError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = peek(at).flatMap(Hex.value) else { throw error(.badUnicodeEscape, at: start) }
      code = code << 4 | UInt32(digit)
      at += 1
    }
    return code
  }
}

extension UInt8 {
  /// Whether the byte belongs to a word or a number outside of strings.
  fileprivate var belongsToWord: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}
