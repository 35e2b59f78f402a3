import ClientRuntime
import Foundation
import ServerTestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Links, referrals and invitations against a real server.
@Suite struct LinksTests {
  private static func builder(_ link: String = "https://acme.test/?invitedby=u1", prefix: String = "https://go.acme.test/r")
    throws
    -> DynamicLinkComponents
  {
    try #require(DynamicLinkComponents(link: try webURL(link), domainURIPrefix: prefix))
  }

  private static func parameters(_ url: URL?) -> [String: String] {
    let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems } ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
  }

  @Test("the builder writes every parameter by its name, and leaves out what is not set")
  func parameters() throws {
    let builder = try Self.builder()
    #expect(Self.parameters(builder.url) == ["link": "https://acme.test/?invitedby=u1"])
    builder.iOSParameters = DynamicLinkIOSParameters(bundleID: "test.acme.ios")
    builder.iOSParameters.appStoreID = "900100200"
    builder.iOSParameters.minimumAppVersion = "1.2.3"
    builder.iOSParameters.customScheme = "acme"
    builder.iOSParameters.fallbackURL = URL(string: "https://acme.test/ios")
    builder.iOSParameters.iPadBundleID = "test.acme.bare"
    builder.iOSParameters.iPadFallbackURL = URL(string: "https://acme.test/ipad")
    builder.androidParameters = DynamicLinkAndroidParameters(packageName: "test.acme.app")
    builder.androidParameters.minimumVersion = 125
    builder.androidParameters.fallbackURL = URL(string: "https://acme.test/android")
    builder.analyticsParameters = DynamicLinkGoogleAnalyticsParameters(source: "s", medium: "m", campaign: "c & d")
    builder.analyticsParameters.term = "t"
    builder.analyticsParameters.content = ""
    builder.iTunesConnectParameters = DynamicLinkItunesConnectAnalyticsParameters()
    builder.iTunesConnectParameters.providerToken = "1"
    builder.iTunesConnectParameters.affiliateToken = "2"
    builder.iTunesConnectParameters.campaignToken = "3"
    builder.socialMetaTagParameters = DynamicLinkSocialMetaTagParameters()
    builder.socialMetaTagParameters.title = "Join me"
    builder.socialMetaTagParameters.descriptionText = "Zażółć"
    builder.socialMetaTagParameters.imageURL = URL(string: "https://acme.test/i.png")
    builder.navigationInfoParameters = DynamicLinkNavigationInfoParameters()
    builder.navigationInfoParameters.isForcedRedirectEnabled = true
    builder.otherPlatformParameters = DynamicLinkOtherPlatformParameters()
    builder.otherPlatformParameters.fallbackUrl = URL(string: "https://acme.test/desktop")
    #expect(
      Self.parameters(builder.url) == [
        "link": "https://acme.test/?invitedby=u1", "ibi": "test.acme.ios", "isi": "900100200", "imv": "1.2.3", "ius": "acme",
        "ifl": "https://acme.test/ios", "ipbi": "test.acme.bare", "ipfl": "https://acme.test/ipad", "apn": "test.acme.app",
        "amv": "125", "afl": "https://acme.test/android", "utm_source": "s", "utm_medium": "m", "utm_campaign": "c & d",
        "utm_term": "t", "pt": "1", "at": "2", "ct": "3", "st": "Join me", "sd": "Zażółć", "si": "https://acme.test/i.png",
        "efr": "1", "ofl": "https://acme.test/desktop",
      ])
  }

  @Test(
    "a prefix must be an https URL; a bare host becomes one",
    arguments: [
      ("https://go.acme.test/r", true), ("http://go.acme.test/r", false), ("go.acme.test", false), ("https://", false),
      ("", false),
    ])
  func prefixes(prefix: String, isGood: Bool) throws {
    let link = try webURL("https://acme.test/play")
    #expect((DynamicLinkComponents(link: link, domainURIPrefix: prefix) != nil) == isGood)
    let old = DynamicLinkComponents(link: link, domain: "example.page.link")
    #expect(old.domainURIPrefix == "https://example.page.link")
    #expect(old.link == link)
    #expect(old.url?.absoluteString.hasPrefix("https://example.page.link/?link=https%3A%2F%2Facme.test%2Fplay") == true)
  }

  @Test(
    "a short link has 17 characters, or few; equal input has the same link; it leads where the long one does",
    arguments: ["https://go.acme.test/r", "https://example.page.link"])
  func short(prefix: String) async throws {
    try await AppServer.run { server in
      let links = server.app().links
      let builder = try Self.builder(prefix: prefix)
      let long = try #require(builder.url)
      let first = try await links.shorten(long, options: nil)
      #expect(first.url.absoluteString.hasPrefix(prefix + "/"))
      #expect(first.url.absoluteString.dropFirst(prefix.count).wholeMatch(of: /\/[0-9A-Za-z]{17}/) != nil, "\(first.url)")
      #expect(try await links.shorten(long, options: nil).url == first.url)
      let options = DynamicLinkComponentsOptions()
      options.pathLength = .short
      let short = try await links.shorten(long, options: options).url
      #expect((4...8).contains(short.lastPathComponent.count))
      let opened = try await LinkServer(api: server.api).open(first.url.absoluteString, as: .desktop)
      #expect(opened.status == 302)
      #expect(opened["location"] == "https://acme.test/?invitedby=u1")
      #expect(try await links.resolveShortLink(short).absoluteString.contains("link="))
    }
  }

  @Test("what the server says against a link comes with it; what it refuses is an error with its sentence")
  func warnings() async throws {
    try await AppServer.run { server in
      let links = server.app().links
      let builder = try Self.builder()
      builder.androidParameters = DynamicLinkAndroidParameters(packageName: "test.unknown")
      #expect(try await links.shorten(try #require(builder.url), options: nil).warnings.count == 1)
      let foreign = try #require(try Self.builder(prefix: "https://other.test").url)
      let error = await failure { _ = try await links.shorten(foreign, options: nil) }
      #expect((error as? DynamicLinksError)?.code == 400)
      #expect("\(String(describing: error))".contains("other.test"))
      let keyless = server.app("keyless") { $0.apiKey = nil }.links
      let missing = await failure { _ = try await keyless.shorten(try #require(builder.url), options: nil) }
      #expect("\(String(describing: missing))".contains("API key is missing"))
    }
  }

  @Test(
    "a universal link is read: short by the server, long at once; another host's is none",
    arguments: [
      ("https://evil.test/r/aB3x", false), ("https://go.acme.test/rabbit/aB3x", false),
      ("https://go.acme.test/r/link/dismiss", false),
      ("https://other.page.link/aB3x/c", false), ("ftp://go.acme.test/r/aB3x", false), ("https://go.acme.test/r", false),
      ("https://go.acme.test/r/?link=javascript%3Aalert(1)", false), ("https://other.page.link/aB3x", true),
      ("https://go.acme.test/r/a/b", true), ("https://go.acme.test/r/?link=https%3A%2F%2Facme.test%2F&imv=2", true),
      ("HTTPS://GO.ACME.TEST/r/aB3x?cid=1", true),
    ])
  func forms(text: String, isOurs: Bool) throws {
    let forms = LinkForms(schemes: ["acme"], prefixes: ["https://go.acme.test/r"])
    #expect((forms.kind(try webURL(text)) != nil) == isOurs)
  }

  @Test("handling a universal link says at once whether it is one, and then what it says")
  func universal() async throws {
    try await AppServer.run { server in
      let links = server.app().links
      #expect(!links.handleUniversalLink(try webURL("https://evil.test/a")) { _, _ in Issue.record("called") })
      let long = try #require(try Self.builder().url)
      let short = try await links.shorten(long, options: nil).url
      for url in [long, short] {
        let link: DynamicLink? = await withCheckedContinuation { continuation in
          let isOurs = links.handleUniversalLink(url) { link, _ in continuation.resume(returning: link) }
          #expect(isOurs)
        }
        #expect(link?.url?.absoluteString == "https://acme.test/?invitedby=u1")
        #expect(link?.matchConfidence == .strong)
      }
      #expect(links.matchesShortLinkFormat(short))
      #expect(!links.matchesShortLinkFormat(long))
      let unknown = try webURL("https://go.acme.test/r/nothingthere")
      let error = await failure { _ = try await links.dynamicLink(fromUniversalLink: unknown) }
      #expect(number(of: error) == 404)
      #expect(error.map { ($0 as NSError).domain } == "com.firebase.dynamicLinks")
    }
  }

  @Test(
    "a URL of the app's scheme is read",
    arguments: [
      ("acme://google/link/?deep_link_id=https%3A%2F%2Facme.test%2F%3Fa%3D1&match_type=unique&imv=3&utm_source=x", "unique"),
      ("ACME://google/link?deep_link_id=https%3A%2F%2Facme.test%2F%3Fa%3D1", "unique"),
      ("acme://google/link/?deep_link_id=https%3A%2F%2Facme.test%2F%3Fa%3D1&match_type=default", "default"),
      ("acme://google/link/?deep_link_id=https%3A%2F%2Facme.test%2F%3Fa%3D1&is_weak_match=1", "weak"),
      ("acme://google/link/?dismiss=1&is_weak_match=1", "weak"), ("acme://google/link/", "nil"),
      ("acme://google/links?a=1", "nil"),
      ("other://google/link/?deep_link_id=x", "nil"), ("acme://elsewhere/link/?deep_link_id=x", "nil"),
      ("acme://google/link/?utm_source=x", "none"),
    ])
  func scheme(text: String, type: String) async throws {
    try await AppServer.run { server in
      let links = server.app { $0.deepLinkURLScheme = "acme" }.links
      let url = try webURL(text)
      let link = links.dynamicLink(fromCustomSchemeURL: url)
      #expect(link.map { "\($0.matchType)" } ?? "nil" == type)
      #expect(link?.matchConfidence != .strong || type == "unique")
      if text.contains("dismiss") { #expect(link?.url == nil) }
    }
  }

  @Test("the scheme of the options counts from before the app is configured, and not after")
  func schemeOption() throws {
    let options = FirebaseOptions(server: try webURL("http://127.0.0.1:9"), apiKey: "k")
    options.deepLinkURLScheme = "acme"
    let app = DoubloonApp(name: "scheme", options: options, runtime: nil)
    options.deepLinkURLScheme = "later"
    let url = try webURL("acme://google/link/?deep_link_id=https%3A%2F%2Fa.test")
    #expect(app.links.shouldHandleDynamicLink(fromCustomSchemeURL: url))
    app.options.deepLinkURLScheme = "later"
    #expect(app.links.shouldHandleDynamicLink(fromCustomSchemeURL: url))
  }

  @Test("a player invites by a link or its code; who was invited claims once, and the inviter sees it")
  func claim() async throws {
    try await AppServer.run { server in
      let alice = server.app("alice")
      let inviter = try await alice.authentication.signInAnonymously().user
      let made = try await alice.links.shorten(try #require(try Self.builder().url), options: nil)
      let code = try #require(made.code)
      let bob = server.app("bob")
      let start = try await Referrals.referrals(app: bob).begin(proof: .code(code))
      #expect(start.claimProblem == nil)
      #expect(start.claim?.referredBy == inviter.uid)
      #expect(start.user === bob.authentication.currentUser)
      #expect(start.user.isAnonymous)
      let again = await failure { _ = try await Referrals.referrals(app: bob).claim(.code(code)) }
      let own = await failure { _ = try await Referrals.referrals(app: alice).claim(.code(code)) }
      #expect(own is DynamicLinksError)
      #expect(again == nil || again is DynamicLinksError)
      let nobody = await failure { _ = try await Referrals.referrals(app: server.app("carol")).claim(.code(code)) }
      #expect((nobody as? AuthError)?.code == .nullUser)
    }
  }

  @Test("the first start finds the link by its proof, once for an installation")
  func firstOpen() async throws {
    try await AppServer.run { server in
      let app = server.app()
      let builder = try Self.builder()
      builder.iOSParameters = DynamicLinkIOSParameters(bundleID: "test.acme.ios")
      let made = try await app.links.shorten(try #require(builder.url), options: nil)
      let proof = try await LinkServer(api: server.api).clipboard(made.url.absoluteString)
      let first = try await app.links.firstOpen(proof: .link(proof))
      #expect(first?.link.url?.absoluteString == "https://acme.test/?invitedby=u1")
      #expect(first?.link.matchConfidence == .strong)
      #expect(try await app.links.firstOpen(proof: .link(proof)) == nil)
    }
  }

  @Test("invitations have the server's words, and each channel does what it says")
  func invites() async throws {
    try await AppServer.run { server in
      let app = server.app()
      try await app.authentication.signInAnonymously()
      let link = try webURL("https://go.acme.test/r/aB3x")
      let invites = Invites.invites(app: app)
      let mail = try await invites.render(channel: .email, inviter: "Ann", link: link)
      #expect(mail.subject?.contains("Ann") == true)
      #expect(mail.html?.contains(link.absoluteString) == true)
      #expect(try await invites.render(channel: .copy, link: link).body == nil)
      let done = Locked<[InviteAction]>([])
      let perform: @Sendable (InviteAction) -> Void = { action in done.withLock { $0.append(action) } }
      let content = InviteContent(subject: "Join & win", body: "Play with me", link: link)
      let presenters: [any InvitePresenting] = [
        EmailInvite(content: content, perform: perform), MessageInvite(content: content, perform: perform),
        CopyLinkInvite(content: content, perform: perform), ShareInvite(content: content, perform: perform),
      ]
      for presenter in presenters where presenter.isAvailable { presenter.sendInvite() }
      #expect(
        done.copy == [
          .open(
            try webURL("mailto:?subject=Join%20%26%20win&body=Play%20with%20me%20https%3A%2F%2Fgo.acme.test%2Fr%2FaB3x")),
          .open(try webURL("sms:?&body=Play%20with%20me%20https%3A%2F%2Fgo.acme.test%2Fr%2FaB3x")),
          .copy(link.absoluteString), .share(["Play with me", link.absoluteString]),
        ])
      let refused = await failure { _ = try await invites.send(channel: .email, to: "bob@acme.test") }
      #expect((refused as? DynamicLinksError)?.remoteStatus == "PERMISSION_DENIED")
    }
  }
}
