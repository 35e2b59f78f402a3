import TextFormats

/// A text with placeholders: `{{link}}` stands for a value, `{{#name}}…{{/name}}` for a part that is there only if the
/// value is not empty.
///
/// Values are never templates, and are escaped for the place where they stand: in HTML they cannot become markup, in an
/// attribute `href` or `src` only a link of the web is let through, and in a subject they stay on one line.
package struct TemplateText: Sendable {
  /// What a rendered text is.
  package enum Form: Sendable, Hashable {
    /// Plain text of several lines.
    case text
    /// Markup.
    case html
    /// One line of plain text.
    case line
  }

  private indirect enum Piece: Sendable {
    case literal(String)
    case value(String, isLink: Bool)
    case section(String, [Piece])
  }

  /// The longest template, in bytes of UTF-8.
  package static let bytesMax = 256 << 10
  private static let nestingMax = 8

  private let pieces: [Piece]
  private let form: Form

  /// Reads a template.
  ///
  /// - `form`: what is made of it.
  /// - `placeholders`: the names that it may use.
  /// - Throws: ``TemplateError`` for braces that do not close and names that are unknown.
  package init(_ source: String, form: Form, placeholders: [String]) throws(TemplateError) {
    try self.init(source, form: form, placeholders: placeholders, firstLine: 1)
  }

  /// - `firstLine`: what the first line is called in an error.
  init(_ source: String, form: Form, placeholders: [String], firstLine: Int) throws(TemplateError) {
    guard source.utf8.count <= Self.bytesMax else {
      throw TemplateError(
        line: firstLine, isInHTML: form == .html, message: "The template is larger than \(Self.bytesMax >> 10) KB.")
    }
    var reader = Reader(
      bytes: Array(source.utf8), placeholders: placeholders, isHTML: form == .html, line: firstLine)
    pieces = try reader.pieces(until: nil, nesting: 0)
    self.form = form
  }

  /// The text with the values in their places.
  ///
  /// - Parameter values: by placeholder; one that is missing is empty.
  package func rendered(_ values: [String: String]) -> String {
    var text = ""
    Self.render(pieces, values: values, form: form, into: &text)
    return text
  }

  private static func render(_ pieces: [Piece], values: [String: String], form: Form, into text: inout String) {
    for piece in pieces {
      switch piece {
      case .literal(let literal): text += literal
      case .value(let name, let isLink): text += escaped(values[name] ?? "", form: form, isLink: isLink)
      case .section(let name, let inner):
        if values[name]?.isEmpty == false { render(inner, values: values, form: form, into: &text) }
      }
    }
  }

  // MARK: Escaping

  private static func escaped(_ value: String, form: Form, isLink: Bool) -> String {
    if isLink, !isWebLink(value) { return "" }
    let clean = withoutControls(value, keepingLines: form != .line)
    return form == .html ? HTMLText.escaped(clean) : clean
  }

  /// The text with a space for everything that would end a header's line, hide text or turn its direction.
  private static func withoutControls(_ value: String, keepingLines: Bool) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\n" where keepingLines: text += "\n"
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}": text += " "
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Whether the text begins as an address of the web does: nothing that a reader would run.
  private static func isWebLink(_ text: String) -> Bool {
    let start = text.prefix(8).lowercased()
    return start.hasPrefix("https://") || start.hasPrefix("http://")
  }
}

// MARK: - Reading

extension TemplateText {
  /// Goes through a template once.
  private struct Reader {
    let bytes: [UInt8]
    let placeholders: [String]
    let isHTML: Bool
    var line: Int
    var at = 0

    /// The pieces up to the end of a section, or of the text.
    mutating func pieces(until section: String?, nesting: Int) throws(TemplateError) -> [Piece] {
      guard nesting <= TemplateText.nestingMax else { throw error("Parts stand inside each other too deeply.") }
      var pieces: [Piece] = []
      var literal: [UInt8] = []
      func close() {
        if !literal.isEmpty { pieces.append(.literal(String(decoding: literal, as: UTF8.self))) }
      }
      while at < bytes.count {
        guard starts("{{") else {
          if bytes[at] == UInt8(ascii: "\n") { line += 1 }
          literal.append(bytes[at])
          at += 1
          continue
        }
        let tag = try tag()
        close()
        let isLink = Self.opensLink(literal)
        literal = []
        switch tag.first {
        case "#":
          let name = try known(tag.dropFirst())
          pieces.append(.section(name, try self.pieces(until: name, nesting: nesting + 1)))
        case "/":
          let name = try known(tag.dropFirst())
          guard name == section else { throw error("{{/\(name)}} closes a part that was not opened here.") }
          return pieces
        default: pieces.append(.value(try known(tag[...]), isLink: isLink))
        }
      }
      if let section { throw error("The part {{#\(section)}} does not end; close it with {{/\(section)}}.") }
      close()
      return pieces
    }

    /// What stands between two pairs of braces, without blanks at its ends.
    private mutating func tag() throws(TemplateError) -> String {
      at += 2
      var text: [UInt8] = []
      while !starts("}}") {
        guard at < bytes.count, bytes[at] != UInt8(ascii: "\n"), text.count < 64 else {
          throw error("A placeholder does not end; write it as {{name}}.")
        }
        if bytes[at] != UInt8(ascii: " ") { text.append(bytes[at]) }
        at += 1
      }
      at += 2
      return String(decoding: text, as: UTF8.self)
    }

    private func known(_ name: Substring) throws(TemplateError) -> String {
      guard placeholders.contains(where: { $0 == name }) else {
        throw error("There is no placeholder \"\(name)\" here; there are \(placeholders.joined(separator: ", ")).")
      }
      return String(name)
    }

    private func starts(_ pair: StaticString) -> Bool {
      at + 1 < bytes.count && bytes[at] == pair.utf8Start[0] && bytes[at + 1] == pair.utf8Start[1]
    }

    /// Whether what comes next is the whole beginning of an address: `href="`, `src='`.
    private static func opensLink(_ literal: [UInt8]) -> Bool {
      let tail = String(decoding: literal.suffix(6), as: UTF8.self).lowercased()
      return ["href=\"", "href='", "href="].contains { tail.hasSuffix($0) }
        || ["src=\"", "src='", "src="].contains { tail.hasSuffix($0) }
    }

    private func error(_ message: String) -> TemplateError {
      TemplateError(line: line, isInHTML: isHTML, message: message)
    }
  }
}

/// Why a text is no template.
package struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1.
  package let line: Int
  /// Whether it is a line of the HTML, not of the text.
  package let isInHTML: Bool
  /// What is wrong, and what to do.
  package let message: String

  init(line: Int, isInHTML: Bool = false, message: String) {
    self.line = line
    self.isInHTML = isInHTML
    self.message = message
  }

  /// As tools show it behind the file's name: `3: text`.
  package var description: String { "\(line): \(message)" }
}
