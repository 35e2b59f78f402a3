/// The types, functions and initializers of a file, as far as the rules about shape need them.
///
/// This reads code that the formatter has laid out: a declaration's keyword and name are on one line.
struct CodeOutline: Sendable {
  /// A declaration of a type, or an extension of one.
  struct TypePart: Sendable {
    /// With the types around it: `RuleSet.Node`.
    let name: String
    let isExtension: Bool
    /// From 0.
    let line: Int
  }

  /// A function, an initializer or a subscript with its parameters.
  struct Function: Sendable {
    /// `init` for an initializer.
    let name: String
    /// The type that it is declared in; empty for a free function.
    let owner: String
    /// Whether each parameter has an argument label.
    let hasLabel: [Bool]
    /// From 0.
    let line: Int

    /// Operators cannot have labels.
    var isOperator: Bool { !(name.first.map { $0.isLetter || $0 == "_" || $0 == "`" } ?? false) }
  }

  private(set) var types: [TypePart] = []
  private(set) var functions: [Function] = []

  private static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol", "extension"]
  private static let functionKeywords: Set<String> = ["func", "init", "subscript"]
  /// The first letters of the keywords: most words need no closer look.
  private static let initials = Array("sceapfi".utf8)

  private let code: [UInt8]
  /// For each open brace the type whose body it opens.
  private var scopes: [String?] = []
  private var announced: String?

  init(_ code: [UInt8]) {
    self.code = code
    scan()
  }

  private mutating func scan() {
    var index = 0
    var line = 0
    var previous = UInt8(ascii: "\n")
    while index < code.count {
      let byte = code[index]
      if Self.isWord(byte), !Self.isWord(previous) {
        let end = wordEnd(index)
        if previous != UInt8(ascii: "."), Self.initials.contains(byte), end - index <= 9 {
          keyword(String(decoding: code[index..<end], as: UTF8.self), end, line)
        }
        index = end
      } else {
        switch byte {
        case UInt8(ascii: "{"):
          scopes.append(announced)
          announced = nil
        case UInt8(ascii: "}"): _ = scopes.popLast()
        case UInt8(ascii: "\n"): line += 1
        default: break
        }
        index += 1
      }
      previous = code[index - 1]
    }
  }

  private mutating func keyword(_ word: String, _ end: Int, _ line: Int) {
    if Self.typeKeywords.contains(word) {
      guard end < code.count, code[end] == UInt8(ascii: " ") else { return }
      var nameEnd = wordEnd(end + 1)
      while nameEnd + 1 < code.count, code[nameEnd] == UInt8(ascii: "."), Self.isWord(code[nameEnd + 1]) {
        nameEnd = wordEnd(nameEnd + 1)
      }
      let name = String(decoding: code[(end + 1)..<nameEnd], as: UTF8.self)
      // `class func`, and a parameter that is called actor.
      guard name.first?.isUppercase == true else { return }
      let isExtension = word == "extension"
      let full = isExtension ? name : (owners + [name]).joined(separator: ".")
      types.append(TypePart(name: full, isExtension: isExtension, line: line))
      announced = name
    } else if Self.functionKeywords.contains(word), let (name, open) = parameterList(word, end) {
      functions.append(Function(name: name, owner: owners.joined(separator: "."), hasLabel: labels(from: open), line: line))
    }
  }

  private var owners: [String] { scopes.compactMap { $0 } }

  /// The name after a keyword, and where its parameters open; nil where the word is no declaration.
  private func parameterList(_ word: String, _ end: Int) -> (name: String, open: Int)? {
    var index = end
    var name = word
    if word == "func" {
      while index < code.count, code[index] == UInt8(ascii: " ") { index += 1 }
      let start = index
      while index < code.count,
        ![UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: " ")].contains(code[index]) || index == start
      {
        index += 1
      }
      name = String(decoding: code[start..<index], as: UTF8.self)
    }
    while index < code.count, [UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: " ")].contains(code[index]) { index += 1 }
    guard index < code.count else { return nil }
    if code[index] == UInt8(ascii: "<") {
      var depth = 0
      while index < code.count {
        if code[index] == UInt8(ascii: "<") { depth += 1 }
        if code[index] == UInt8(ascii: ">"), code[index - 1] != UInt8(ascii: "-") { depth -= 1 }
        index += 1
        if depth == 0 { break }
      }
    }
    return index < code.count && code[index] == UInt8(ascii: "(") ? (name, index) : nil
  }

  /// For each parameter of the list that opens here whether a caller writes a label.
  private func labels(from open: Int) -> [Bool] {
    var found: [Bool] = []
    var depth = 0
    var isAtStart = true
    var index = open
    while index < code.count {
      let byte = code[index]
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: ">") where code[index - 1] == UInt8(ascii: "-"): break
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ">"):
        depth -= 1
        if depth == 0 { return found }
      case UInt8(ascii: ",") where depth == 1: isAtStart = true
      case UInt8(ascii: "@") where depth == 1 && isAtStart:
        index = wordEnd(index + 1)
        continue
      case _ where depth == 1 && isAtStart && (Self.isWord(byte) || byte == UInt8(ascii: "`")):
        found.append(!(byte == UInt8(ascii: "_") && code[index + 1] == UInt8(ascii: " ")))
        isAtStart = false
      default: break
      }
      index += 1
    }
    return found
  }

  private func wordEnd(_ start: Int) -> Int {
    var end = start
    while end < code.count, Self.isWord(code[end]) { end += 1 }
    return end
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return (lower >= 0x61 && lower <= 0x7A) || (byte >= 0x30 && byte <= 0x39) || byte == UInt8(ascii: "_")
  }
}
