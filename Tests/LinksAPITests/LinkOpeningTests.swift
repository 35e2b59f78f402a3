import Links
import ServerTestSupport
import Testing
import TextFormats
import TreeModel

@testable import HTTPServer

/// Opening links over a socket, with user agents of real devices.
@Suite struct LinkOpeningTests {
  typealias Agent = LinkServer.Agent

  /// Who opens what, and where they are sent; `nil` status 200 is a page.
  struct Row: Sendable {
    let query: String
    let agent: Agent
    let location: String?

    init(_ query: String, _ agent: Agent, _ location: String?) {
      (self.query, self.agent, self.location) = (query, agent, location)
    }
  }

  static let apps = "&apn=test.acme.app&ibi=test.acme.ios&isi=900100200"
  static let rows: [Row] = [
    // 24: a desktop goes to the content, or to what was named for it.
    Row("link=https://acme.test/a", .desktop, "https://acme.test/a"),
    Row("link=https://acme.test/a&ofl=https://acme.test/desk", .desktop, "https://acme.test/desk"),
    Row("link=https://acme.test/a&ofl=https://acme.test/desk", .mac, "https://acme.test/desk"),
    Row("link=https://acme.test/a", .curl, "https://acme.test/a"),
    Row("link=https://acme.test/a\(apps)", .desktop, "https://acme.test/a"),
    // 26: what is encoded inside stays inside.
    Row("link=https://acme.test/x?item%3D1%26b%3D2&apn=test.acme.app", .desktop, "https://acme.test/x?item=1&b=2"),
    Row("link=https%3A%2F%2Facme%2Etest%2Fx%3Fa%3D1%2B2", .desktop, "https://acme.test/x?a=1+2"),
    // 30: Android without an app.
    Row("link=https://acme.test/a", .android, "https://acme.test/a"),
    Row("link=https://acme.test/a&al=https://acme.test/android", .android, "https://acme.test/android"),
    // 28: Firefox would take the fallback of an intent anyway.
    Row("link=https://acme.test/a\(apps)&afl=https://acme.test/get", .androidFirefox, "https://acme.test/get"),
    // 31: an iPhone sees the page.
    Row("link=https://acme.test/a\(apps)", .iphone, nil),
    Row("link=https://acme.test/a\(apps)", .ipad, nil),
    Row("link=https://acme.test/a", .iphone, "https://acme.test/a"),
    // 32 and 33: or is sent on at once: fallback, store, content.
    Row("link=https://acme.test/a\(apps)&efr=1&ifl=https://acme.test/ifl", .iphone, "https://acme.test/ifl"),
    Row(
      "link=https://acme.test/a\(apps)&efr=1&pt=11&ct=c%20c&at=33", .iphone,
      "https://apps.apple.com/app/id900100200?mt=8&pt=11&ct=c%20c&at=33"),
    Row("link=https://acme.test/a&ibi=test.acme.bare&efr=1", .iphone, "https://acme.test/a"),
    Row("link=https://acme.test/a&ibi=test.acme.ios&efr=1", .iphone, "https://apps.apple.com/app/id900100200?mt=8"),
    // 34: an iPad has its own, and else the phone's.
    Row(
      "link=https://acme.test/a\(apps)&efr=1&ipfl=https://acme.test/pad&ifl=https://acme.test/ifl", .ipad,
      "https://acme.test/pad"),
    Row("link=https://acme.test/a\(apps)&efr=1&ifl=https://acme.test/ifl", .ipad, "https://acme.test/ifl"),
    Row(
      "link=https://acme.test/a\(apps)&efr=1&ipfl=https://acme.test/pad&ifl=https://acme.test/ifl", .iphone,
      "https://acme.test/ifl"),
    // 35: efr means nothing elsewhere.
    Row("link=https://acme.test/a&efr=1&ofl=https://acme.test/desk", .desktop, "https://acme.test/desk"),
    Row("link=https://acme.test/a&efr=1", .android, "https://acme.test/a"),
    Row("link=https://acme.test/a\(apps)&efr=1&afl=https://acme.test/get", .androidFirefox, "https://acme.test/get"),
    // 36: programs get a card.
    Row("link=https://acme.test/a\(apps)&st=Hi", .facebook, nil),
    Row("link=https://acme.test/a\(apps)&st=Hi", .slack, nil), Row("link=https://acme.test/a&st=Hi", .whatsApp, nil),
  ]

  @Test("each platform goes where the table says, by short link and by long link alike")
  func table() async throws {
    try await LinkServer.run { server in
      for row in Self.rows {
        let links = [
          try await server.link(row.query), "\(LinkServer.prefix)/?\(row.query)", "\(LinkServer.prefix)?\(row.query)",
        ]
        for link in links {
          let answer = try await server.open(link, as: row.agent)
          #expect(answer.status == (row.location == nil ? 200 : 302), "\(link) as \(row.agent): \(answer.body)")
          #expect(answer["location"] == row.location, "\(link) as \(row.agent)")
          #expect(answer["cache-control"] == "no-store" && answer["vary"] == "User-Agent, Accept-Language")
        }
      }
    }
  }

