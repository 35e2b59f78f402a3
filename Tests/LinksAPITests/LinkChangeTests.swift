import FunctionsKit
import Links
import ServerTestSupport
import Testing
import TreeModel

/// Links that administrators change, switch off and delete.
@Suite struct LinkChangeTests {
  typealias Agent = LinkServer.Agent

  private static let apps = "&apn=test.acme.app&ibi=test.acme.ios"

  private static func path(_ link: String) -> String {
    "/admin/v1/links/link?link=\(link.replacing("/", with: "%2F").replacing(":", with: "%3A"))"
  }

  private func change(_ server: LinkServer, _ link: String, _ body: String) async throws -> RawResponse {
    try await server.api.send("PATCH", Self.path(link), body, headers: APIServer.admin)
  }

  /// Presents the proof of a click as a newly installed app does.
  private func attribute(_ server: LinkServer, _ copied: String) async throws -> JSON {
    try await server.post(
      "/v1/installAttribution", "{\"bundleId\":\"test.acme.ios\",\"uniqueMatchLinkToCheck\":\(JSON.string(copied).compact)}"
    ).json
  }

  @Test("A link that is edited says something else under its address, with its code and counts, also to who opened it before")
  func edit() async throws {
    try await LinkServer.run { server in
      let query = "link=https://acme.test/old?invitedby%3Dalice&st=Old\(Self.apps)"
      let (_, made) = try await server.create(query)
      let (link, code) = (try #require(made["shortLink"]?.string), try #require(made["code"]?.string))
      let copied = try await server.clipboard(link)
      #expect(try await server.open(link, as: .desktop)["location"] == "https://acme.test/old?invitedby=alice")
      let answer = try await change(
        server, link,
        "{\"name\":\"Summer\",\"parameters\":{\"link\":\"https://acme.test/new?invitedby=bob\",\"st\":null,\"amv\":\"x\"}}")
      #expect(answer.status == 200, "\(answer.body)")
      #expect(answer.json?["link"]?["name"] == "Summer" && answer.json?["link"]?["changedAt"]?.int == APIServer.start)
      #expect(answer.json?.warnings == ["NOT_INTEGER_ANDROID_PACKAGE_MIN_VERSION"])
      #expect(try await server.open(link, as: .desktop)["location"] == "https://acme.test/new?invitedby=bob")
      #expect(try await attribute(server, copied)["deepLink"] == "https://acme.test/new?invitedby=bob")
      let claim = try await server.post(
        "/v1/referrals:claim", "{\"code\":\"\(code)\"}", key: nil, headers: LinkServer.token("carol"))
      #expect(claim.json["referredBy"] == "bob", "\(claim.json.compact)")
      #expect(try await server.counts(link).contains("DESKTOP CLICK 2"))
      // Who orders what it said before gets a link that says it.
      let again = try await server.link(query)
      #expect(again != link)
      #expect(try await server.open(again, as: .desktop)["location"] == "https://acme.test/old?invitedby=alice")
      #expect(try await change(server, link, "{\"name\":\"\"}").json?["link"]?["name"] == nil)
    }
  }

  @Test("What a link may not say it cannot be made to say, and what is no change is refused")
  func refusals() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a")
      for (body, text) in [
        ("{\"parameters\":{\"link\":\"https://evil.test/\"}}", "We could not match param 'link'"),
        ("{\"parameters\":{\"link\":null}}", "Link parameter is missing"),
        ("{\"parameters\":{\"ius\":\"javascript\"}}", "cannot open an app"),
        ("{\"parameters\":{\"nope\":\"x\"}}", "nope is no parameter"), ("{\"parameters\":{\"st\":5}}", "must be a text"),
        ("{\"colour\":\"red\"}", "means nothing here"), ("{\"disabled\":\"yes\"}", "true or false"), ("[]", "JSON object"),
      ] {
        let answer = try await change(server, link, body)
        #expect(answer.status == 400 && answer.body.contains(text), "\(body): \(answer.body)")
      }
      #expect(try await change(server, "https://go.acme.test/r/none", "{\"disabled\":true}").status == 404)
      let stranger = try await server.api.send("PATCH", Self.path(link), "{\"disabled\":true}")
      let delete = try await server.api.send("DELETE", Self.path(link), headers: LinkServer.token("eve"))
      #expect(stranger.status == 401 && [401, 403].contains(delete.status))
      #expect(try await server.open(link, as: .desktop).status == 302)
    }
  }

  @Test("A link that is switched off opens a page that says so to everybody, counts and attributes nothing, and can come back")
  func disable() async throws {
    try await LinkServer.run { server in
      let query = "link=https://acme.test/a?invitedby%3Dalice\(Self.apps)"
      let (_, made) = try await server.create(query)
      let (link, code) = (try #require(made["shortLink"]?.string), try #require(made["code"]?.string))
      let copied = try await server.clipboard(link)
      #expect(try await change(server, link, "{\"disabled\":true}").json?["link"]?["disabledAt"]?.int == APIServer.start)
      for agent in [Agent.iphone, .ipad, .android, .desktop, .facebook] {
        let page = try await server.open(link, as: agent)
        #expect(page.status == 404 && page["location"] == nil, "\(agent)")
        #expect(page.body.contains("This link is switched off") && page.body.contains(link), "\(agent)")
      }
      #expect(try await server.open(link, as: .desktop, method: "HEAD").status == 404)
      let debug = try await server.open(link + "?d=1", as: .desktop)
      #expect(debug.status == 200 && debug.body.contains("disabled by an administrator"))
      #expect(try await attribute(server, copied)["deepLink"] == nil)
      let reopened = try await server.post(
        "/v1/reopenAttribution", "{\"requestedLink\":\"\(link)\",\"bundleId\":\"test.acme.ios\"}")
      #expect(reopened.status == 404)
      for proof in ["{\"code\":\"\(code)\"}", "{\"link\":\(JSON.string(copied).compact)}"] {
        let claim = try await server.post("/v1/referrals:claim", proof, key: nil, headers: LinkServer.token("bob"))
        #expect(claim.status >= 400 && claim.json.compact.contains("bad_proof"), "\(claim.json.compact)")
      }
      // Nobody is handed a link that opens nothing.
      let (status, equal) = try await server.create(query)
      #expect(status == 400 && equal.compact.contains("is disabled"))
      #expect(try await server.counts(link) == ["IOS CLICK 1"])
      #expect(try await change(server, link, "{\"disabled\":false}").json?["link"]?["disabledAt"] == nil)
      #expect(try await server.open(link, as: .desktop)["location"] == "https://acme.test/a?invitedby=alice")
      #expect(try await attribute(server, copied)["deepLink"] == "https://acme.test/a?invitedby=alice")
    }
  }

  @Test(
    "The long link that says the same is off with an administrator's link; one that says anything else, and a player's, stays")
  func disabledForms() async throws {
    try await LinkServer.run { server in
      let query = "link=https://acme.test/a\(Self.apps)"
      let (link, long) = (try await server.link(query), "\(LinkServer.prefix)/?\(query)")
      // Another spelling, another order, and what is no part of a link.
      let same = "\(LinkServer.prefix)?ibi=test.acme.ios&link=https%3A%2F%2Facme.test%2Fa&apn=test.acme.app&foo=1"
      let other = long + "&st=Hello"
      let copied = try await server.clipboard(long)
      #expect(try await change(server, link, "{\"disabled\":true}").status == 200)
      for form in [long, same] {
        for agent in [Agent.iphone, .android, .desktop, .facebook] {
          let page = try await server.open(form, as: agent)
          #expect(page.status == 404 && page.body.contains("This link is switched off"), "\(form) \(agent)")
        }
      }
      #expect(try await server.open(long + "&d=1", as: .desktop).body.contains("disabled by an administrator"))
      #expect(try await attribute(server, copied)["deepLink"] == nil)
      #expect(try await server.open(other, as: .desktop).status == 302)
      // What says something else now is on, what it said before too.
      #expect(try await change(server, link, "{\"parameters\":{\"st\":\"Hello\"}}").status == 200)
      #expect(try await server.open(long, as: .desktop).status == 302)
      #expect(try await server.open(other, as: .desktop).status == 404)
      // A second one that says the same and is off keeps it off.
      let second = try await server.link(
        query + "&st=Hello", suffix: "{\"option\":\"CUSTOM\",\"customSuffix\":\"poster\"}", headers: APIServer.admin)
      _ = try await change(server, second, "{\"disabled\":true}")
      #expect(try await change(server, link, "{\"disabled\":false}").status == 200)
      #expect(try await server.open(other, as: .desktop).status == 404)
      #expect(try await server.api.send("DELETE", Self.path(second), headers: APIServer.admin).status == 200)
      #expect(try await server.open(other, as: .desktop).status == 302)
      #expect(try await attribute(server, copied)["deepLink"] == "https://acme.test/a")
      // Of a player's link only the short form is the player's.
      let own = try await server.link(query, headers: LinkServer.token("alice"))
      #expect(own != link)
      _ = try await change(server, own, "{\"disabled\":true}")
      #expect(try await server.open(own, as: .desktop).status == 404)
      #expect(try await server.open(long, as: .desktop).status == 302)
    }
  }

  @Test("A deleted link is gone for good with its code; its suffix comes back only if an administrator chooses it")
  func delete() async throws {
    try await LinkServer.run { server in
      let query = "link=https://acme.test/a?invitedby%3Dalice\(Self.apps)"
      let (_, made) = try await server.create(query)
      let (link, code) = (try #require(made["shortLink"]?.string), try #require(made["code"]?.string))
      let copied = try await server.clipboard(link)
      let answer = try await server.api.send("DELETE", Self.path(link), headers: APIServer.admin)
      #expect(answer.status == 200 && answer.json?["shortLink"]?.string == link)
      for agent in [Agent.iphone, .desktop, .facebook] {
        let page = try await server.open(link, as: agent)
        #expect(page.status == 410 && page.body.contains("This link is gone"), "\(agent)")
      }
      #expect(try await attribute(server, copied)["deepLink"] == nil)
      for proof in ["{\"code\":\"\(code)\"}", "{\"link\":\(JSON.string(copied).compact)}"] {
        let claim = try await server.post("/v1/referrals:claim", proof, key: nil, headers: LinkServer.token("bob"))
        #expect(claim.status >= 400 && claim.json.compact.contains("bad_proof"))
      }
      #expect(try await server.api.send("GET", Self.path(link), headers: APIServer.admin).status == 404)
      #expect(try await server.api.send("DELETE", Self.path(link), headers: APIServer.admin).status == 404)
      let list = try await server.api.send("GET", "/admin/v1/links", headers: APIServer.admin)
      #expect(list.json?["links"]?.array?.isEmpty == true)
      #expect(try await server.link(query) != link)
      let chosen = "{\"option\":\"CUSTOM\",\"customSuffix\":\"\(link.suffix(17))\"}"
      #expect(try await server.link("link=https://acme.test/b", suffix: chosen, headers: APIServer.admin) == link)
      #expect(try await server.open(link, as: .desktop)["location"] == "https://acme.test/b")
    }
  }

  @Test("What was done to links is in the audit log, with what was sent; refusals too")
  func audited() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a")
      _ = try await change(server, link, "{\"disabled\":true}")
      _ = try await change(server, link, "{\"parameters\":{\"link\":\"https://evil.test/\"}}")
      _ = try await server.api.send("DELETE", Self.path(link), headers: APIServer.admin)
      let audits = try await server.api.send("GET", "/admin/v1/audits?limit=10", headers: APIServer.admin)
      let rows = audits.json?["actions"]?.array ?? []
      let actions = rows.compactMap { $0["action"]?.string }.filter { ["links.edit", "links.delete"].contains($0) }
      #expect(actions == ["links.delete", "links.edit", "links.edit"], "\(audits.body)")
      #expect(audits.body.contains("disabled") && audits.body.contains("evil.test"))
    }
  }

  @Test("A managed link takes the name that it is given last")
  func managedName() async throws {
    try await LinkServer.run { server in
      func create(_ name: String) async throws -> JSON? {
        let body = "{\"name\":\"\(name)\",\"longDynamicLink\":\"\(LinkServer.prefix)/?link=https://acme.test/a\"}"
        return try await server.post("/v1/managedShortLinks:create", body, headers: APIServer.admin).json["managedShortLink"]
      }
      let plain = try await server.link("link=https://acme.test/a")
      let first = try #require(try await create("Poster"))
      #expect(first["linkName"] == "Poster" && first["link"]?.string == plain)
      #expect(try await create("Flyer")?["linkName"] == "Flyer")
      let shown = try await server.api.send("GET", Self.path(plain), headers: APIServer.admin)
      #expect(shown.json?["name"] == "Flyer")
      // An app that orders the same link takes no name away.
      #expect(try await server.link("link=https://acme.test/a") == plain)
      #expect(try await server.api.send("GET", Self.path(plain), headers: APIServer.admin).json?["name"] == "Flyer")
    }
  }

  @Test("Pages speak the first language of Accept-Language that they can", arguments: LinkPhrasesRow.rows)
  func languages(_ row: LinkPhrasesRow) async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a\(Self.apps)")
      let page = try await server.open(link, as: .iphone, reading: row.header)
      #expect(page.body.contains("<html lang=\"\(row.language)\">") && page.body.contains(row.title), "\(page.body)")
      let missing = try await server.open("https://go.acme.test/r/none", as: .iphone, reading: row.header)
      #expect(missing.status == 404 && missing.body.contains(row.unknown))
      let debug = try await server.open(link + "?d=1", as: .desktop, reading: row.header)
      #expect(debug.body.contains("<html lang=\"\(row.language)\">"))
      for text in [row.leads, row.none] { #expect(debug.body.contains(text), "\(text): \(debug.body)") }
      #expect(!debug.body.contains("{{"))
      // Warnings are for who made the link, in English, and say so.
      let doubtful = try await server.open(
        "\(LinkServer.prefix)/?link=https://acme.test/a&amv=1&d=1", as: .desktop, reading: row.header)
      #expect(doubtful.body.contains("</b> <span lang=\"en\">") && !doubtful.body.contains(row.none))
    }
  }

  /// What a browser asks for, and what it gets.
  struct LinkPhrasesRow: Sendable {
    let header: String?
    let language: String
    let title: String
    let unknown: String
    /// Headings of the page of `d=1`.
    let leads: String
    let none: String

    static let rows = [
      LinkPhrasesRow(
        header: nil, language: "en", title: "You are invited to Acme", unknown: "was not found", leads: "Where this link leads",
        none: "No errors and no warnings."),
      LinkPhrasesRow(
        header: "xx, *;q=0.1", language: "en", title: "You are invited to Acme", unknown: "was not found",
        leads: "Where this link leads",
        none: "No errors and no warnings."),
      LinkPhrasesRow(
        header: "de-AT,en;q=0.5", language: "de", title: "Du bist zu Acme eingeladen", unknown: "nicht gefunden",
        leads: "Wohin dieser Link führt",
        none: "Keine Fehler und keine Warnungen."),
      LinkPhrasesRow(
        header: "en;q=0.1,fr;q=0.9", language: "fr", title: "Vous êtes invité à Acme", unknown: "introuvable",
        leads: "Où mène ce lien",
        none: "Ni erreur ni avertissement."),
      LinkPhrasesRow(
        header: "es", language: "es", title: "Tienes una invitación a Acme", unknown: "No se encontró",
        leads: "Adónde lleva este enlace",
        none: "Sin errores ni advertencias."),
      LinkPhrasesRow(
        header: "ja-JP", language: "ja", title: "Acmeに招待されています", unknown: "リンクが見つかりません", leads: "このリンクの行き先",
        none: "エラーも警告もありません。"),
    ]
  }

  @Test("Row 4: Safari that says it is a Mac is asked whether it is an iPad, where that matters; the answer opens the link")
  func iPads() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a\(Self.apps)&isi=900100200")
      for address in [link, "\(LinkServer.prefix)/?link=https://acme.test/a\(Self.apps)"] {
        let question = try await server.open(address, as: .mac)
        #expect(question.status == 200 && question["location"] == nil)
        let query = address == link ? "" : "link=https://acme.test/a&amp;apn=test.acme.app&amp;ibi=test.acme.ios&amp;"
        #expect(question.body.contains("data-ipad=\"?\(query)_ipad=1\"") && question.body.contains("url=?\(query)_ipad=0"))
        let separator = address == link ? "?" : "&"
        let pad = try await server.open("\(address)\(separator)_ipad=1", as: .mac)
        #expect(pad.status == 200 && pad.body.contains("You are invited to Acme") && pad.body.contains("_icp=1"))
        #expect(try await server.open("\(address)\(separator)_ipad=0", as: .mac)["location"] == "https://acme.test/a")
        // Who cannot be one is not asked, and not believed.
        #expect(try await server.open("\(address)\(separator)_ipad=1", as: .desktop)["location"] == "https://acme.test/a")
      }
      let plain = try await server.link("link=https://acme.test/b")
      #expect(try await server.open(plain, as: .mac)["location"] == "https://acme.test/b")
      #expect(try await server.counts(link) == ["DESKTOP CLICK 2", "IOS CLICK 1"])
    }
  }

  @Test(
    "Row 117: ius, iosCustomScheme, a function's builder and the app's own setting are one scheme; the page's button has it")
  func customScheme() async throws {
    let settings = LinkServer.settings.replacing(
      "{\"bundleId\":\"test.acme.bare\"}", with: "{\"bundleId\":\"test.acme.bare\",\"customScheme\":\"acme-own\"}")
    try await LinkServer.run(settings: settings) { server in
      let long = try await server.link("link=https://acme.test/a&ibi=test.acme.bare&ius=acme-own")
      let form = """
        {"dynamicLinkInfo":{"domainUriPrefix":"https://go.acme.test/r","link":"https://acme.test/a",
         "iosInfo":{"iosBundleId":"test.acme.bare","iosCustomScheme":"acme-own"}}}
        """
      #expect(try await server.post("/v1/shortLinks", form).json["shortLink"]?.string == long)
      var built = InvitationLink(to: "https://acme.test/a", below: "https://go.acme.test/r")
      (built.ios.bundleID, built.ios.customScheme) = ("test.acme.bare", "acme-own")
      #expect(
        try await server.post("/v1/shortLinks", "{\"longDynamicLink\":\"\(built.url)\"}").json["shortLink"]?.string == long)
      #expect(try await server.open(built.url, as: .iphone).body.contains("href=\"acme-own://google/link/?deep_link_id="))
      let shown = try await server.api.send("GET", Self.path(long), headers: APIServer.admin)
      #expect(shown.json?["info"]?["iosInfo"]?["iosCustomScheme"] == "acme-own")
      #expect(shown.json?["longLink"]?.string == built.url)
      let configured = try await server.link("link=https://acme.test/a&ibi=test.acme.bare")
      for link in [long, configured] {
        #expect(try await server.open(link, as: .iphone).body.contains("href=\"acme-own://google/link/?deep_link_id="))
      }
      let usual = try await server.link("link=https://acme.test/a&ibi=test.acme.ios")
      #expect(try await server.open(usual, as: .iphone).body.contains("href=\"test.acme.ios://google/link/?deep_link_id="))
    }
  }

  @Test("A code has three pixels a module at least, and d has no other meaning than 1")
  func codesAndDebug() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a")
      for (query, status) in [
        ("format=png&scale=2", 400), ("format=png&scale=65", 400), ("format=png&scale=3", 200), ("", 200),
      ] {
        let path = "/admin/v1/links/qr?link=\(link.replacing("/", with: "%2F").replacing(":", with: "%3A"))&\(query)"
        #expect(try await server.api.send("GET", path, headers: APIServer.admin).status == status, "\(query)")
      }
      let (_, doubtful) = try await server.create("link=https://acme.test/a&d=2")
      #expect(doubtful.warnings == ["BAD_DEBUG_PARAM"] && doubtful["shortLink"]?.string == link)
      #expect(try await server.create("link=https://acme.test/a&d=1").json.warnings == [])
    }
  }
}
