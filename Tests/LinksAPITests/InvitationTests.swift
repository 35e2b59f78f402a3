import Invites
import Links
import ServerTestSupport
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// Invitations over a socket: rendering, sending, and how far they came.
@Suite struct InvitationTests {
  static let settings = """
    {"appName":"Acme","campaigns":{"default":{
      "link":"https://go.acme.test/r/?link=https://acme.test/play&apn=test.acme.app&ibi=test.acme.ios",
      "image":"https://cdn.acme.test/big.png","partner":"partner://invite?url={{link}}&text={{message}}",
      "templates":{"en":{"sms":"Join {{inviter}}: {{link}}"},"pl":{"subject":"{{inviter}} zaprasza"}}}}}
    """

  private func run(_ test: (LinkServer) async throws -> Void) async throws {
    try await LinkServer.run { server in
      let put = try await server.api.send("PUT", "/admin/v1/invites/settings", Self.settings, headers: APIServer.admin)
      #expect(put.status == 200, "\(put.body)")
      try await test(server)
    }
  }

  private func render(_ server: LinkServer, _ channel: String, _ more: String = "") async throws -> JSON {
    let body = "{\"channel\":\"\(channel)\",\"inviter\":\"Alice <b>\",\"link\":\"https://go.acme.test/r/x\"\(more)}"
    let (status, json) = try await server.post("/invites/render", body)
    #expect(status == 200, "\(json.compact)")
    return json
  }

  @Test("each channel says what it should, and nothing else")
  func channels() async throws {
    try await run { server in
      let copy = try await render(server, "copy")
      #expect(copy.object?.map(\.key) == ["channel", "link"] && copy["link"]?.string == "https://go.acme.test/r/x")
      let sms = try await render(server, "sms")
      #expect(sms["body"]?.string == "Join Alice <b>: https://go.acme.test/r/x", "a text is no markup")
      #expect(sms["subject"] == nil && sms["html"] == nil && sms["uri"]?.string?.hasPrefix("sms:?&body=Join%20Alice") == true)
      let mail = try await render(server, "email", ",\"message\":\"Come & play\"")
      #expect(mail["subject"]?.string == "Alice <b> wants you to play Acme")
      #expect(mail["text"]?.string?.contains("Come & play") == true && mail["text"]?.string == mail["body"]?.string)
      let html = try #require(mail["html"]?.string)
      #expect(html.contains("Alice &lt;b&gt;") && html.contains("Come &amp; play") && !html.contains("<b>"))
      #expect(html.contains("<a href=\"https://go.acme.test/r/x\"") && html.contains("src=\"https://cdn.acme.test/big.png\""))
      #expect(mail["uri"]?.string?.hasPrefix("mailto:?subject=Alice%20%3Cb%3E") == true)
      let share = try await render(server, "share")
      #expect(share["body"]?.string == "Alice <b> invites you to Acme: https://go.acme.test/r/x" && share["html"] == nil)
      let partner = try await render(server, "partner")
      #expect(partner["uri"]?.string?.hasPrefix("partner://invite?url=https%3A%2F%2Fgo.acme.test%2Fr%2Fx&text=Alice") == true)
    }
  }

