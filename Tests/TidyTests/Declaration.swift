/// A declaration that other targets can use, as one line of code shows it.
struct Declaration {
  let keyword: String
  let name: String

  private static let keywords: Set<String> = [
    "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "init", "subscript", "typealias", "macro",
  ]

  /// The words that may precede the keyword.
  private static let modifiers: Set<String> = [
    "static", "final", "mutating", "nonmutating", "override", "convenience", "required", "lazy", "weak", "nonisolated",
    "indirect",
    "private", "fileprivate", "package", "internal", "set", "unsafe", "unowned", "prefix", "postfix", "consuming", "borrowing",
  ]

  /// The public declaration that begins on a line; nil if none does.
  init?(publicOn line: Substring) { self.init(on: line, levels: ["public", "open"]) }

  /// The declaration for other targets that begins on a line, be it of this package or of any.
  init?(exposedOn line: Substring) { self.init(on: line, levels: ["public", "open", "package"]) }

  private init?(on line: Substring, levels: Set<String>) {
    var isExposed = false
    var rest = line.trimmed
    while let (word, after) = Declaration.nextWord(rest) {
      if levels.contains(word) {
        isExposed = true
      } else if word == "class", let next = Declaration.nextWord(after)?.0, next == "func" || next == "var" {
        // A class method: `class` is a modifier here.
      } else if Declaration.keywords.contains(word) {
        guard isExposed else { return nil }
        keyword = word
        name = Declaration.name(after)
        return
      } else if !Declaration.modifiers.contains(word) {
        return nil
      }
      rest = after
    }
    return nil
  }

  /// The next word, without attributes and the parentheses of a modifier.
  private static func nextWord(_ text: Substring) -> (String, Substring)? {
    var rest = text.drop { $0 == " " || $0 == "(" || $0 == ")" }
    while rest.first == "@" {
      rest = rest.dropFirst().drop { $0.isLetter || $0.isNumber || $0 == "_" }
      if rest.first == "(" { rest = rest.drop { $0 != ")" }.dropFirst() }
      rest = rest.drop { $0 == " " }
    }
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return word.isEmpty ? nil : (String(word), rest[word.endIndex...])
  }

  /// An identifier, an operator, or nothing for an initialiser.
  private static func name(_ text: Substring) -> String {
    let rest = text.drop { $0 == " " }
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return String(word.isEmpty ? rest.prefix { "=<>!+-*/%&|^~".contains($0) } : word)
  }
}
