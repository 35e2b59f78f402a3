public import Foundation

/// How a message was closed.
public enum InAppMessagingDismissType: Sendable {
  case typeUserSwipe, typeUserTapClose, typeAuto, unspecified
}

/// The name until version 11 of Firebase's SDK.
@available(*, deprecated, renamed: "InAppMessagingDismissType")
public typealias FIRInAppMessagingDismissType = InAppMessagingDismissType

/// The form of a message.
public enum InAppMessagingDisplayMessageType: Sendable {
  case modal, banner, imageOnly, card
}

/// What made a message show.
public enum InAppMessagingDisplayTriggerType: Sendable {
  case onAppForeground, onAnalyticsEvent
}

/// Which campaign a message is of.
public struct InAppMessagingCampaignInfo: Sendable, Equatable {
  /// Its id.
  public let messageID: String
  /// What the studio called it.
  public let campaignName: String
  /// Whether it was sent to this device for a test.
  public let renderAsTestMessage: Bool

  public init(messageID: String, campaignName: String, renderAsTestMessage: Bool = false) {
    self.messageID = messageID
    self.campaignName = campaignName
    self.renderAsTestMessage = renderAsTestMessage
  }
}

/// What following a message does.
public struct InAppMessagingAction: Sendable, Equatable {
  /// The words of the button.
  public let actionText: String?
  /// Where it leads.
  public let actionURL: URL?
  /// Which part of the message it is.
  public let role: Role

  /// A part of a message that can be followed.
  public enum Role: String, Sendable {
    /// The first button; the second one of a card; the whole of a banner or a picture.
    case primary, secondary, message
  }

  public init(actionText: String?, actionURL: URL?, role: Role = .primary) {
    self.actionText = actionText
    self.actionURL = actionURL
    self.role = role
  }
}

/// Why a message could not be shown.
public enum InAppMessagingDisplayRenderError: LocalizedError, Sendable, Equatable {
  /// A picture did not come, or too late.
  case imageNotLoaded
  /// What came is no picture.
  case imageDataInvalid
  /// What draws messages failed for another reason.
  case unspecifiedError

  /// What happened, and what to do.
  public var errorDescription: String? {
    switch self {
    case .imageNotLoaded: "The message's picture could not be loaded; is its address right, and open to everybody?"
    case .imageDataInvalid: "What came is no picture; its address must answer 200 with a Content-Type of image/…."
    case .unspecifiedError: "The message could not be drawn."
    }
  }

  /// As the server's count has it.
  var reason: String { self == .imageDataInvalid ? "IMAGE_UNSUPPORTED_FORMAT" : "IMAGE_FETCH_ERROR" }
}

/// A button of a message. Colours are `#RRGGBB`.
public struct InAppMessagingActionButton: Sendable, Equatable {
  /// Its words.
  public let buttonText: String
  /// Their colour.
  public let buttonTextColor: String
  /// The button's colour.
  public let buttonBackgroundColor: String

  public init(buttonText: String, buttonTextColor: String, buttonBackgroundColor: String) {
    self.buttonText = buttonText
    self.buttonTextColor = buttonTextColor
    self.buttonBackgroundColor = buttonBackgroundColor
  }

  /// A button without words.
  static let plain = InAppMessagingActionButton(
    buttonText: "", buttonTextColor: "#FFFFFF", buttonBackgroundColor: "#000000")
}

/// A picture of a message.
public struct InAppMessagingImageData: Sendable, Equatable {
  /// Where it is.
  public let imageURL: String
  /// Its bytes, once they are loaded.
  public let imageRawData: Data?

  public init(imageURL: String, imageRawData: Data?) {
    self.imageURL = imageURL
    self.imageRawData = imageRawData
  }
}

