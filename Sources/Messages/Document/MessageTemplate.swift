import TextFormats
import TreeModel

/// A text with values in it: `You earned {{amount}} {{currency|coins}}!`. There are no expressions, and no markup.
///
/// A value's name may be followed by what stands there if there is none. Behind a second bar nothing is defined yet; it is
/// refused, so that other forms may come to stand there.
struct MessageTemplate: Sendable {
  enum Piece: Sendable, Hashable {
    case text(String)
    case value(name: String, fallback: String?)
  }

  let pieces: [Piece]

  /// Values are cut to so many characters.
  static let valueMax = 100

  /// - Throws: what is wrong, as a sentence.
  init(_ text: String) throws(TemplateError) {
    var pieces: [Piece] = []
    var rest = Substring(text)
    while let open = rest.pair(of: UInt8(ascii: "{")) {
      if open > rest.startIndex { pieces.append(.text(String(rest[..<open]))) }
      rest = rest[rest.utf8.index(open, offsetBy: 2)...]
      guard let close = rest.pair(of: UInt8(ascii: "}")) else { throw TemplateError("\"{{\" has no \"}}\" behind it.") }
      pieces.append(try Self.value(rest[..<close]))
      rest = rest[rest.utf8.index(close, offsetBy: 2)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(rest))) }
    self.pieces = pieces
  }

  private static func value(_ text: Substring) throws(TemplateError) -> Piece {
    let parts = text.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
    let name = String(parts[0]).trimmingBlanks
    guard isName(name) else {
      throw TemplateError("{{\(text.prefix(60))}} names no value: a name has letters, digits, \"_\" and points.")
    }
    guard parts.count < 3 else { throw TemplateError("{{\(text.prefix(60))}} has two bars; one separates the fallback.") }
    return .value(name: name, fallback: parts.count == 2 ? String(parts[1]) : nil)
  }

  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A) || (0x30...0x39).contains($0) || $0 == 0x5F || $0 == 0x2E
      }
  }

  /// The values that it wants.
  var values: [(name: String, fallback: String?)] {
    pieces.compactMap { if case .value(let name, let fallback) = $0 { (name, fallback) } else { nil } }
  }

  /// The text with its values; nil if one is missing that has no fallback.
  ///
  /// - `language`: how numbers are written.
  func filled(_ values: [String: JSON], language: String) -> String? {
    var text = ""
    for piece in pieces {
      switch piece {
      case .text(let words): text += words
      case .value(let name, let fallback):
        guard let word = values[name].flatMap({ Self.word($0, language: language) }) ?? fallback else { return nil }
        text += word
      }
    }
    return text
  }

  private static func word(_ value: JSON, language: String) -> String? {
    switch value {
    case .string(let text):
      let clean = text.unicodeScalars.filter { !PlainText.isControl($0) && !PlainText.isDirectionMark($0) }
      let word = String(String.UnicodeScalarView(clean)).prefix(valueMax)
      return word.isEmpty ? nil : String(word)
    case .int(let number): return NumberWords.text(of: number, language: language)
    case .double(let number): return NumberWords.text(of: number, language: language)
    case .bool(let flag): return String(flag)
    default: return nil
    }
  }
}

/// Why a text is no template.
struct TemplateError: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}

extension String {
  fileprivate var trimmingBlanks: String {
    guard utf8.first == 0x20 || utf8.last == 0x20 else { return self }
    let start = drop { $0 == " " }
    return String(start.reversed().drop { $0 == " " }.reversed())
  }
}

extension Substring {
  /// Where a byte stands twice, one behind the other: a brace with a combining mark behind it is a brace.
  fileprivate func pair(of byte: UInt8) -> Index? {
    let bytes = Array(utf8)
    let place = bytes.indices.dropLast().first { bytes[$0] == byte && bytes[$0 + 1] == byte }
    return place.map { utf8.index(startIndex, offsetBy: $0) }
  }
}

/// Numbers as a language writes them: with its digits, and groups of three.
enum NumberWords {
  private struct Style {
    let group: String
    let point: String
    var groupMin = 1
    var zero: UInt32 = 0x30
  }

  private static func style(_ language: String) -> Style {
    switch LanguageTag.language(of: language) {
    case "de", "it", "nl", "id", "tr", "da", "el", "vi", "ro", "hr", "sl", "sr", "ca": Style(group: ".", point: ",")
    case "es", "pt": Style(group: ".", point: ",", groupMin: 2)
    case "fr": Style(group: "\u{202F}", point: ",")
    case "pl": Style(group: "\u{A0}", point: ",", groupMin: 2)
    case "cs", "sk", "ru", "uk", "bg", "sv", "nb", "no", "nn", "fi", "hu", "et", "lv", "lt": Style(group: "\u{A0}", point: ",")
    case "fa", "ur": Style(group: "\u{66C}", point: "\u{66B}", zero: 0x6F0)
    case "ar": Style(group: "\u{66C}", point: "\u{66B}", zero: 0x660)
    default: Style(group: ",", point: ".")
    }
  }

  static func text(of number: Int64, language: String) -> String {
    let style = style(language)
    return (number < 0 ? "-" : "") + grouped(String(number.magnitude), style: style)
  }

  static func text(of number: Double, language: String) -> String {
    if let whole = Int64(exactly: number) { return text(of: whole, language: language) }
    let style = style(language)
    let digits = String(number.magnitude)
    let parts = digits.split(separator: ".")
    guard parts.count == 2, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return String(number) }
    let fraction = own(parts[1].prefix(6), zero: style.zero)
    return (number < 0 ? "-" : "") + grouped(String(parts[0]), style: style) + style.point + fraction
  }

  private static func grouped(_ digits: String, style: Style) -> String {
    guard digits.utf8.count >= 3 + style.groupMin else { return own(digits[...], zero: style.zero) }
    var groups: [String] = []
    var rest = Substring(digits)
    while rest.utf8.count > 3 {
      groups.append(own(rest.suffix(3), zero: style.zero))
      rest = rest.dropLast(3)
    }
    groups.append(own(rest, zero: style.zero))
    return groups.reversed().joined(separator: style.group)
  }

  private static func own(_ digits: Substring, zero: UInt32) -> String {
    guard zero != 0x30 else { return String(digits) }
    return String(
      String.UnicodeScalarView(digits.utf8.compactMap { Unicode.Scalar(zero + UInt32($0) - 0x30) }))
  }
}
