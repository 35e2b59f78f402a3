import Doubloon
import Foundation

/// Links by which a player invites, and links that open the game.
final class InvitationLinks: Sendable {
  private let home = "https://example.com/play"

  /// A link of the signed-in player's, with everything that the stores and the networks want to know.
  private func builder() throws -> DynamicLinkComponents {
    guard let uid = Auth.auth().currentUser?.uid, let page = URL(string: "\(home)?invitedby=\(uid)"),
      let prefix = FirebaseApp.app()?.options.dynamicLinkDomains.first,
      let builder = DynamicLinkComponents(link: page, domainURIPrefix: prefix)
    else { throw GameError("Type start first; and the configuration needs dynamicLinkDomains.") }
    builder.iOSParameters = DynamicLinkIOSParameters(bundleID: "com.example.game")
    builder.iOSParameters.minimumAppVersion = "1.0.1"
    builder.iOSParameters.appStoreID = "900100200"
    builder.androidParameters = DynamicLinkAndroidParameters(packageName: "com.example.game")
    builder.androidParameters.minimumVersion = 125
    builder.analyticsParameters = DynamicLinkGoogleAnalyticsParameters(source: "game", medium: "friend", campaign: "hunt")
    builder.iTunesConnectParameters = DynamicLinkItunesConnectAnalyticsParameters()
    builder.iTunesConnectParameters.providerToken = "1"
    builder.iTunesConnectParameters.campaignToken = "hunt"
    builder.socialMetaTagParameters = DynamicLinkSocialMetaTagParameters()
    builder.socialMetaTagParameters.title = "Dig with me"
    builder.socialMetaTagParameters.descriptionText = "Fifty pieces of eight for each of us."
    builder.socialMetaTagParameters.imageURL = URL(string: "https://example.com/chest.png")
    return builder
  }

  func invite() async throws {
    let builder = try builder()
    guard let long = builder.url else { throw GameError("The link cannot be built.") }
    let made = try await builder.invitation()
    print("Invitation: \(made.link)")
    if let code = made.code { print("Code: \(code)") }
    // The same on the ways that take a closure: by the builder, and of a long link.
    builder.options = DynamicLinkComponentsOptions()
    builder.options.pathLength = .short
    try await said { done in builder.shorten { url, warnings, error in done(url, warnings, error) } }
    try await said { done in
      DynamicLinkComponents.shortenURL(url: long, options: nil) { url, warnings, error in done(url, warnings, error) }
    }
    // As the first games built it.
    let old = DynamicLinkComponents(link: builder.link, domain: "example.page.link")
    print("Long: \(long.absoluteString.count) letters; of the old kind: \(old.url?.host ?? "none")")
  }

  private func said(_ call: (@escaping @Sendable (URL?, [String]?, (any Error)?) -> Void) -> Void) async throws {
    let url: URL? = try await withCheckedThrowingContinuation { continuation in
      call { url, warnings, error in
        for warning in warnings ?? [] { print("The server says: \(warning)") }
        if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: url) }
      }
    }
    if let url { print("Also: \(url)") }
  }

  /// The link in a URL; nil if it is none of the server's.
  func link(in url: URL) async throws -> DynamicLink? {
    guard let links = DynamicLinks.dynamicLinks() else { return nil }
    if links.shouldHandleDynamicLink(fromCustomSchemeURL: url) { return links.dynamicLink(fromCustomSchemeURL: url) }
    return try await withCheckedThrowingContinuation { continuation in
      let isOurs = links.handleUniversalLink(url) { link, error in
        if let link, let id = link.invitationID { print("Of invitation \(id).") }
        if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: link) }
      }
      if !isOurs { continuation.resume(returning: nil) }
    }
  }

  /// The ways on which this device can send an invitation.
  func showWays() throws {
    guard let link = try builder().url else { throw GameError("The link cannot be built.") }
    let name = Auth.auth().currentUser?.displayName ?? "A friend"
    let content = InviteContent(subject: "\(name) digs", body: "Dig with me!", link: link)
    let ways: [any InvitePresenting] = [
      EmailInvite(content: content, perform: Self.show),
      MessageInvite(content: content, isAvailable: false, perform: Self.show),
      CopyLinkInvite(content: content, perform: Self.show), ShareInvite(content: content, perform: Self.show),
    ]
    for way in ways where way.isAvailable {
      let (icon, name, subject) = (way.icon ?? "", way.name, way.content.subject ?? "")
      print("\(icon) \(name): \(subject)")
      way.sendInvite()
    }
  }

  private static let show: @Sendable (InviteAction) -> Void = { action in
    switch action {
    case .open(let url): print("  opens \(url.scheme ?? "")")
    case .copy(let text): print("  copies \(text.count) letters")
    case .share(let items): print("  shares \(items.count) things")
    }
  }
}

/// Something that the player can mend.
struct GameError: LocalizedError {
  let errorDescription: String?

  init(_ text: String) { errorDescription = text }
}