/// A message to be shown; one of its four subclasses.
///
/// `@unchecked Sendable`: every member of this class and of its subclasses is a constant of a Sendable type.
public class InAppMessagingDisplayMessage: @unchecked Sendable {
  /// Its campaign.
  public let campaignInfo: InAppMessagingCampaignInfo
  /// Its form.
  public let type: InAppMessagingDisplayMessageType
  /// What made it show.
  public let triggerType: InAppMessagingDisplayTriggerType
  /// What the studio wrote beside it, for the app; nil if nothing.
  public let appData: [String: String]?
  /// How it is to be shown beside what it says.
  public let presentation: InAppMessagingPresentation

  /// A message that an app makes itself, for previews and tests.
  init(_ campaign: InAppMessagingCampaignInfo, type: InAppMessagingDisplayMessageType, appData: [String: String]?) {
    campaignInfo = campaign
    self.type = type
    triggerType = .onAnalyticsEvent
    self.appData = appData
    presentation = InAppMessagingPresentation()
  }

  /// The message of a campaign.
  init(_ display: MessageModel.Display) {
    let campaign = display.campaign
    campaignInfo = InAppMessagingCampaignInfo(
      messageID: campaign.id, campaignName: campaign.name, renderAsTestMessage: campaign.isTest)
    type = campaign.content.type
    triggerType = if case .event = display.trigger { .onAnalyticsEvent } else { .onAppForeground }
    appData = campaign.data
    presentation = campaign.presentation
  }
}

/// A card: a title, a text, pictures for both orientations, one or two actions.
///
/// `@unchecked Sendable`: every member of this class and of its subclasses is a constant of a Sendable type.
public final class InAppMessagingCardDisplay: InAppMessagingDisplayMessage, @unchecked Sendable {
  /// What it says.
  public let title: String
  /// What it says below; nil if nothing.
  public let body: String?
  /// `#RRGGBB`.
  public let textColor: String
  /// For upright screens.
  public let portraitImageData: InAppMessagingImageData
  /// For wide screens.
  public let landscapeImageData: InAppMessagingImageData?
  /// `#RRGGBB`.
  public let displayBackgroundColor: String
  /// The first button and what it does.
  public let primary: (button: InAppMessagingActionButton, url: URL?)
  /// The second button.
  public let secondary: (button: InAppMessagingActionButton, url: URL?)?

  /// A card, for previews and tests.
  public init(
    campaign: InAppMessagingCampaignInfo, title: String, body: String?, colors: (text: String, background: String),
    portrait: InAppMessagingImageData, primary: (button: InAppMessagingActionButton, url: URL?),
    secondary: (button: InAppMessagingActionButton, url: URL?)? = nil, appData: [String: String]? = nil
  ) {
    self.title = title
    self.body = body
    (textColor, displayBackgroundColor) = colors
    portraitImageData = portrait
    landscapeImageData = nil
    self.primary = primary
    self.secondary = secondary
    super.init(campaign, type: .card, appData: appData)
  }

  init(_ display: MessageModel.Display, pictures: MessagePictures) {
    let content = display.campaign.content
    title = content.title ?? ""
    body = content.body
    (textColor, displayBackgroundColor) = (content.textColor, content.background)
    portraitImageData = InAppMessagingImageData(imageURL: content.image ?? "", imageRawData: pictures.main)
    landscapeImageData = content.landscapeImage.flatMap { url in
      pictures.landscape.map { InAppMessagingImageData(imageURL: url, imageRawData: $0) }
    }
    primary = (content.primary ?? .plain, content.primaryURL)
    secondary = content.secondary.map { ($0, content.secondaryURL) }
    super.init(display)
  }
}

/// A window: a title, a text, a picture, an action.
///
/// `@unchecked Sendable`: every member of this class and of its subclasses is a constant of a Sendable type.
public final class InAppMessagingModalDisplay: InAppMessagingDisplayMessage, @unchecked Sendable {
  /// What it says.
  public let title: String
  /// What it says below; nil if nothing.
  public let bodyText: String?
  /// A picture.
  public let imageData: InAppMessagingImageData?
  /// `#RRGGBB`.
  public let textColor: String
  /// `#RRGGBB`.
  public let displayBackgroundColor: String
  /// The button and what it does.
  public let action: (button: InAppMessagingActionButton, url: URL?)?

