public import Foundation
import TextFormats
import TreeModel

/// What an invitation says.
public struct InviteContent: Sendable, Equatable {
  /// For channels that have one.
  public var subject: String?
  /// The words.
  public var body: String?
  /// The invitation itself: the one thing that no channel can do without.
  public var link: URL
  /// A picture, for mails.
  public var imageURL: URL?
  /// The words as a page, for mails.
  public var html: String?

  public init(subject: String? = nil, body: String? = nil, link: URL, imageURL: URL? = nil, html: String? = nil) {
    self.subject = subject
    self.body = body
    self.link = link
    self.imageURL = imageURL
    self.html = html
  }

  /// The words with the link at the end, unless they hold it.
  var text: String {
    let words = body ?? ""
    return words.contains(link.absoluteString)
      ? words : [words, link.absoluteString].filter { !$0.isEmpty }.joined(separator: " ")
  }
}

/// On which way an invitation goes; the server has words for each.
public enum InviteChannel: String, Sendable, CaseIterable {
  case email, sms, copy, share, partner
}

/// What the app does to send an invitation.
public enum InviteAction: Sendable, Equatable {
  /// Open a URL: `mailto:`, `sms:`, or that of another app.
  case open(URL)
  /// Put a text on the pasteboard.
  case copy(String)
  /// Show the system's sheet with these texts and links.
  case share([String])
}

/// One way of sending an invitation, as a button shows it; without types of any user interface.
public protocol InvitePresenting: Sendable {
  /// What the button says.
  var name: String { get }
  /// The name of its picture in the app.
  var icon: String? { get }
  /// Whether this device can.
  var isAvailable: Bool { get }
  /// What is sent.
  var content: InviteContent { get }
  /// What the app does.
  var action: InviteAction { get }
  /// Does it.
  func sendInvite()
}

/// By mail, with subject and words.
public struct EmailInvite: InvitePresenting {
  public var name = "E-mail"
  public var icon: String? = "envelope"
  public var isAvailable: Bool
  public let content: InviteContent
  private let perform: @Sendable (InviteAction) -> Void

  /// - `perform`: does the action; in an app for iPhones, `UIApplication.shared.open`.
  public init(content: InviteContent, isAvailable: Bool = true, perform: @escaping @Sendable (InviteAction) -> Void) {
    (self.content, self.isAvailable, self.perform) = (content, isAvailable, perform)
  }

  public var action: InviteAction {
    let subject = content.subject.map { "subject=\(PercentEncoding.encode($0))&" } ?? ""
    return .open(content.url("mailto:?\(subject)body=\(PercentEncoding.encode(content.text))"))
  }
  public func sendInvite() { perform(action) }
}

/// By text message, in few words.
public struct MessageInvite: InvitePresenting {
  public var name = "Message"
  public var icon: String? = "message"
  public var isAvailable: Bool
  public let content: InviteContent
  private let perform: @Sendable (InviteAction) -> Void

  /// - `perform`: does the action.
  public init(content: InviteContent, isAvailable: Bool = true, perform: @escaping @Sendable (InviteAction) -> Void) {
    (self.content, self.isAvailable, self.perform) = (content, isAvailable, perform)
  }

  public var action: InviteAction { .open(content.url("sms:?&body=\(PercentEncoding.encode(content.text))")) }
  public func sendInvite() { perform(action) }
}

/// The link on the pasteboard, and nothing else.
public struct CopyLinkInvite: InvitePresenting {
  public var name = "Copy link"
  public var icon: String? = "doc.on.doc"
  public var isAvailable: Bool { true }
  public let content: InviteContent
  private let perform: @Sendable (InviteAction) -> Void

  /// - `perform`: does the action.
  public init(content: InviteContent, perform: @escaping @Sendable (InviteAction) -> Void) {
    (self.content, self.perform) = (content, perform)
  }

  public var action: InviteAction { .copy(content.link.absoluteString) }
  public func sendInvite() { perform(action) }
}

/// By the system's sheet: few words and the link.
public struct ShareInvite: InvitePresenting {
  public var name = "Share"
  public var icon: String? = "square.and.arrow.up"
  public var isAvailable: Bool { true }
  public let content: InviteContent
  private let perform: @Sendable (InviteAction) -> Void

