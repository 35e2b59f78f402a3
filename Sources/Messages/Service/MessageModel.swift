package import TreeModel

/// How a message is to be previewed.
package struct PreviewRequest: Sendable {
  package var locale: String?
  package var variant: String?
  /// Values of the event.
  package var parameters: [JSON.Member] = []

  package init() {}
}

/// What renderers draw: the same for every platform.
struct MessageModel {
  let document: CampaignDocument
  let content: MessageContent
  let language: String
  let settings: MessageSettings
  /// Puts the values into a text.
  let fill: (String) -> String

  var json: JSON {
    let texts = content.texts[language] ?? MessageTexts()
    let (title, body) = (texts.title.map(fill), texts.body.map(fill))
    let isRightToLeft = WritingDirection.isRightToLeft(language)
    let label = [title, body].compactMap(\.self).joined(separator: ". ")
    return JSON(fields: [
      ("layout", .string(document.layout.rawValue)), ("title", title.map(JSON.string)), ("body", body.map(JSON.string)),
      ("images", .array(images)), ("buttons", .array(buttons(texts))),
      (
        "colors",
        [
          "text": .string(content.colors.text), "background": .string(content.colors.background),
          "isReadable": .bool((MessageColor.contrast(content.colors.text, with: content.colors.background) ?? 0) >= 4.5),
        ]
      ),
      ("action", Self.url(content.action)),
      ("direction", .string(isRightToLeft ? "rtl" : "ltr")), ("language", .string(language)),
      ("placement", .string(document.layout == .banner ? "top" : "centre")),
      ("timing", timing),
      (
        "accessibility",
        [
          "label": .string(label.isEmpty ? alternative ?? "" : label), "isModal": .bool(document.layout != .banner),
          "announces": .bool(document.layout == .banner),
        ]
      ),
    ])
  }

  private var timing: JSON {
    JSON(fields: [
      ("impressionSeconds", .int(settings.impressionTime / 1000)),
      ("dismissAfter", document.layout == .banner ? .int(settings.bannerTime / 1000) : JSON?.none),
    ])
  }

  private var alternative: String? {
    let language = MessageContent.language(for: language, of: Array(content.imageAlt.keys)) ?? content.defaultLanguage
    return content.imageAlt[language] ?? content.imageAlt.sorted { $0.key < $1.key }.first?.value
  }

  private var images: [JSON] {
    let all = [("portrait", content.portraitImage), ("landscape", content.landscapeImage), ("any", content.image)]
    return all.compactMap { orientation, url in
      url.map {
        JSON(fields: [
          ("url", .string($0)), ("orientation", .string(orientation)), ("alt", alternative.map { .string(fill($0)) }),
        ])
      }
    }
  }

  private func buttons(_ texts: MessageTexts) -> [JSON] {
    var buttons: [JSON] = []
    func add(_ role: String, _ text: String?, _ action: String?, color: String, background: String?) {
      guard let text else { return }
      buttons.append(
        JSON(fields: [
          ("role", .string(role)), ("text", .string(fill(text))), ("action", Self.url(action)), ("textColor", .string(color)),
          ("background", background.map(JSON.string)),
        ]))
    }
    let colors = content.colors
    add("primary", texts.primary, content.primaryAction, color: colors.primaryText, background: colors.button)
    add("secondary", texts.secondary, content.secondaryAction, color: colors.secondaryText, background: nil)
    if document.layout != .card || texts.secondary == nil { buttons.append(["role": "close"]) }
    return buttons
  }

  private static func url(_ action: String?) -> JSON? {
    action.flatMap { $0 == MessageContent.dismissal ? JSON?.none : .string($0) }
  }
}