  @Test("Android is sent to the app by an intent whose fallback is the store with the click")
  func android() async throws {
    try await LinkServer.run { server in
      let short = try await server.link("link=https://acme.test/a\(Self.apps)&utm_source=orkut")
      for link in [short, "\(LinkServer.prefix)/?link=https://acme.test/a\(Self.apps)&utm_source=orkut"] {
        let location = try #require(try await server.open(link, as: .android)["location"])
        #expect(location.hasPrefix("intent://go.acme.test/r/"), "\(location)")
        let parts = try #require(location.split(separator: "#Intent;").last).split(separator: ";")
        #expect(parts.contains("scheme=https") && parts.contains("package=test.acme.app") && parts.last == "end")
        let fallback = try #require(parts.first { $0.hasPrefix("S.browser_fallback_url=") }?.dropFirst(23))
        let decoded = try #require(Array(fallback.utf8).withUnsafeBytes { PercentEncoding.decode($0) })
        let store = try #require(LinkURL(decoded))
        #expect(store.host == "play.google.com")
        let parameters = try #require(store.parameters)
        #expect(parameters.first { $0.name == "id" }?.value == "test.acme.app")
        let referrer = try #require(parameters.first { $0.name == "referrer" }?.value)
        #expect(referrer.contains("utm_source=orkut") && referrer.contains("cid=") && referrer.contains("link=go.acme.test"))
      }
      let fallback = try await server.link("link=https://acme.test/a\(Self.apps)&afl=https://acme.test/get?a%3D1%3Bend")
      let location = try #require(try await server.open(fallback, as: .android)["location"])
      #expect(location.contains("S.browser_fallback_url=https%3A%2F%2Facme.test%2Fget%3Fa%3D1%3Bend;end"))
    }
  }

  @Test("pages show title, description and image, escaped, under a strict policy")
  func pages() async throws {
    try await LinkServer.run { server in
      let evil = "%3Cscript%3Ealert(1)%3C/script%3E%22%27%26"
      let link = try await server.link(
        "link=https://acme.test/a\(Self.apps)&st=\(evil)&sd=\(evil)&si=https://cdn.acme.test/i.png?a%22%3E%3Cb")
      for agent in [Agent.iphone, .facebook] {
        let page = try await server.open(link, as: agent)
        #expect(page.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"))
        #expect(!page.body.contains("<script>alert"))
        #expect(page.body.contains("https://cdn.acme.test/i.png?a%22%3E%3Cb"))
        let policy = try #require(page["content-security-policy"])
        #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
        for name in ["og:title", "og:description", "og:image", "og:url", "twitter:card"] {
          #expect(page.body.contains("\"\(name)\""), "\(agent) \(name)")
        }
      }
      let bad = try await server.link("link=https://acme.test/a\(Self.apps)&si=javascript:alert(1)")
      #expect(try await server.open(bad, as: .facebook).body.contains("javascript") == false)
    }
  }

