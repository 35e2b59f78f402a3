import Doubloon
import Foundation

/// The page LinksAndReferrals.
enum Links {
  static func run() async throws {
    let inviter = try await Auth.auth().signInAnonymously().user
    guard let page = URL(string: "https://example.com/play?invitedby=\(inviter.uid)"),
      let builder = DynamicLinkComponents(link: page, domainURIPrefix: "https://go.example.com/r")
    else { return }
    builder.iOSParameters = DynamicLinkIOSParameters(bundleID: "com.example.game")
    builder.socialMetaTagParameters = DynamicLinkSocialMetaTagParameters()
    builder.socialMetaTagParameters.title = "Dig with me"
    builder.options = DynamicLinkComponentsOptions()
    builder.options.pathLength = .short
    let (short, warnings) = try await builder.shorten()
    for warning in warnings { print("the server warns: \(warning)") }

    invite(with: short)
    try await opened(short)
    try Auth.auth().signOut()
    _ = try await Auth.auth().signInAnonymously()
    await claim("NOCODE")
  }

  static func invite(with link: URL) {
    let content = InviteContent(subject: "Dig with me", body: "Fifty pieces of eight for each of us.", link: link)
    let perform: @Sendable (InviteAction) -> Void = { action in
      switch action {
      case .open(let url): print("open \(url.scheme ?? "")")
      case .copy(let text): print("copy \(text.count) letters")
      case .share(let items): print("share \(items.count) things")
      }
    }
    let ways: [any InvitePresenting] = [
      EmailInvite(content: content, perform: perform), CopyLinkInvite(content: content, perform: perform),
      ShareInvite(content: content, perform: perform),
    ]
    for way in ways where way.isAvailable {
      print(way.name)
      way.sendInvite()
    }
  }

  static func opened(_ url: URL) async throws {
    guard let links = DynamicLinks.dynamicLinks() else { return }
    let link: DynamicLink?
    if links.shouldHandleDynamicLink(fromCustomSchemeURL: url) {
      link = links.dynamicLink(fromCustomSchemeURL: url)
    } else {
      link = try await links.dynamicLink(fromUniversalLink: url)
    }
    guard let link, let target = link.url else { return print("none of our links") }
    print("it leads to \(target.path), \(link.matchConfidence == .strong ? "for sure" : "perhaps")")
  }

  static func claim(_ code: String) async {
    do {
      let claim = try await Referrals.referrals().claim(.code(code))
      print("\(claim.referredBy) invited this player, once and for all")
    } catch {
      print("no claim: \(error.localizedDescription)")
    }
  }
}
