/// A function with a body, and how long it is.
struct FunctionExtent {
  let name: String
  /// The line of its keyword, from 0.
  let line: Int
  /// From the keyword to the closing brace.
  let lineCount: Int

  private static let keywords: Set<String> = ["func", "init", "deinit", "subscript", "var"]
  /// The first letters of the keywords: most words need no closer look.
  private static let initials = Array("fidsv".utf8)
  private static let continuations: Set<String> = ["throws", "async", "rethrows", "where"]

  /// The functions, initialisers, subscripts and computed properties of a file, nested ones too.
  static func all(in code: [UInt8]) -> [FunctionExtent] {
    var found: [FunctionExtent] = []
    var line = 0
    var index = 0
    var previous = UInt8(ascii: "\n")
    while index < code.count {
      let byte = code[index]
      if isWord(byte) && !isWord(previous) {
        var end = index + 1
        while end < code.count, isWord(code[end]) { end += 1 }
        let word = initials.contains(byte) ? String(decoding: code[index..<end], as: UTF8.self) : ""
        if keywords.contains(word), previous != UInt8(ascii: "."), let body = bodyStart(code, end, isVariable: word == "var") {
          let nameStart = code[end...].firstIndex { $0 != UInt8(ascii: " ") } ?? end
          let name =
            word == "init" || word == "deinit"
            ? word : String(decoding: code[nameStart..<wordEnd(code, nameStart)], as: UTF8.self)
          let last = matchingBrace(code, body)
          let lineCount = code[index...last].count { $0 == UInt8(ascii: "\n") } + 1
          found.append(FunctionExtent(name: name, line: line, lineCount: lineCount))
        }
        index = end
      } else {
        if byte == UInt8(ascii: "\n") { line += 1 }
        index += 1
      }
      previous = code[index - 1]
    }
    return found
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return (lower >= 0x61 && lower <= 0x7A) || (byte >= 0x30 && byte <= 0x39) || byte == UInt8(ascii: "_")
  }

  private static func wordEnd(_ code: [UInt8], _ start: Int) -> Int {
    code[start...].firstIndex { !isWord($0) } ?? code.count
  }

  /// Where the body's brace is; nil for a requirement, and for a stored property.
  private static func bodyStart(_ code: [UInt8], _ start: Int, isVariable: Bool) -> Int? {
    var depth = 0
    for index in start..<code.count {
      switch code[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"):
        depth -= 1
        if depth < 0 { return nil }
      case UInt8(ascii: "{") where depth == 0: return index
      case UInt8(ascii: "}") where depth == 0, UInt8(ascii: ";") where depth == 0: return nil
      case UInt8(ascii: "=") where depth == 0 && isVariable: return nil
      case UInt8(ascii: "\n") where depth == 0 && !goesOn(code, index): return nil
      default: continue
      }
    }
    return nil
  }

  /// Whether a signature goes on after the end of a line.
  private static func goesOn(_ code: [UInt8], _ newline: Int) -> Bool {
    if let last = code[..<newline].last(where: { $0 != UInt8(ascii: " ") }),
      last == UInt8(ascii: ",") || last == UInt8(ascii: ">")
    {
      if last == UInt8(ascii: ",") { return true }
    }
    guard let next = code[newline...].firstIndex(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }) else {
      return false
    }
    if code[next] == UInt8(ascii: "{") || code[next] == UInt8(ascii: "-") || code[next] == UInt8(ascii: "&") { return true }
    return continuations.contains(String(decoding: code[next..<wordEnd(code, next)], as: UTF8.self))
  }

  private static func matchingBrace(_ code: [UInt8], _ open: Int) -> Int {
    var depth = 0
    for index in open..<code.count {
      if code[index] == UInt8(ascii: "{") { depth += 1 }
      if code[index] == UInt8(ascii: "}") {
        depth -= 1
        if depth == 0 { return index }
      }
    }
    return code.count - 1
  }
}
