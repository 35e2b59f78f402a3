/// The templates of all kinds of mail, in the languages that there are.
///
/// A language that a kind has no template for falls back: `de-AT` to `de`, then to the reader's next language, then to the
/// catalogue's own, then to English, which every kind has.
package struct TemplateCatalog: Sendable {
  private struct TemplateKey: Hashable {
    let kind: MailKind
    /// In lower case, with hyphens: `de-at`.
    let locale: String
  }

  /// What is spoken where nobody asks for a language.
  package let defaultLocale: String
  private var templates: [TemplateKey: MailTemplate]

  /// The templates that come with the program: English, French, German, Japanese and Spanish.
  package init(defaultLocale: String = "en") {
    self.defaultLocale = Self.normal(defaultLocale)
    templates = [:]
    for (locale, phrases) in TemplatePhrases.all {
      for kind in MailKind.templated {
        // The program's own texts name known placeholders only; a test reads them all.
        if let template = try? phrases.template(kind) { templates[TemplateKey(kind: kind, locale: locale)] = template }
      }
    }
  }

  /// Puts a template in the place of another, or adds a language.
  package mutating func set(_ template: MailTemplate, for kind: MailKind, locale: String) {
    templates[TemplateKey(kind: kind, locale: Self.normal(locale))] = template
  }

  /// The template for somebody who reads `locales`.
  ///
  /// - Parameters:
  ///   - kind: one that has templates (``MailKind/templated``).
  ///   - locales: as headers and clients name them, such as `de`, `de-AT` or `de_AT`, the best first.
  package func template(_ kind: MailKind, locales: [String]) -> MailTemplate {
    for candidate in (locales + [defaultLocale]).flatMap(Self.candidates) + ["en"] {
      if let found = templates[TemplateKey(kind: kind, locale: candidate)] { return found }
    }
    preconditionFailure("Mails of the kind \(kind.rawValue) have no template; write their words.")
  }

  /// The words of a mail.
  ///
  /// - `values`: by placeholder (``MailKind/placeholders``).
  package func words(_ kind: MailKind, locales: [String] = [], values: [String: String]) -> MailTemplate.Words {
    template(kind, locales: locales).words(values)
  }

  /// Whether a text could be a language's name: letters and digits in groups of 1 to 8, at most four of them.
  package static func isLocale(_ text: String) -> Bool {
    let groups = normal(text).split(separator: "-", omittingEmptySubsequences: false)
    return (1...4).contains(groups.count)
      && groups.allSatisfy { group in
        (1...8).contains(group.utf8.count) && group.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
      }
  }

  /// The locale and what is left of it without its last parts.
  private static func candidates(_ locale: String) -> [String] {
    guard isLocale(locale) else { return [] }
    let groups = normal(locale).split(separator: "-")
    return groups.indices.reversed().map { groups[...$0].joined(separator: "-") }
  }

  private static func normal(_ locale: String) -> String {
    String(decoding: locale.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self).lowercased()
  }
}

/// How one kind of mail reads in one language: subject, text, and HTML.
package struct MailTemplate: Sendable {
  /// A mail's words, ready to be sent.
  package struct Words: Sendable, Hashable {
    /// One line.
    package let subject: String
    /// For every reader.
    package let text: String
    /// The same as markup; nil if there is only text.
    package let html: String?

    package init(subject: String, text: String, html: String?) {
      self.subject = subject
      self.text = text
      self.html = html
    }
  }

  private let subject: TemplateText
  private let text: TemplateText
  private let html: TemplateText?

  /// A template of its three parts.
  ///
  /// - Throws: ``TemplateError`` with the line in the part that is wrong.
  package init(kind: MailKind, subject: String, text: String, html: String?) throws(TemplateError) {
    let names = kind.placeholders
    self.subject = try TemplateText(subject, form: .line, placeholders: names)
    self.text = try TemplateText(text, form: .text, placeholders: names)
    if let html { self.html = try TemplateText(html, form: .html, placeholders: names) } else { self.html = nil }
  }

  /// Reads the two files of a template: a text that begins with `Subject: …` and an empty line, and the HTML.
  ///
  /// - Throws: ``TemplateError`` with the line in the file that is wrong.
  package init(kind: MailKind, textFile: String, htmlFile: String?) throws(TemplateError) {
    // Line ends of every system: a carriage return and a line feed are one character.
    let unix = String(String.UnicodeScalarView(textFile.unicodeScalars.filter { $0 != "\r" }))
    let lines = unix.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
    guard let first = lines.first, first.lowercased().hasPrefix("subject:"), lines.count == 3, lines[1].isEmpty else {
      throw TemplateError(line: 1, message: "The file must begin with \"Subject: …\" and an empty line.")
    }
    let names = kind.placeholders
    subject = try TemplateText(String(first.dropFirst(8).drop { $0 == " " }), form: .line, placeholders: names)
    text = try TemplateText(String(lines[2]), form: .text, placeholders: names, firstLine: 3)
    html = try htmlFile.map { (source) throws(TemplateError) in
      try TemplateText(source, form: .html, placeholders: names)
    }
  }

  /// The words with the values in their places.
  ///
  /// - Parameter values: by placeholder (``MailKind/placeholders``); one that is missing is empty.
  package func words(_ values: [String: String]) -> Words {
    Words(subject: subject.rendered(values), text: text.rendered(values), html: html?.rendered(values))
  }
}
