/// The templates of all kinds of mail, in the languages that there are.
///
/// A language that a kind has no template for falls back: `de-AT` to `de`, then to the reader's next language, then to the
/// catalogue's own, then to English, which every kind has.
public struct TemplateCatalog: Sendable {
  private struct Place: Hashable {
    let kind: MailKind
    /// In lower case, with hyphens: `de-at`.
    let locale: String
  }

  /// What is spoken where nobody asks for a language.
  public let defaultLocale: String
  private var templates: [Place: MailTemplate]

  /// The templates that come with the program: English, French, German, Japanese and Spanish.
  public init(defaultLocale: String = "en") {
    self.defaultLocale = Self.normal(defaultLocale)
    templates = [:]
    for (locale, phrases) in TemplatePhrases.all {
      for kind in MailKind.templated {
        // The program's own texts name known placeholders only; a test reads them all.
        if let template = try? phrases.template(kind) { templates[Place(kind: kind, locale: locale)] = template }
      }
    }
  }

  /// Puts a template in the place of another, or adds a language.
  public mutating func set(_ template: MailTemplate, for kind: MailKind, locale: String) {
    templates[Place(kind: kind, locale: Self.normal(locale))] = template
  }

  /// The template for somebody who reads `locales`.
  ///
  /// - Parameters:
  ///   - kind: one that has templates (``MailKind/templated``).
  ///   - locales: as headers and clients name them, such as `de`, `de-AT` or `de_AT`, the best first.
  public func template(_ kind: MailKind, locales: [String]) -> MailTemplate {
    for candidate in (locales + [defaultLocale]).flatMap(Self.candidates) + ["en"] {
      if let found = templates[Place(kind: kind, locale: candidate)] { return found }
    }
    preconditionFailure("Mails of the kind \(kind.rawValue) have no template; write their words.")
  }

  /// The words of a mail.
  ///
  /// - Parameter values: by placeholder (``MailKind/placeholders``).
  public func words(_ kind: MailKind, locales: [String] = [], values: [String: String]) -> MailTemplate.Words {
    template(kind, locales: locales).words(values)
  }

  /// Whether a text could be a language's name: letters and digits in groups of 1 to 8, at most four of them.
  public static func isLocale(_ text: String) -> Bool {
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
