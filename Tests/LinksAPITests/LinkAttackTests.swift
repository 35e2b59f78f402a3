import Links
import ServerTestSupport
import Testing
import TextFormats
import TreeModel

@testable import HTTPServer

/// What strangers try against links, over a socket: nobody is sent elsewhere, nothing gets into headers or pages, no path
/// leads somewhere else than it says, and nothing tells which links there are.
@Suite struct LinkAttackTests {
  /// Sends bytes as they are.
  private func raw(_ server: LinkServer, _ head: String) async throws -> RawResponse {
    let connection = try await RawConnection.connect(to: server.api.port)
    try await connection.send(head.replacing("\n", with: "\r\n") + "\r\n\r\n")
    let answer = try #require(try await connection.next(isHead: false), "\(head): no answer")
    try? await connection.close()
    return answer
  }

  @Test(
    "open redirect: a parameter that names another host is refused, wherever it stands",
    arguments: [
      ("link", [LinkServer.Agent.desktop]), ("afl", [.android, .androidFirefox]), ("al", [.android]), ("ifl", [.iphone]),
      ("ipfl", [.ipad]), ("ofl", [.desktop]),
    ])
  func redirect(_ parameter: String, _ agents: [LinkServer.Agent]) async throws {
    try await LinkServer.run { server in
      for target in [
        "https://evil.test/", "//evil.test/", "https:evil.test", "https://evil.test%2F.acme.test/",
        "https://acme.test%40evil.test/", "https://acme.test%5Cevil.test/", "https://evil.test%23@acme.test/",
        "javascript%3Aalert(1)//acme.test", "%20https://evil.test", "https://evil.test%00.acme.test/",
        "https://ev%C4%B1l.acme.test%EF%BC%8Fevil.test/", "https://acme.test%E3%80%82evil.test/",
        "https://acme.test%0A.evil.test/", "data%3Atext/html,acme.test", "https://evil.test%2F%CC%88.acme.test/",
      ] {
        let apps = parameter == "al" ? "" : LinkOpeningTests.apps
        let content = parameter == "link" ? target : "https://acme.test/a&\(parameter)=\(target)"
        for agent in agents {
          for more in agent == .iphone ? ["", "&efr=1"] : ["&efr=1"] {
            let answer = try await server.open("\(LinkServer.prefix)/?link=\(content)\(apps)\(more)", as: agent)
            // What is taken although it is no URL has no effect.
            #expect(Self.strangers(answer["location"]) == [], "\(content) as \(agent): \(answer["location"] ?? "")")
            #expect(!answer.body.contains("href=\"javascript") && !answer.body.contains("href=\"https://evil"), "\(content)")
          }
        }
        let made = try await server.create("link=\(content)\(apps)")
        if made.status == 200 {
          let stored = try await server.open(try #require(made.json["shortLink"]?.string), as: agents[0])
          #expect(Self.strangers(stored["location"]) == [], "\(content)")
        }
      }
    }
  }

  /// The hosts that a redirect leads to, by itself and by the fallback of an intent, and that are not the project's or a store's.
  private static func strangers(_ location: String?) -> [String] {
    guard let location else { return [] }
    let parts = location.split(separator: "#Intent;", maxSplits: 1)
    var addresses = [location.hasPrefix("intent:") ? "https:" + (parts.first?.dropFirst("intent:".count) ?? "") : location]
    for part in parts.dropFirst().last?.split(separator: ";") ?? [] where part.hasPrefix("S.browser_fallback_url=") {
      addresses.append(
        Array(part.dropFirst("S.browser_fallback_url=".count).utf8).withUnsafeBytes { PercentEncoding.decode($0) }
          ?? "unreadable")
    }
    let known = ["play.google.com", "apps.apple.com", "acme.test"]
    return addresses.compactMap { address in
      guard let url = LinkURL(address), url.isWeb else { return address }
      return known.contains(url.host) || url.host.hasSuffix(".acme.test") ? nil : url.host
    }
  }

  @Test("header injection: no part of a link or of the request reaches a header as a line")
  func headers() async throws {
    try await LinkServer.run { server in
      let line = "%0d%0aX-Evil:%20yes%0d%0a%0d%0abody"
      let twice = "%250d%250aX-Evil:%2520yes"
      for injected in [line, twice, "%E5%98%8A%E5%98%8DX-Evil:yes"] {
        for query in [
          "link=https://acme.test/\(injected)", "link=https://acme.test/a&ofl=https://acme.test/\(injected)",
          "link=https://acme.test/a&apn=test.acme.app&utm_source=\(injected)",
          "link=https://acme.test/a&apn=test.acme.app\(injected)",
          "link=https://acme.test/a&ibi=test.acme.ios&isi=1\(injected)&efr=1",
          "link=https://acme.test/a&ibi=test.acme.ios&isi=900100200&pt=\(injected)&efr=1",
          "link=https://acme.test/a&ibi=test.acme.ios&ius=x\(injected)",
        ] {
          for agent in [LinkServer.Agent.desktop, .android, .iphone] {
            let answer = try await server.open("\(LinkServer.prefix)/?\(query)", as: agent)
            #expect(answer["x-evil"] == nil && !answer.body.hasPrefix("body"), "\(query) as \(agent)")
            #expect(answer["location"]?.utf8.allSatisfy { (0x21..<0x7F).contains($0) } != false, "\(query) as \(agent)")
          }
        }
      }
      let path = try await server.open("https://go.acme.test/r/\(line)", as: .desktop)
      #expect(path.status == 404 && path["x-evil"] == nil)
    }
  }

  @Test("HTML injection: whatever a parameter holds, no page gets an element or an attribute of it")
  func markup() async throws {
    try await LinkServer.run { server in
      let payloads = [
        "%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "%27%20onmouseover%3D%27alert(1)",
        "%3C/title%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "%3C/style%3E%3Cb%3E", "%3C!--", "%3C%00script%3E", "%E2%80%AE%3Csvg/onload%3Dalert(1)%3E",
      ]
      for payload in payloads {
        let query =
          "link=https://acme.test/\(payload)&ibi=test.acme.ios&apn=test.acme.app"
          + ["st", "sd", "si", "ifl", "ius", "imv", "amv", "isi", "pt", "utm_source", "unknown\(payload)"]
          .map { "&\($0)=https://acme.test/\(payload)" }.joined()
        let other = "link=https://acme.test/a&ibi=\(payload)&apn=\(payload)&st=\(payload)&isi=\(payload)"
        for query in [query, other] {
          for (more, agent) in [("", LinkServer.Agent.iphone), ("", .facebook), ("&d=1", .desktop)] {
            let page = try await server.open("\(LinkServer.prefix)/?\(query)\(more)", as: agent)
            let tags = Self.tags(page.body)
            #expect(
              tags.allSatisfy { Self.known.contains($0.name) && !$0.attributes.contains { $0.hasPrefix("on") } },
              "\(query)\(more) as \(agent): \(tags)")
            #expect(tags.count { $0.name == "script" } <= 1 && tags.count { $0.name == "title" } == 1, "\(query) as \(agent)")
          }
        }
        let missing = try await server.open("https://go.acme.test/r/\(payload)", as: .desktop)
        #expect(missing.status == 404 && Self.tags(missing.body).allSatisfy { Self.known.contains($0.name) })
      }
    }
  }

