#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A Swift file: its lines as written, and the same lines as code alone.
struct SwiftFile: Sendable {
  let path: String
  /// As written.
  let lines: [Substring]
  /// Without comments and without the content of strings: blanks replace them, so that columns stay.
  let code: [Substring]
  /// `code` in one piece.
  let codeBytes: [UInt8]

  init(path: String, text: String) {
    self.path = path
    lines = TextFile(path: path, text: text).lines
    codeBytes = CodeMask.masked(Array(text.utf8))
    code = TextFile(path: path, text: String(decoding: codeBytes, as: UTF8.self)).lines
  }

  /// The first folder below `Sources`, or `Functions`: the target that the file belongs to.
  var target: Substring {
    let parts = path.split(separator: "/")
    return parts.first == "Sources" && parts.count > 2 ? parts[1] : parts[0]
  }

  /// The file's name without its folder and ending.
  var name: Substring {
    let last = path.split(separator: "/").last ?? ""
    return last.hasSuffix(".swift") ? last.dropLast(6) : last
  }

  func finding(_ line: Int, _ message: String) -> Finding {
    Finding(path: path, line: line + 1, message: message)
  }

  /// The lines (from 0) whose code holds `text`.
  func lines(holding text: String) -> [Int] {
    let needle = Array(text.utf8)
    guard codeBytes.holds(needle) else { return [] }
    return code.indices.filter { code[$0].holds(needle) }
  }

  /// The comment that ends right above a line, with attributes between allowed; as one text.
  func comment(above line: Int) -> String {
    var index = line - 1
    while index >= 0, lines[index].trimmed.hasPrefix("@") || lines[index].trimmed.hasPrefix("#if") { index -= 1 }
    var found: [Substring] = []
    while index >= 0, lines[index].trimmed.hasPrefix("//") || lines[index].trimmed.hasSuffix("*/") {
      found.append(lines[index].trimmed)
      index -= 1
    }
    return found.reversed().joined(separator: "\n")
  }
}

extension [UInt8] {
  /// Whether the bytes occur in these.
  func holds(_ needle: [UInt8]) -> Bool {
    guard let first = needle.first, count >= needle.count else { return needle.isEmpty }
    return withUnsafeBytes { hay in
      guard let base = hay.baseAddress else { return false }
      var start = 0
      let last = hay.count - needle.count
      while start <= last, let found = memchr(base + start, Int32(first), last - start + 1) {
        if memcmp(found, needle, needle.count) == 0 { return true }
        start = UnsafeRawPointer(found) - base + 1
      }
      return false
    }
  }
}

extension Substring {
  /// Without blanks at both ends.
  var trimmed: Substring {
    let rest = drop { $0 == " " || $0 == "\t" }
    guard let last = rest.lastIndex(where: { $0 != " " && $0 != "\t" && $0 != "\r" }) else { return "" }
    return rest[...last]
  }

  /// Whether the bytes occur in the text.
  func holds(_ needle: [UInt8]) -> Bool {
    Array(utf8).holds(needle)
  }

  func holds(_ text: String) -> Bool { holds(Array(text.utf8)) }

  /// The words: what lies between everything that is no letter, digit or underscore.
  var words: [Substring] {
    split { !($0.isLetter || $0.isNumber || $0 == "_") }
  }
}
