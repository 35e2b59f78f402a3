import Links
import StorageCore
import Testing

/// Which link an installation, or an opening of the app, came from.
@Suite struct LinkAttributionTests {
  static let query =
    "link=https://acme.test/?gameid%3D7%26invitedby%3Du42&apn=test.acme.app&amv=125&ibi=test.acme.ios&imv=1.0.1&utm_source=orkut&st=Alice%20invites%20you"

  private func install(
    _ fixture: LinkFixture, _ link: String?, bundleID: String = "test.acme.ios", installedAt: Int64 = LinkFixture.start / 1000
  ) async throws -> InstallAttribution {
    var installation = Installation(bundleID: bundleID)
    (installation.link, installation.installedAt, installation.address) = (link, installedAt, "192.0.2.7")
    (installation.isIOS, installation.systemVersion) = (true, "17.5")
    return try await fixture.links.attribution.install(installation)
  }

  @Test("the proof of a click counts once, for the right app; without one there is nothing")
  func proof() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      let copied = try await fixture.clipboard(link)
      #expect(copied.hasPrefix(link.address + "?cid=") && copied.hasSuffix("&_icp=1"))
      #expect(try await install(fixture, copied, bundleID: "other.app") == .none(.linkOfOtherApp))
      guard case .link(let payload, .provenClick) = try await install(fixture, copied) else { throw Unexpected("no link") }
      #expect(payload.deepLink == "https://acme.test/?gameid=7&invitedby=u42")
      #expect(payload.requestedLink == link.address && payload.resolvedLink == link.longLink)
      #expect(payload.parameters[.iosMinimumVersion] == "1.0.1" && payload.parameters[.utmSource] == "orkut")
      #expect(payload.iosFallback == "https://apps.apple.com/app/id900100200?mt=8")
      #expect(try await install(fixture, copied) == .none(.usedProof))
      #expect(try await install(fixture, nil) == .none(.heuristicsOff))
      let long = try await fixture.clipboard(long: Self.query)
      guard case .link(_, .provenClick) = try await install(fixture, long) else { throw Unexpected("no link") }
    }
  }

  @Test("a forged, foreign or old proof is none; a bare link is a guess that names nobody")
  func forged() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      let other = try await fixture.create("link=https://acme.test/other&ibi=test.acme.ios").record
      let copied = try await fixture.clipboard(link)
      let token = try LinkFixture.token(of: copied)
      let flipped = String(token.dropLast()) + (token.last == "A" ? "B" : "A")
      for text in [
        "\(other.address)?cid=\(token)&_icp=1", "\(link.address)?cid=\(flipped)", "\(link.address)?cid=",
        "\(link.address)?cid=AAAA",
      ] {
        #expect(try await install(fixture, text) == .none(.badProof), "\(text)")
      }
      guard case .link(let bare, .linkOnly) = try await install(fixture, link.address) else { throw Unexpected("no link") }
      #expect(bare.deepLink == "https://acme.test/?gameid=7", "the inviter is not named")
      #expect(bare.requestedLink == nil && bare.resolvedLink == nil && bare.invitation == nil)
      fixture.clock.advance(by: 91 * 86_400_000)
      #expect(try await install(fixture, copied) == .none(.badProof), "too old")
    }
  }

  @Test("what is no link of the project is none, and a disabled one neither")
  func unknown() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      for text in [
        "https://go.acme.test/r/none", "https://evil.test/x", "no link", "https://go.acme.test/r/?link=https://evil.test",
      ] {
        #expect(try await install(fixture, text) == .none(.unknownLink), "\(text)")
      }
      _ = try await fixture.links.edit(link.key, edit: LinkEdit(isDisabled: true), actor: .admin("ann"))
      #expect(try await install(fixture, link.address) == .none(.unknownLink))
    }
  }

  @Test("Android: the referrer of the store proves the click, and counts an installation")
  func referrer() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      var installation = Installation(bundleID: "test.acme.app")
      installation.referrer = try await fixture.referrer(link)
      guard case .link(let payload, .provenClick) = try await fixture.links.attribution.install(installation) else {
        throw Unexpected("no link")
      }
      #expect(payload.parameters[.androidMinimumVersion] == "125")
      let counts = try await fixture.counts(link)
      #expect(counts.contains("ANDROID APP_INSTALL 1") && counts.contains("ANDROID APP_FIRST_OPEN 1"), "\(counts)")
    }
  }

  @Test("guessing, where it is on: one click is enough, several are weak, and nobody is named")
  func heuristics() async throws {
    let settings = LinkFixture.settings.replacing("\"apiKeys\"", with: #""heuristics":{"enabled":true},"apiKeys""#)
    try await LinkFixture.run(settings: settings) { fixture in
      let a = try await fixture.create(Self.query).record
      let b = try await fixture.create(Self.query + "&ct=2").record
      fixture.open(a, by: LinkFixture.iphone)
      guard case .link(let one, .similarClicks(1)) = try await install(fixture, nil) else { throw Unexpected("no link") }
      #expect(one.deepLink == "https://acme.test/?gameid=7" && one.requestedLink == nil && one.resolvedLink == nil)
      #expect(try await install(fixture, nil) == .none(.noSimilarClick), "a guess is made once")
      fixture.open(a, by: LinkFixture.iphone)
      #expect(try await install(fixture, nil, installedAt: 1) == .none(.noSimilarClick), "a click behind the installation")
      guard case .link(_, .similarClicks(1)) = try await install(fixture, nil, installedAt: .max) else {
        throw Unexpected("an installation in the future counts as one that is now")
      }
      fixture.open(a, by: LinkFixture.iphone)
      fixture.open(b, by: LinkFixture.iphone)
      guard case .link(_, .similarClicks(2)) = try await install(fixture, nil) else { throw Unexpected("no link") }
      fixture.open(a, by: LinkVisitor(userAgent: "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X)"))
      #expect(try await install(fixture, nil) == .none(.noSimilarClick), "another version of the system")
      fixture.open(a, by: LinkFixture.iphone, address: "198.51.100.1")
      #expect(try await install(fixture, nil) == .none(.noSimilarClick), "another network")
      fixture.open(a, by: LinkFixture.iphone)
      #expect(try await install(fixture, nil, bundleID: "other.app") == .none(.noSimilarClick))
      fixture.clock.advance(by: 25 * 3_600_000)
      #expect(try await install(fixture, nil) == .none(.noSimilarClick), "the window is over")
      var unknown = Installation(bundleID: "test.acme.ios")
      unknown.isIOS = true
      #expect(try await fixture.links.attribution.install(unknown) == .none(.unknownAddress))
    }
  }

  @Test("an app that was opened by a link learns what it says; one that nobody knows is refused")
  func reopen() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      for text in [link.address, "\(LinkFixture.prefix)/?\(Self.query)"] {
        let payload = try await fixture.links.attribution.reopen(text, bundleID: "test.acme.ios")
        #expect(payload.deepLink == "https://acme.test/?gameid=7&invitedby=u42" && payload.resolvedLink == link.longLink)
      }
      #expect(try await fixture.counts(link) == ["IOS APP_RE_OPEN 1"], "long links are not counted")
      let unknown = "https://go.acme.test/r/none"
      await #expect(throws: LinkError.unknownLink(unknown)) {
        try await fixture.links.attribution.reopen(unknown, bundleID: "test.acme.ios")
      }
      await #expect(throws: LinkError.unknownInvitation(id: "none")) {
        try await fixture.links.attribution.convert(invitation: "none")
      }
    }
  }

  @Test("openings and first openings are counted by platform and day")
  func counts() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      fixture.open(link, by: LinkFixture.android)
      fixture.open(link, by: LinkFixture.iphone)
      _ = try await install(fixture, try await fixture.clipboard(link))
      #expect(try await fixture.counts(link) == ["ANDROID CLICK 1", "IOS APP_FIRST_OPEN 1", "IOS CLICK 1"])
      fixture.clock.advance(by: 3 * 86_400_000)
      fixture.open(link, by: LinkFixture.iphone)
      #expect(try await fixture.counts(link, days: 2) == ["IOS CLICK 1"])
    }
  }
}
