/// Blanks out comments and the content of string literals, so that a rule meets code alone.
///
/// Knows nested comments, escapes, raw strings, strings of several lines and interpolations, whose content is code.
struct CodeMask {
  private enum Context {
    /// Code; inside an interpolation, with so many parentheses open.
    case code(parentheses: Int)
    case string(hashes: Int, isMultiline: Bool)
  }

  private let source: [UInt8]
  private var result: [UInt8]
  private var index = 0
  private var contexts: [Context] = [.code(parentheses: 0)]

  private init(_ source: [UInt8]) {
    self.source = source
    result = source
  }

  /// The source, byte for byte as long, newlines kept.
  static func masked(_ source: [UInt8]) -> [UInt8] {
    var mask = CodeMask(source)
    while mask.index < source.count {
      switch mask.contexts[mask.contexts.count - 1] {
      case .code(let parentheses): mask.stepInCode(parentheses)
      case .string(let hashes, let isMultiline): mask.stepInString(hashes, isMultiline)
      }
    }
    return mask.result
  }

  private func starts(_ text: StaticString, at start: Int) -> Bool {
    text.withUTF8Buffer { source.count >= start + $0.count && source[start..<(start + $0.count)].elementsEqual($0) }
  }

  private mutating func blank(_ count: Int) {
    for _ in 0..<count where index < source.count {
      if source[index] != UInt8(ascii: "\n") { result[index] = UInt8(ascii: " ") }
      index += 1
    }
  }

  private mutating func stepInCode(_ parentheses: Int) {
    if starts("//", at: index) {
      while index < source.count, source[index] != UInt8(ascii: "\n") { blank(1) }
    } else if starts("/*", at: index) {
      skipBlockComment()
    } else if let hashes = openingQuote() {
      let isMultiline = starts("\"\"\"", at: index + hashes)
      contexts.append(.string(hashes: hashes, isMultiline: isMultiline))
      index += hashes + (isMultiline ? 3 : 1)
    } else {
      let byte = source[index]
      if contexts.count > 1 {
        if byte == UInt8(ascii: ")") && parentheses == 0 {
          contexts.removeLast()
        } else if byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")") {
          contexts[contexts.count - 1] = .code(parentheses: parentheses + (byte == UInt8(ascii: "(") ? 1 : -1))
        }
      }
      index += 1
    }
  }

  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if starts("/*", at: index) {
        depth += 1
        blank(2)
      } else if starts("*/", at: index) {
        depth -= 1
        blank(2)
      } else {
        blank(1)
      }
    } while depth > 0 && index < source.count
  }

  /// How many hashes stand before the quote that begins here; nil if none does.
  private func openingQuote() -> Int? {
    var end = index
    while end < source.count, source[end] == UInt8(ascii: "#") { end += 1 }
    return end < source.count && source[end] == UInt8(ascii: "\"") ? end - index : nil
  }

  private func hashes(_ count: Int, at start: Int) -> Bool {
    source.count >= start + count && source[start..<(start + count)].allSatisfy { $0 == UInt8(ascii: "#") }
  }

  private mutating func stepInString(_ count: Int, _ isMultiline: Bool) {
    let quote = isMultiline ? 3 : 1
    if source[index] == UInt8(ascii: "\\"), hashes(count, at: index + 1) {
      let next = index + 1 + count
      if next < source.count, source[next] == UInt8(ascii: "(") {
        blank(1 + count)
        index += 1
        contexts.append(.code(parentheses: 0))
      } else {
        blank(2 + count)
      }
    } else if source[index] == UInt8(ascii: "\""), !isMultiline || starts("\"\"\"", at: index), hashes(count, at: index + quote)
    {
      contexts.removeLast()
      index += quote + count
    } else {
      blank(1)
    }
  }
}
