package import TreeModel

/// How a message is to be previewed.
package struct PreviewRequest: Sendable {
  package var locale: String?
  package var variant: String?
  /// Values of the event.
  package var parameters: [JSON.Member] = []
  /// The player whose values the texts have: of what waits for the campaign, of the account, of places of the tree.
  package var uid: String?
  /// `ios`, `android`, `web`, or what apps call theirs.
  package var platform: String?
  /// Of the screen, in points.
  package var width: Int?

  package init() {}
}

/// What renderers draw: the same for every platform.
struct MessageModel {
  let document: CampaignDocument
  let content: MessageContent
  let language: String
  /// The language that was asked for; nil for the campaign's.
  let locale: String?
  let settings: MessageSettings
  /// Of the screen, in points: from 600 on a card has its landscape picture, else its portrait one; nil for both.
  var width: Int?
  /// Puts the values into a text.
  let fill: (String) -> String

  /// A screen of this width is held lengthwise, or is no telephone's.
  private static let landscapeMin = 600

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
          "label": .string(label.isEmpty ? alternative.map(fill) ?? "" : label), "isModal": .bool(document.layout != .banner),
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

  private var alternative: String? { content.alternative(for: locale) }

  private var images: [JSON] {
    let all = [("portrait", content.portraitImage), ("landscape", content.landscapeImage), ("any", content.image)]
    let hidden = width.flatMap { content.landscapeImage == nil ? nil : $0 >= Self.landscapeMin ? "portrait" : "landscape" }
    return all.compactMap { orientation, url in
      orientation == hidden
        ? nil
        : url.map {
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