  @Test("HEAD and the debug page count nothing, and the page lists platforms and warnings")
  func debug() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a\(Self.apps)&amv=abc&st=%3Cb%3E")
      let head = try await server.open(link, as: .desktop, method: "HEAD")
      #expect(head.status == 200 && head.body.isEmpty)
      let page = try await server.open(link + "?d=1", as: .iphone)
      #expect(page.status == 200)
      for text in ["Android", "iPhone", "iPad", "Desktop", "NOT_INTEGER_ANDROID_PACKAGE_MIN_VERSION", "&lt;b&gt;"] {
        #expect(page.body.contains(text), "\(text)")
      }
      let long = try await server.open("\(LinkServer.prefix)/?link=https://evil.test/&d=1", as: .iphone)
      #expect(long.status == 200 && long.body.contains("We could not match param"))
      _ = try await server.open(link, as: .facebook)
      #expect(try await server.counts(link) == [])
    }
  }

  @Test("what nobody knows is 404 as a page that names it; what is not allowed is 400")
  func unknown() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a")
      let tail = link.suffix(17)
      let flipped = tail.map { letter -> String in letter.isUppercase ? letter.lowercased() : letter.uppercased() }
      let swapped = String(link.dropLast(17)) + flipped.joined()
      for address in [
        swapped, "https://go.acme.test/r/zzzz", "https://go.acme.test/mypath/zzzz", "https://links.acme.test/zzzz",
      ] {
        let answer = try await server.open(address, as: .desktop)
        #expect(answer.status == 404 && answer.body.contains(address), "\(address)")
        #expect(answer["content-type"]?.hasPrefix("text/html") == true)
      }
      let elsewhere = try await server.open("https://go.acme.test/mypathabc/zzzz", as: .desktop)
      #expect(elsewhere.status == 404 && elsewhere["content-type"]?.hasPrefix("application/json") == true, "no link's address")
      for query in ["link=https://evil.test/", "link=javascript:alert(1)", "link=//evil.test", "apn=a.b&link="] {
        let answer = try await server.open("\(LinkServer.prefix)/?\(query)", as: .desktop)
        #expect(answer.status == 400 || answer.status == 404, "\(query): \(answer.status)")
        #expect(answer["location"] == nil)
      }
    }
  }

  @Test("nobody is sent where the settings do not allow, and no header can be smuggled in")
  func attacks() async throws {
    try await LinkServer.run { server in
      let attempts = [
        "https://acme.test@evil.test/", "https://acme.test%5C@evil.test/", "https://evil.test%23.acme.test/",
        "https://evil.test%3F.acme.test/", "https:%5C%5Cevil.test/", "https://acme.test.evil.test/", "https://evilacme.test/",
        "https:///evil.test", "https://acme.test:80@evil.test", "https://%65vil.test/", "%09https://evil.test",
        "https://[::1]/", "https://acme.test%0d%0aX-Evil:%201", "https://acme.test/%00", "data:text/html,x", "https://",
      ]
      for attempt in attempts {
        let answer = try await server.open("\(LinkServer.prefix)/?link=\(attempt)", as: .desktop)
        let host = answer["location"].flatMap { LinkURL($0)?.host }
        #expect(answer.status == 400 || host == "acme.test", "\(attempt): \(answer.status) \(answer["location"] ?? "")")
        #expect(answer["x-evil"] == nil)
      }
      let folded = try await server.open(
        "\(LinkServer.prefix)/?link=https://acme.test/a%250d%250aX-Evil:%25201%20%E2%80%A8%C3%A9", as: .desktop)
      #expect(folded["location"] == "https://acme.test/a%0d%0aX-Evil:%201%20%E2%80%A8%C3%A9")
    }
  }

  @Test("a path that ends in .json is the database's on link hosts too, and other surfaces stay where they are")
  func oneport() async throws {
    try await LinkServer.run { server in
      let write = try await server.api.send("PUT", "/users/bob.json?ns=game", "5", host: LinkServer.host)
      #expect(write.status == 200)
      #expect(try await server.api.send("GET", "/r/users.json?ns=game", host: LinkServer.host).body == "null")
      for path in ["/healthz", "/admin/v1/status", "/metrics"] {
        let answer = try await server.api.send("GET", path, headers: APIServer.admin, host: "links.acme.test")
        #expect(answer.status == 200, "\(path)")
      }
      for path in ["/r/../admin/v1/links", "/r/%2e%2e/admin", "/r/a%2Fb", "/r//x", "/r/x/y/z", "/r/.json/x", "/r/i/"] {
        let answer = try await server.open("https://go.acme.test\(path)", as: .desktop)
        #expect(answer.status == 404, "\(path): \(answer.status)")
      }
      #expect(try await server.api.send("GET", "/r/abcd", host: "elsewhere.test").status == 404)
      let link = try await server.link("link=https://acme.test/a")
      let path = String(link.dropFirst("https://go.acme.test".count))
      #expect(
        try await server.api.send("GET", path, host: "GO.ACME.test:8443").status == 302, "a host has no case, and any port")
      #expect(try await server.api.send("POST", path, "{}", host: LinkServer.host).status == 404)
    }
  }

  @Test("guessing suffixes finds nothing: each miss costs one read and is not remembered")
  func enumeration() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a", suffix: "{\"option\":\"SHORT\"}")
      var random = SystemlessGuesses()
      for _ in 0..<50 {
        let guess = "https://go.acme.test/r/\(random.next())"
        if guess == link { continue }
        #expect(try await server.open(guess, as: .desktop).status == 404)
      }
    }
  }

  @Test("what the settings forbid later is not opened any more; what they allow again is")
  func settingsChange() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://shop.acme.test/a")
      #expect(try await server.open(link, as: .desktop).status == 302)
      let narrow = LinkServer.settings.replacing("\"apiKeys\"", with: #""allowPatterns":["^https://acme\\.test/"],"apiKeys""#)
      _ = try await server.api.send("PUT", "/admin/v1/links/settings", narrow, headers: APIServer.admin)
      #expect(try await server.open(link, as: .desktop).status == 400)
      _ = try await server.api.send("PUT", "/admin/v1/links/settings", LinkServer.settings, headers: APIServer.admin)
      #expect(try await server.open(link, as: .desktop).status == 302)
    }
  }
}

/// Four-letter guesses, always the same ones.
private struct SystemlessGuesses {
  private var state: UInt64 = 42

  mutating func next() -> String {
    let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    return String(
      (0..<4).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return alphabet[Int(state >> 33) % 62]
      })
  }
}
