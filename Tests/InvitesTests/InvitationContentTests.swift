import Invites
import Testing

/// What invitations say, channel by channel and language by language.
@Suite struct InvitationContentTests {
  @Test("each channel says what it should, and nothing else")
  func channels() async throws {
    try await InvitationFixture.run { fixture in
      let copy = try fixture.content(.copy)
      #expect(copy.link == InvitationFixture.link && copy.subject == nil && copy.body == nil && copy.html == nil)
      #expect(copy.uri == nil)
      let sms = try fixture.content(.sms)
      #expect(sms.body == "Join Alice <b>: https://go.acme.test/r/x", "a text is no markup")
      #expect(sms.subject == nil && sms.html == nil && sms.uri?.hasPrefix("sms:?&body=Join%20Alice") == true)
      let mail = try fixture.content(.email, message: "Come & play")
      #expect(mail.subject == "Alice <b> wants you to play Acme" && mail.body?.contains("Come & play") == true)
      let html = try #require(mail.html)
      #expect(html.contains("Alice &lt;b&gt;") && html.contains("Come &amp; play") && !html.contains("<b>"))
      #expect(html.contains("<a href=\"https://go.acme.test/r/x\"") && html.contains("src=\"https://cdn.acme.test/big.png\""))
      #expect(mail.uri?.hasPrefix("mailto:?subject=Alice%20%3Cb%3E") == true)
      let share = try fixture.content(.share)
      #expect(share.body == "Alice <b> invites you to Acme: https://go.acme.test/r/x" && share.html == nil)
      let partner = try fixture.content(.partner)
      #expect(partner.uri?.hasPrefix("partner://invite?url=https%3A%2F%2Fgo.acme.test%2Fr%2Fx&text=Alice") == true)
    }
  }

  @Test("languages: a region falls back to its language, a language without texts to English; a text message stays short")
  func languages() async throws {
    try await InvitationFixture.run { fixture in
      #expect(try fixture.content(.email, locales: ["de-AT"]).subject == "Alice <b> möchte mit dir Acme spielen")
      #expect(try fixture.content(.email, locales: ["pl_PL"]).subject == "Alice <b> zaprasza")
      #expect(try fixture.content(.email, locales: ["xx"]).subject == "Alice <b> wants you to play Acme")
      #expect(try fixture.content(.email, locales: ["xx", "fr"], inviter: "").subject?.hasPrefix("Un ami") == true)
      let long = String(repeating: "long ", count: 400)
      let body = try fixture.content(.sms, locales: ["fr"], message: long).body ?? ""
      #expect(body.utf16.count <= 459 && body.hasSuffix("https://go.acme.test/r/x"))
    }
  }

  @Test("the screen above the channels speaks the reader's language, or a studio's own words")
  func screen() async throws {
    try await InvitationFixture.run { fixture in
      let german = try fixture.invitations.screen(campaign: "default", locales: ["xx", "de-AT", "fr"])
      #expect(german.title == "Spielt Acme zusammen" && german.image == "https://cdn.acme.test/big.png")
      #expect(
        InvitationChannel.allCases.map { $0.name(in: ["de"]) } == [
          "E-Mail", "Nachricht", "Link kopieren", "Mehr", "Partner-App",
        ])
      #expect(InvitationChannel.allCases.map(\.icon) == ["mail", "message", "link", "share", "app"])
      let own = InvitationFixture.settings.replacing(
        "\"sms\":", with: "\"title\":\"Ahoy, {{appName}}\",\"pitch\":\"50 coins\",\"sms\":")
      try await fixture.invitations.put(try InvitationSettings(document: own))
      let screen = try fixture.invitations.screen(campaign: "default", locales: [])
      #expect(screen.title == "Ahoy, Acme" && screen.text == "50 coins")
    }
  }

  @Test("texts can be changed after launch; a campaign that is not there, and a channel that is off, are refused")
  func settings() async throws {
    try await InvitationFixture.run { fixture in
      let changed = InvitationFixture.settings.replacing("Join {{inviter}}", with: "Play with {{inviter}}")
      try await fixture.invitations.put(try InvitationSettings(document: changed))
      #expect(try fixture.content(.sms).body?.hasPrefix("Play with") == true)
      for bad in ["{{nobody}}", "{{inviter", "{{#message}}x"] {
        let document = InvitationFixture.settings.replacing("Join {{inviter}}", with: bad)
        #expect(throws: InvitationError.self, "\(bad)") { try InvitationSettings(document: document) }
      }
      #expect(throws: InvitationError.unknownCampaign("none", known: ["default"])) {
        try fixture.invitations.campaign("none")
      }
      try await fixture.invitations.put(InvitationSettings())
      #expect(throws: InvitationError.self) { try fixture.content(.partner) }
    }
  }

  @Test("channels that a device cannot use are not available")
  func available() {
    func usable(_ device: String, canSendMail: Bool) -> [InvitationChannel] {
      InvitationChannel.allCases.filter { $0.isAvailable(on: device, canSendMail: canSendMail) }
    }
    #expect(usable("desktop", canSendMail: false) == [.copy])
    #expect(usable("iphone", canSendMail: true) == InvitationChannel.allCases)
  }

  @Test("a mail of the server names the account, shows the way out, and carries no address by the player's words")
  func mail() async throws {
    try await InvitationFixture.run { fixture in
      func mail(_ sender: String, message: String? = nil, locales: [String] = []) throws -> InvitationContent {
        try fixture.invitations.mail(
          campaign: "default", locales: locales, sender: sender, message: message, link: InvitationFixture.link,
          unsubscribe: "https://go.acme.test/u")
      }
      let long = String(repeating: "n", count: 60)
      for (name, shown) in [
        ("Ann", "Ann"), (long, String(long.prefix(40))), ("Win at evil.com", "A friend"), ("http://evil", "A friend"),
        ("evil\u{200B}.com", "A friend"), ("Ann\u{202E}\u{2066} B.", "Ann B."), ("", "A friend"), ("bob@evil", "A friend"),
      ] {
        #expect(try mail(name).subject == "\(shown) wants you to play Acme")
      }
      let content = try mail("Ann", message: "Come on! It is 3.5 times the fun... ok?", locales: ["de-AT"])
      #expect(content.subject == "Ann möchte mit dir Acme spielen" && content.body?.contains("3.5 times") == true)
      #expect(content.body?.hasSuffix("https://go.acme.test/u?lang=de\n") == true)
      #expect(content.html?.contains("<a href=\"https://go.acme.test/u?lang=de\"") == true)
      for message in [
        "See https://evil.example/x", "go to evil.com now", "write to me@evil.example", "www.evil.example", "10.0.0.1/a",
      ] {
        #expect(throws: InvitationError.self, "\(message)") { try mail("Ann", message: message) }
      }
      #expect(content.watched(by: "https://go.acme.test/i.png").html?.contains("src=\"https://go.acme.test/i.png\"") == true)
    }
  }

  @Test("a name cannot become a header, markup or a template")
  func injection() async throws {
    try await InvitationFixture.run { fixture in
      let content = try fixture.content(.email, inviter: "Eve\r\nBcc: x {{link}}<img src=x>")
      #expect(content.subject?.contains { $0.isNewline } == false)
      #expect(content.subject?.contains("{{link}}") == true, "what a value holds is no template")
      #expect(content.html?.contains("<img src=x>") == false)
    }
  }
}