  @Test("languages: a region falls back to its language, a language without texts to English; a text message stays short")
  func languages() async throws {
    try await run { server in
      #expect(
        try await render(server, "email", ",\"locale\":\"de-AT\"")["subject"]?.string == "Alice <b> möchte mit dir Acme spielen"
      )
      #expect(try await render(server, "email", ",\"locale\":\"pl_PL\"")["subject"]?.string == "Alice <b> zaprasza")
      #expect(try await render(server, "email", ",\"locale\":\"xx\"")["subject"]?.string == "Alice <b> wants you to play Acme")
      let long = String(repeating: "long ", count: 400)
      let sms = try await render(server, "sms", ",\"locale\":\"fr\",\"message\":\"\(long)\"")
      #expect(
        (sms["body"]?.string?.utf16.count ?? 999) <= 459 && sms["body"]?.string?.hasSuffix("https://go.acme.test/r/x") == true)
    }
  }

  @Test("texts can be changed after launch; what names an unknown placeholder is refused")
  func templates() async throws {
    try await run { server in
      let changed = Self.settings.replacing("Join {{inviter}}", with: "Play with {{inviter}}")
      _ = try await server.api.send("PUT", "/admin/v1/invites/settings", changed, headers: APIServer.admin)
      #expect(try await render(server, "sms")["body"]?.string?.hasPrefix("Play with") == true)
      for bad in ["{{nobody}}", "{{inviter", "{{#message}}x"] {
        let body = Self.settings.replacing("Join {{inviter}}", with: bad)
        let answer = try await server.api.send("PUT", "/admin/v1/invites/settings", body, headers: APIServer.admin)
        #expect(answer.status == 400, "\(bad)")
      }
      let shown = try await server.api.send("GET", "/admin/v1/invites/settings", headers: APIServer.admin)
      let back = try await server.api.send("PUT", "/admin/v1/invites/settings", shown.body, headers: APIServer.admin)
      #expect(back.status == 200 && back.body == shown.body)
    }
  }

  @Test("channels that a device cannot use are not available")
  func available() async throws {
    try await run { server in
      let answer = try await server.api.send(
        "GET", "/v1/invites/channels?device=desktop&canSendMail=false&key=\(LinkServer.key)")
      let rows = answer.json?["channels"]?.array ?? []
      let usable = rows.filter { $0["isAvailable"]?.bool == true }.compactMap { $0["channel"]?.string }
      #expect(rows.count == 5 && usable == ["copy"], "\(answer.body)")
      let phone = try await server.api.send("GET", "/v1/invites/channels?device=iphone&key=\(LinkServer.key)")
      #expect(phone.json?["channels"]?.array?.allSatisfy { $0["isAvailable"]?.bool == true } == true)
    }
  }

  /// The channels' answer, for what a header or the query says.
  private func channels(_ server: LinkServer, _ languages: String? = nil, _ query: String = "") async throws -> JSON {
    let answer = try await server.api.send(
      "GET", "/v1/invites/channels?device=iphone&key=\(LinkServer.key)\(query)",
      headers: languages.map { ["Accept-Language": $0] } ?? [:])
    return try #require(answer.json)
  }

  @Test("the list says each channel's name and icon, and the screen above it, in the reader's language")
  func spokenChannels() async throws {
    try await run { server in
      func names(_ answer: JSON) -> [String?] { answer["channels"]?.array?.map { $0["name"]?.string } ?? [] }
      let german = try await channels(server, "xx, de-AT;q=0.9, fr;q=0.5")
      #expect(names(german) == ["E-Mail", "Nachricht", "Link kopieren", "Mehr", "Partner-App"])
      #expect(german["screen"]?["title"] == "Spielt Acme zusammen")
      #expect(german["screen"]?["image"] == "https://cdn.acme.test/big.png")
      #expect(german["channels"]?.array?.map { $0["icon"]?.string } == ["mail", "message", "link", "share", "app"])
      let asked = try await channels(server, "de", "&locale=fr")
      #expect(names(asked).first == "E-mail" && asked["screen"]?["title"] == "Jouez ensemble à Acme")
      for languages in [nil, "xx", "*", "de;q=0"] as [String?] {
        #expect(try await channels(server, languages)["screen"]?["title"] == "Play Acme together", "\(languages ?? "-")")
      }
      // A studio's own words.
      let own = Self.settings.replacing("\"sms\":", with: "\"title\":\"Ahoy, {{appName}}\",\"pitch\":\"50 coins\",\"sms\":")
      #expect(try await server.api.send("PUT", "/admin/v1/invites/settings", own, headers: APIServer.admin).status == 200)
      let screen = try await channels(server)["screen"]
      #expect(screen?["title"] == "Ahoy, Acme" && screen?["text"] == "50 coins")
    }
  }

  @Test("An invitation speaks the language of its body, else the one that the header asks for")
  func spokenWords() async throws {
    try await run { server async throws in
      func subject(_ languages: String, _ more: String = "") async throws -> String? {
        let body = "{\"channel\":\"email\",\"inviter\":\"Ann\",\"link\":\"https://go.acme.test/r/x\"\(more)}"
        return try await server.post("/invites/render", body, headers: ["Accept-Language": languages]).json["subject"]?.string
      }
      #expect(try await subject("de-CH, en;q=0.5") == "Ann möchte mit dir Acme spielen")
      #expect(try await subject("de", ",\"locale\":\"es\"") == "Ann quiere que juegues a Acme")
      #expect(try await subject("pl") == "Ann zaprasza")
    }
  }

  private func send(_ server: LinkServer, _ to: String, as uid: String = "alice") async throws -> (status: Int, json: JSON) {
    let body = "{\"channel\":\"email\",\"to\":\(JSON.string(to).compact),\"inviter\":\"Your Bank\"}"
    return try await server.post("/v1/invites:send", body, key: nil, headers: Self.proven(uid))
  }

  /// The token of a player whose accounts are kept elsewhere, with a confirmed address.
  static func proven(_ uid: String, name: String = "Alice") -> [String: String] {
    LinkServer.token(
      uid, more: ",\"name\":\(JSON.string(name).compact),\"email\":\"\(uid)@example.org\",\"email_verified\":true")
  }

  @Test("a mail is in the outbox, and its state can be asked for by its id")
  func mail() async throws {
    try await run { server in
      let (status, json) = try await send(server, "Bob@Example.com")
      let id = try #require(json["invite"]?["id"]?.string, "\(json.compact)")
      #expect(status == 200 && json["invite"]?["state"]?.string == "queued")
      let namespace = try #require(server.api.database.namespace(named: "game"))
      let mail = try server.api.database.engine.read { snapshot in
        try snapshot.outbox(in: namespace, key: "invite/\(id)")
      }
      let payload = try JSONParser.parse(try #require(mail?.payload))
      #expect(mail?.outlet == "mail" && payload["to"]?.string == "bob@example.com" && payload["kind"]?.string == "invite")
      #expect(payload["fromName"]?.string == "Acme", "the game's name, and nobody else's")
      #expect(payload["subject"]?.string == "Alice wants you to play Acme", "the account's name, whatever the request says")
      #expect(payload["text"]?.string?.contains("https://go.acme.test/v1/invites/\(id)/unsubscribe?lang=en") == true)
      #expect(
        payload["html"]?.string?.contains("<a href=\"https://go.acme.test/v1/invites/\(id)/unsubscribe?lang=en\"") == true)
      #expect(payload["unsubscribe"]?.string == "https://go.acme.test/v1/invites/\(id)/unsubscribe")
      #expect(payload["html"]?.string?.contains("https://go.acme.test/r/i/") == true)
      let own = try await server.api.send("GET", "/v1/invites/\(id)", headers: LinkServer.token("alice"))
      #expect(own.json?["state"]?.string == "queued" && own.json?["to"]?.string == "bob@example.com")
      #expect(try await server.api.send("GET", "/v1/invites/\(id)", headers: LinkServer.token("mallory")).status == 404)
      #expect(try await server.api.send("GET", "/v1/invites/\(id)").status == 403)
    }
  }

  @Test("an invitation goes from sent to clicked to converted, and its claim names the sender")
  func life() async throws {
    try await run { server in
      let body = "{\"channel\":\"share\",\"inviter\":\"Alice\"}"
      let (status, json) = try await server.post("/v1/invites:send", body, key: nil, headers: LinkServer.token("alice"))
      #expect(status == 200 && json["invite"]?["state"]?.string == "sent", "\(json.compact)")
      let id = try #require(json["invite"]?["id"]?.string)
      let link = try #require(json["invite"]?["link"]?.string)
      #expect(json["content"]?["body"]?.string?.contains(link) == true && link.hasPrefix("https://go.acme.test/r/i/"))
      let copied = try await server.clipboard(link)
      try await server.api.links.flush()
      let clicked = try await server.api.send("GET", "/v1/invites/\(id)", headers: APIServer.admin)
      #expect(clicked.json?["state"]?.string == "clicked")
      let reopened = try await server.post(
        "/v1/reopenAttribution", "{\"requestedLink\":\"\(link)\",\"bundleId\":\"test.acme.ios\"}")
      #expect(reopened.json["invitationId"]?.string == id)
      let claim = try await server.post(
        "/v1/referrals:claim", "{\"link\":\(JSON.string(copied).compact)}", key: nil, headers: LinkServer.token("bob"))
      #expect(claim.json["referredBy"]?.string == "alice")
      let converted = try await server.api.send("GET", "/v1/invites/\(id)", headers: APIServer.admin)
      #expect(converted.json?["state"]?.string == "converted" && converted.json?["clickedAt"]?.int != nil)
      #expect(try await server.counts(link) == ["IOS APP_RE_OPEN 1", "IOS CLICK 1"])
      let list = try await server.api.send("GET", "/admin/v1/invites", headers: APIServer.admin)
      #expect(list.json?["invites"]?.array?.map { $0["id"]?.string } == [id])
    }
  }

  @Test("convertInvitation marks an invitation; an unknown one is 404")
  func convert() async throws {
    try await run { server in
      let (_, json) = try await server.post(
        "/v1/invites:send", "{\"channel\":\"copy\"}", key: nil, headers: LinkServer.token("alice"))
      let id = try #require(json["invite"]?["id"]?.string)
      let body = "{\"invitationId\":{\"id\":\"\(id)\"},\"containerClientId\":{\"type\":\"IOS\"}}"
      #expect(try await server.post("/v1/convertInvitation", body).status == 200)
      #expect(try await server.post("/v1/convertInvitation", body.replacing(id, with: "none")).status == 404)
      let state = try await server.api.send("GET", "/v1/invites/\(id)", headers: APIServer.admin)
      #expect(state.json?["state"]?.string == "converted")
    }
  }

  @Test("limits: of the sender by day, of the recipient by week; and who does not want any gets none")
  func limits() async throws {
    try await run { server in
      for name in 0..<20 { #expect(try await send(server, "p\(name)@example.com").status == 200) }
      #expect(try await send(server, "late@example.com").status == 429)
      server.api.clock.advance(by: 86_400_001)
      #expect(try await send(server, "late@example.com").status == 200)
      for uid in ["b", "c"] { #expect(try await send(server, "late@example.com", as: uid).status == 200) }
      #expect(try await send(server, "late@example.com", as: "d").status == 429)
      let (_, json) = try await send(server, "carl@example.com")
      let id = try #require(json["invite"]?["id"]?.string)
      let page = try await server.api.send("GET", "/v1/invites/\(id)/unsubscribe")
      #expect(page.status == 200 && page.body.contains("<form"))
      #expect(
        try await send(server, "carl@example.com", as: "e").status == 200, "looking unsubscribes nobody: mail scanners look")
      #expect(try await server.api.send("POST", "/v1/invites/\(id)/unsubscribe", "List-Unsubscribe=One-Click").status == 200)
      let refused = try await send(server, "CARL@example.com", as: "f")
      #expect(refused.status == 400 && refused.json.compact.contains("suppressed"))
      let list = try await server.api.send("GET", "/admin/v1/invites/suppressions", headers: APIServer.admin)
      #expect(list.body.contains("carl@example.com"))
      let release = "{\"email\":\"carl@example.com\",\"release\":true}"
      #expect(
        try await server.api.send("POST", "/admin/v1/invites/suppressions", release, headers: APIServer.admin).status == 200)
      #expect(try await send(server, "carl@example.com", as: "g").status == 200)
      #expect(try await server.api.send("POST", "/v1/invites/none/unsubscribe", "").status == 404)
    }
  }

  @Test("Who makes invitations too fast is slowed down; words for a link that is there may be asked for at any pace")
  func creationLimit() async throws {
    try await run { server in
      let settings = LinkServer.settings.replacing("\"createPerSecond\":1000", with: "\"createPerSecond\":2")
      #expect(try await server.api.send("PUT", "/admin/v1/links/settings", settings, headers: APIServer.admin).status == 200)
      var statuses: [Int] = []
      for _ in 0..<3 {
        let body = "{\"channel\":\"copy\",\"inviter\":\"Eve\"}"
        statuses.append(try await server.post("/v1/invites:send", body, key: nil, headers: LinkServer.token("eve")).0)
      }
      #expect(statuses == [200, 200, 429])
      var links: Set<String> = []
      for path in ["/invites/render", "/v1/invites:render", "/invites/render", "/invites/render"] {
        let body = "{\"channel\":\"copy\",\"inviter\":\"Eve\"}"
        let (status, json) = try await server.post(path, body, key: nil, headers: LinkServer.token("eve"))
        #expect(status == 200, "\(json.compact)")
        links.insert(json["link"]?.string ?? "")
      }
      #expect(links.count == 1)
    }
  }

  @Test("opening is watched only where that is on")
  func opening() async throws {
    try await run { server in
      let (_, quiet) = try await send(server, "bob@example.com")
      #expect(quiet["content"]?["html"]?.string?.contains("image.png") == false)
      let watching = Self.settings.replacing("\"appName\"", with: "\"trackOpening\":true,\"appName\"")
      _ = try await server.api.send("PUT", "/admin/v1/invites/settings", watching, headers: APIServer.admin)
      let (_, json) = try await send(server, "carl@example.com")
      let id = try #require(json["invite"]?["id"]?.string)
      #expect(json["content"]?["html"]?.string?.contains("/v1/invites/\(id)/image.png") == true)
      #expect(try await server.api.send("GET", "/v1/invites/\(id)/image.png")["content-type"] == "image/png")
      try await server.api.links.flush()
      let state = try await server.api.send("GET", "/v1/invites/\(id)", headers: APIServer.admin)
      #expect(state.json?["state"]?.string == "opened")
    }
  }
}
