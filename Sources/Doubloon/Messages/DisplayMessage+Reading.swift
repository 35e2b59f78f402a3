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
