import TreeModel

/// How a message is to be shown beside what it says: for components that draw it, and for screen readers.
public struct InAppMessagingPresentation: Sendable, Equatable {
  /// The language of its texts, by BCP 47; nil where the server did not say.
  public var language: String?
  /// Whether its texts run from right to left.
  public var isRightToLeft: Bool
  /// What the picture shows, for those who do not see it.
  public var imageDescription: String?
  /// Seconds after which it closes by itself; nil for never. The library closes it, by
  /// ``InAppMessagingDisplay/dismissMessage(_:)``.
  public var dismissAfter: Double?
  /// Whether a tap beside it closes it.
  public var dismissOutside: Bool

  /// A presentation, for previews and tests.
  public init(
    language: String? = nil, isRightToLeft: Bool = false, imageDescription: String? = nil, dismissAfter: Double? = nil,
    dismissOutside: Bool = true
  ) {
    self.language = language
    self.isRightToLeft = isRightToLeft
    self.imageDescription = imageDescription
    self.dismissAfter = dismissAfter
    self.dismissOutside = dismissOutside
  }

  /// - `json`: what a server of ours says beside the message.
  init(_ json: JSON?) {
    self.init(
      language: json?["language"]?.string, isRightToLeft: json?["direction"]?.string == "rtl",
      imageDescription: json?["imageAlt"]?.string, dismissOutside: json?["dismissOutside"]?.bool ?? true)
  }
}

/// Where a message stands on the screen.
public enum InAppMessagingPlacement: Sendable {
  /// At the upper edge, beside what the player does.
  case top
  /// In the middle, before everything else.
  case centre
}

extension InAppMessagingDisplayMessage {
  /// Where it stands: a banner at the top, everything else in the middle.
  public var placement: InAppMessagingPlacement { type == .banner ? .top : .centre }

  /// Whether nothing behind it can be reached while it is shown. What is not modal, a banner, a screen reader announces politely.
  public var isModal: Bool { type != .banner }

  /// What a screen reader calls it: its title and its text; of a picture alone what it shows. Empty where there is nothing to say.
  public var accessibilityLabel: String {
    let (title, body) = words
    let label = [title, body].compactMap(\.self).joined(separator: ". ")
    return label.isEmpty ? presentation.imageDescription ?? "" : label
  }

  /// What it says; a picture says nothing.
  var words: (title: String?, body: String?) {
    switch self {
    case let card as InAppMessagingCardDisplay: (card.title, card.body)
    case let modal as InAppMessagingModalDisplay: (modal.title, modal.bodyText)
    case let banner as InAppMessagingBannerDisplay: (banner.title, banner.bodyText)
    default: (nil, nil)
    }
  }
}
