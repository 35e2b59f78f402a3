/// Names of languages such as `de`, `de-AT` and `de_AT` (BCP 47, and the older form with an underscore).
package enum LanguageTag {
  /// The language itself, without region and script, in small letters: `de` of `de_AT`.
  package static func language(of locale: some StringProtocol) -> String {
    String(locale.prefix { $0 != "-" && $0 != "_" }).lowercased()
  }
}

/// Texts of the program that are written in several languages: one value for each.
package protocol TranslatedTexts: Sendable {
  /// What these texts are written in, without a region: `de`.
  var language: String { get }

  /// For readers of none of the other languages.
  static var english: Self { get }
  static var all: [Self] { get }
}

extension TranslatedTexts {
  /// The texts in the first of these languages that there are any in; in English if there are none.
  ///
  /// - Parameter locales: what the reader understands, such as `de-AT`, the best first.
  package static func chosen(from locales: [String]) -> Self {
    for locale in locales {
      let language = LanguageTag.language(of: locale)
      if let texts = all.first(where: { $0.language == language }) { return texts }
    }
    return english
  }
}