  private static let known: Set<String> = [
    "html", "head", "meta", "title", "style", "body", "main", "div", "h1", "h2", "p", "code", "table", "tr", "th", "td", "ul",
    "li",
    "b", "a", "img", "span", "label", "input", "small", "script", "!doctype", "br",
  ]

  /// The tags of a page, and the names of their attributes: read as a browser does outside of quotes.
  private static func tags(_ html: String) -> [(name: String, attributes: [String])] {
    var found: [(name: String, attributes: [String])] = []
    var rest = html[...]
    while let open = rest.firstIndex(of: "<") {
      rest = rest[rest.index(after: open)...]
      if rest.hasPrefix("!--") { found.append(("comment", [])) }
      guard rest.first != "/" else { continue }
      var quote: Character?
      var text = ""
      while let character = rest.popFirst() {
        if let open = quote {
          if character == open { quote = nil }
        } else if character == ">" {
          break
        } else if character == "\"" || character == "'" {
          quote = character
        } else {
          text.append(character)
        }
      }
      let words = text.split(separator: " ")
      let attributes = words.dropFirst().map { $0.prefix { $0 != "=" }.lowercased() }
      found.append((words.first?.lowercased() ?? "", attributes))
      // What stands in a style or a script is no markup.
      if let name = words.first, name == "style" || name == "script", let end = rest.firstRange(of: "</\(name)>") {
        rest = rest[end.upperBound...]
      }
    }
    return found
  }

