import TreeModel

/// A campaign as one client gets it: its texts in one language, with their values.
package struct ServedMessage: Sendable {
  package let campaign: Campaign
  /// nil without variants.
  package let variant: String?
  /// Whether nothing is shown, only counted.
  package let isControl: Bool
  package let isTest: Bool
  package let content: MessageContent
  /// In ``language``, filled.
  package let texts: MessageTexts
  package let imageAlt: String?
  package let language: String
  package let isRightToLeft: Bool
  /// What the player is told of: the first fills the texts.
  package let events: [MessageEvent]
  /// Milliseconds since 1970.
  package let start: Int64
  /// nil: no end.
  package let end: Int64?
  /// Changes with what it shows: 16 hexadecimal digits.
  package let digest: String

  /// The triggers that can fire: those of the server only while what they wait for is pending.
  package var triggers: [MessageTrigger] {
    campaign.document.triggers.filter { trigger in
      guard case .server(let name, let conditions) = trigger else { return true }
      return isTest || events.contains { $0.fires(name, where: conditions) }
    }
  }
}

/// What a client gets.
package struct MessageAnswer: Sendable {
  package let messages: [ServedMessage]
  /// What waits to be told to the player.
  package let pending: [MessageEvent]
  package let settings: MessageSettings
  /// When to fetch again, in milliseconds since 1970.
  package let expires: Int64
}

/// Directions of languages.
enum WritingDirection {
  private static let rightToLeft: Set<String> = ["ar", "fa", "he", "iw", "ur", "yi", "ps", "dv", "ckb", "sd", "ug"]

  static func isRightToLeft(_ language: String) -> Bool {
    let parts = LanguageRange.normalized(language).split(separator: "-").map(String.init)
    if parts.contains("arab") || parts.contains("hebr") { return true }
    if parts.contains("latn") || parts.contains("cyrl") { return false }
    return parts.first.map(rightToLeft.contains) ?? false
  }
}

extension MessageContent {
  /// What is said in the place of the picture, in the language that fits best; nil if nothing is.
  func alternative(for wanted: String?) -> String? {
    let language = Self.language(for: wanted, of: Array(imageAlt.keys)) ?? defaultLanguage
    return imageAlt[language] ?? imageAlt.sorted { $0.key < $1.key }.first?.value
  }

  /// The values without which nothing is shown: those that are not there, and that the texts have no fallback for.
  ///
  /// - `language`: of the texts.
  /// - `wanted`: the language that was asked for, by which the words for the picture are chosen.
  func missing(_ language: String, asked wanted: String?, in values: [String: JSON]) -> [String] {
    let all = (texts[language]?.named.map(\.text) ?? []) + [alternative(for: wanted)].compactMap(\.self)
    let needed = all.flatMap { (try? MessageTemplate($0))?.values ?? [] }
    return Set(needed.filter { $0.fallback == nil && values[$0.name] == nil }.map(\.name)).sorted()
  }

  /// The language of these texts that fits best: the tag itself, its shorter forms, the default.
  func language(for wanted: String?) -> String { Self.language(for: wanted, of: Array(texts.keys)) ?? defaultLanguage }

  static func language(for wanted: String?, of languages: [String]) -> String? {
    guard let wanted else { return nil }
    var parts = LanguageRange.normalized(wanted).split(separator: "-")
    while !parts.isEmpty {
      let tag = parts.joined(separator: "-")
      if let found = languages.first(where: { LanguageRange.normalized($0) == tag }) { return found }
      parts.removeLast()
    }
    return nil
  }
}

extension MessageTexts {
  /// With values in their templates; nil if one is missing that has no fallback.
  func filled(_ values: [String: JSON], language: String) -> MessageTexts? {
    var filled = self
    for place: WritableKeyPath<MessageTexts, String?> in [\.title, \.body, \.primary, \.secondary] {
      guard let text = self[keyPath: place] else { continue }
      guard let whole = (try? MessageTemplate(text))?.filled(values, language: language) else { return nil }
      filled[keyPath: place] = whole
    }
    return filled
  }
}