  /// A window, for previews and tests.
  public init(
    campaign: InAppMessagingCampaignInfo, title: String, bodyText: String?,
    colors: (text: String, background: String) = ("#000000", "#FFFFFF"), imageData: InAppMessagingImageData? = nil,
    action: (button: InAppMessagingActionButton, url: URL?)? = nil, appData: [String: String]? = nil
  ) {
    self.title = title
    self.bodyText = bodyText
    (textColor, displayBackgroundColor) = colors
    self.imageData = imageData
    self.action = action
    super.init(campaign, type: .modal, appData: appData)
  }

  init(_ display: MessageModel.Display, pictures: MessagePictures) {
    let content = display.campaign.content
    title = content.title ?? ""
    bodyText = content.body
    (textColor, displayBackgroundColor) = (content.textColor, content.background)
    imageData = content.image.map { InAppMessagingImageData(imageURL: $0, imageRawData: pictures.main) }
    action = content.primary.map { ($0, content.primaryURL) }
    super.init(display)
  }
}

/// A strip at the edge of the screen, which goes by itself.
///
/// `@unchecked Sendable`: every member of this class and of its subclasses is a constant of a Sendable type.
public final class InAppMessagingBannerDisplay: InAppMessagingDisplayMessage, @unchecked Sendable {
  /// What it says.
  public let title: String
  /// What it says below; nil if nothing.
  public let bodyText: String?
  /// A picture.
  public let imageData: InAppMessagingImageData?
  /// `#RRGGBB`.
  public let textColor: String
  /// `#RRGGBB`.
  public let displayBackgroundColor: String
  /// Where a tap leads.
  public let actionURL: URL?

  /// A strip, for previews and tests.
  public init(
    campaign: InAppMessagingCampaignInfo, title: String, bodyText: String?,
    colors: (text: String, background: String) = ("#000000", "#FFFFFF"), imageData: InAppMessagingImageData? = nil,
    actionURL: URL? = nil, appData: [String: String]? = nil
  ) {
    self.title = title
    self.bodyText = bodyText
    (textColor, displayBackgroundColor) = colors
    self.imageData = imageData
    self.actionURL = actionURL
    super.init(campaign, type: .banner, appData: appData)
  }

  init(_ display: MessageModel.Display, pictures: MessagePictures) {
    let content = display.campaign.content
    title = content.title ?? ""
    bodyText = content.body
    (textColor, displayBackgroundColor) = (content.textColor, content.background)
    imageData = content.image.map { InAppMessagingImageData(imageURL: $0, imageRawData: pictures.main) }
    actionURL = content.primaryURL
    super.init(display)
  }
}

/// A picture, and nothing else.
///
/// `@unchecked Sendable`: every member of this class and of its subclasses is a constant of a Sendable type.
public final class InAppMessagingImageOnlyDisplay: InAppMessagingDisplayMessage, @unchecked Sendable {
  /// The picture.
  public let imageData: InAppMessagingImageData
  /// Where a tap leads.
  public let actionURL: URL?

  /// A picture, for previews and tests.
  public init(
    campaign: InAppMessagingCampaignInfo, imageData: InAppMessagingImageData, actionURL: URL? = nil,
    appData: [String: String]? = nil
  ) {
    self.imageData = imageData
    self.actionURL = actionURL
    super.init(campaign, type: .imageOnly, appData: appData)
  }

  init(_ display: MessageModel.Display, pictures: MessagePictures) {
    let content = display.campaign.content
    imageData = InAppMessagingImageData(imageURL: content.image ?? "", imageRawData: pictures.main)
    actionURL = content.primaryURL
    super.init(display)
  }
}