  @Test("path confusion: what is not exactly a link's address is none")
  func paths() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a")
      let suffix = String(link.suffix(17))
      for path in [
        "/r/%2e%2e/r/\(suffix)", "/r/./\(suffix)", "/r/../r/\(suffix)", "//r/\(suffix)", "/R/\(suffix)", "/r%2F\(suffix)",
        "/r/\(suffix)/x", "/r/\(suffix);a=b", "/r/\(suffix)%00", "/r/\(suffix)%20", "/r/\(suffix)%2F", "/r\\\(suffix)",
        "/rr/\(suffix)",
        "/mypath/\(suffix)", "/r/i/\(suffix)", "/r/i/i/\(suffix)", "/r/%\(suffix)",
      ] {
        let answer = try await server.open("https://go.acme.test\(path)", as: .desktop)
        #expect([400, 404].contains(answer.status) && answer["location"] == nil, "\(path): \(answer.status)")
      }
      // One slash more at the end is the same address, and a query does not matter.
      for path in ["/r/\(suffix)/", "/r/\(suffix)?fbclid=x", "/r/\(suffix)?link=https://evil.test/"] {
        #expect(
          try await server.open("https://go.acme.test\(path)", as: .desktop)["location"] == "https://acme.test/a", "\(path)")
      }
      for path in [
        "/r/%2e%2e/admin/v1/links", "/r/..%2fadmin/v1/links", "/mypath/../v1/shortLinks", "/r/.well-known/jwks.json/x",
      ] {
        let answer = try await server.api.send("GET", path, headers: APIServer.admin, host: LinkServer.host)
        #expect(answer.status == 404 && !answer.body.contains("shortLink\""), "\(path): \(answer.status)")
      }
    }
  }

  @Test("host confusion: a link lives on its own host; an absolute target is answered as any")
  func hosts() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a")
      let path = String(link.dropFirst("https://go.acme.test".count))
      for host in [
        "evil.test", "go.acme.test.evil.test", "go.acme.test@evil.test", "evil.test:go.acme.test", "links.acme.test",
        "go.acme.test.",
        "xgo.acme.test", "go.acme.test,evil.test", "[go.acme.test]",
      ] {
        let answer = try await raw(server, "GET \(path) HTTP/1.1\nHost: \(host)\nX-Forwarded-Host: go.acme.test")
        #expect(answer.status >= 400 && answer["location"] == nil, "\(host): \(answer.status)")
      }
      let absolute = try await raw(server, "GET http://go.acme.test\(path) HTTP/1.1\nHost: go.acme.test")
      #expect(absolute.status == 302 && absolute["location"] == "https://acme.test/a")
      let long = try await raw(
        server, "GET http://go.acme.test/r/?link=https://acme.test/b HTTP/1.1\nHost: go.acme.test\nUser-Agent: curl/8.5.0")
      #expect(long.status == 302 && long["location"] == "https://acme.test/b")
    }
  }

  @Test("enumeration: every miss is the same answer, leaves nothing in memory, and lists are for administrators")
  func enumeration() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a", suffix: "{\"option\":\"SHORT\"}")
      var answers: Set<String> = []
      var random = Guesses()
      for _ in 0..<60 {
        let guess = random.next()
        if link.hasSuffix(guess) { continue }
        let answer = try await server.open("https://go.acme.test/r/\(guess)", as: .desktop)
        answers.insert("\(answer.status) \(answer.body.replacing(guess, with: "…"))")
      }
      #expect(answers.count == 1 && answers.first?.hasPrefix("404 ") == true)
      #expect(server.api.links.cached("go.acme.test/r/\(link.suffix(4))") == nil, "not opened yet")
      #expect(try await server.open(link, as: .desktop).status == 302)
      #expect(server.api.links.cached("go.acme.test/r/\(link.suffix(4))") != nil)
      for (path, key) in [
        ("/admin/v1/links", ""), ("/admin/v1/links/export", ""), ("/admin/v1/links/claims?uid=bob", ""),
        ("/v1/\(link.replacing("/", with: "%2F"))/linkStats?durationDays=7", "&key=\(LinkServer.key)"),
      ] {
        #expect([401, 403, 404].contains(try await server.api.send("GET", path + key).status), "\(path)")
      }
    }
  }
}

/// Four-letter guesses, always the same ones.
private struct Guesses {
  private var state: UInt64 = 43

  mutating func next() -> String {
    let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    return String(
      (0..<4).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return alphabet[Int(state >> 33) % 62]
      })
  }
}