  /// - `perform`: does the action.
  public init(content: InviteContent, perform: @escaping @Sendable (InviteAction) -> Void) {
    (self.content, self.perform) = (content, perform)
  }

  public var action: InviteAction { .share([content.body, content.link.absoluteString].compactMap(\.self)) }
  public func sendInvite() { perform(action) }
}

/// By another app that knows what an invitation is; off unless the app says that it is there.
public struct PartnerInvite: InvitePresenting {
  public var name: String
  public var icon: String?
  public var isAvailable: Bool
  public let content: InviteContent
  private let base: URL
  private let perform: @Sendable (InviteAction) -> Void

  /// - `base`: the other app's URL, to which `?invite=LINK` is added.
  /// - `perform`: does the action.
  public init(
    name: String, base: URL, content: InviteContent, isAvailable: Bool = false,
    perform: @escaping @Sendable (InviteAction) -> Void
  ) {
    (self.name, self.base, self.content, self.isAvailable, self.perform) = (name, base, content, isAvailable, perform)
  }

  public var action: InviteAction {
    .open(content.url("\(base.absoluteString)?invite=\(PercentEncoding.encode(content.link.absoluteString))"))
  }
  public func sendInvite() { perform(action) }
}

extension InviteContent {
  /// What is encoded is a URL; the link stands for what is none.
  fileprivate func url(_ text: String) -> URL { URL(string: text) ?? link }
}

/// An invitation that the server knows.
public struct SentInvite: Sendable, Equatable {
  /// Its id.
  public let id: String
  /// `queued`, `sent`, `failed`, `opened`, `clicked`, `converted`…
  public let state: String
  /// What it says.
  public let content: InviteContent
}

/// The words of invitations, which the studio changes at the server, and mails that the server sends.
public final class Invites: Sendable {
  private let links: DynamicLinks

  init(_ app: DoubloonApp) { links = app.links }

  /// The invitations of the default app.
  public static func invites() -> Invites { Invites(DoubloonApp.current) }

  /// The invitations of an app.
  public static func invites(app: DoubloonApp) -> Invites { Invites(app) }

  /// What an invitation says on a channel, in the player's language.
  ///
  /// - `link`: an invitation link; nil makes one for the signed-in player.
  /// - `inviter`: the name that others see.
  public func render(
    channel: InviteChannel, campaign: String? = nil, locale: String? = nil, inviter: String? = nil, link: URL? = nil
  ) async throws -> InviteContent {
    let body = JSON(fields: [
      ("channel", .string(channel.rawValue)), ("campaign", campaign.map { .string($0) }),
      ("locale", locale.map { .string($0) }),
      ("inviter", inviter.map { .string($0) }), ("link", link.map { .string($0.absoluteString) }),
    ])
    return try Self.content(try await links.ask("/v1/invites:render", body, kind: .links, bearer: try await links.bearer()))
  }

  /// Makes an invitation of the signed-in player's. Mails are sent by the server, in the name of players whose address is
  /// confirmed; on the other channels the app sends what comes back.
  ///
  /// - `address`: to whom; for mails alone.
  public func send(
    channel: InviteChannel, to address: String? = nil, campaign: String? = nil, locale: String? = nil, message: String? = nil
  ) async throws -> SentInvite {
    guard let token = try await links.bearer() else { throw AuthError(.nullUser) }
    let body = JSON(fields: [
      ("channel", .string(channel.rawValue)), ("to", address.map { .string($0) }), ("campaign", campaign.map { .string($0) }),
      ("locale", locale.map { .string($0) }), ("message", message.map { .string($0) }),
    ])
    let json = try await links.ask("/v1/invites:send", body, kind: .links, bearer: token)
    guard let id = json["invite"]?["id"]?.string, let content = json["content"] else {
      throw DynamicLinksError(.links, "The server's answer holds no invitation.")
    }
    return SentInvite(id: id, state: json["invite"]?["state"]?.string ?? "", content: try Self.content(content))
  }

  private static func content(_ json: JSON) throws -> InviteContent {
    guard let link = json["link"]?.string.flatMap({ URL(string: $0) }) else {
      throw DynamicLinksError(.links, "The server's answer holds no link.")
    }
    return InviteContent(
      subject: json["subject"]?.string, body: json["body"]?.string, link: link, html: json["html"]?.string)
  }
}
