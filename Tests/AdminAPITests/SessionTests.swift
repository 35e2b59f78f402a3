import APISupport
import AdminModel
import HTTPServer
import ServerTestSupport
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// Sessions of administrators at the console: how they begin, what they allow, how they end.
struct SessionTests {
  /// The headers that a page sends, with a session's cookie and secret.
  fileprivate struct Page {
    var cookie = ""
    var csrf = ""
    var more: [String: String] = [:]

    var headers: [String: String] {
      var headers = ["X-Doubloon-Console": "1", "Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"]
      if !cookie.isEmpty { headers["Cookie"] = cookie }
      if !csrf.isEmpty { headers["X-Doubloon-CSRF"] = csrf }
      return headers.merging(more) { $1 }
    }
  }

  fileprivate static func signIn(_ server: APIServer, _ body: String = #"{"as":"owner"}"#) async throws -> Page {
    let answer = try await server.send("POST", "/admin/v1/session", body, headers: Page().headers)
    #expect(answer.status == 200, "\(answer.body)")
    let cookie = try #require(answer["set-cookie"])
    let json = try JSONParser.parse(answer.body)
    return Page(cookie: String(cookie.prefix { $0 != ";" }), csrf: try #require(json["csrf"]?.string))
  }

  @Test("In development the owner signs in without a credential, and the session does what the owner may")
  func owner() async throws {
    try await APIServer.run { server in
      let before = try await server.send("GET", "/admin/v1/session", headers: Page().headers)
      #expect(before.status == 200)
      #expect(try JSONParser.parse(before.body)["signedIn"]?.bool == false)
      let answer = try await server.send("POST", "/admin/v1/session", #"{"as":"owner"}"#, headers: Page().headers)
      let cookie = try #require(answer["set-cookie"])
      #expect(cookie.hasPrefix("doubloon-console-80="))
      for part in ["; Path=/admin/v1;", "; HttpOnly", "; SameSite=Strict"] { #expect(cookie.contains(part), "\(cookie)") }
      let page = try await Self.signIn(server)
      let current = try JSONParser.parse(try await server.send("GET", "/admin/v1/session", headers: page.headers).body)
      #expect(current["signedIn"]?.bool == true)
      #expect(current["actor"]?.string == "admin:owner")
      #expect(current["role"]?.string == "admin")
      let made = try await server.send("POST", "/admin/v1/namespaces", #"{"name":"other"}"#, headers: page.headers)
      #expect(made.status == 200, "\(made.body)")
      let list = try await server.send("GET", "/admin/v1/namespaces", headers: page.headers)
      #expect(list.status == 200)
      #expect(list["access-control-allow-origin"] == nil)
      #expect(list["cache-control"] == "no-store")
      #expect(list["cross-origin-resource-policy"] == "same-origin")
    }
  }

  @Test(
    "A cookie alone opens nothing: without the page's header, from another origin or site, or without its secret",
    arguments: [
      ["X-Doubloon-Console": ""], ["X-Doubloon-Console": "0"], ["Sec-Fetch-Site": "cross-site"],
      ["Sec-Fetch-Site": "same-site"],
      ["Origin": "http://localhost:81"], ["Origin": "http://evil.example"], ["Origin": "null"],
    ])
  func foreignPages(_ more: [String: String]) async throws {
    try await APIServer.run { server in
      var page = try await Self.signIn(server)
      page.more = more
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: page.headers).status == 403)
      #expect(try await server.send("POST", "/admin/v1/namespaces", #"{"name":"x"}"#, headers: page.headers).status == 403)
      #expect(try await server.send("GET", "/admin/v1/session", headers: page.headers).status == 403)
      #expect(server.database.namespace(named: "x") == nil)
    }
  }

  @Test("What is done at the console is on record as done there, with the address, refused or not; what a key does is not")
  func traces() async throws {
    try await APIServer.run { server in
      let page = try await Self.signIn(server)
      try await server.expect(
        .init("POST", "/admin/v1/namespaces", #"{"name":"one"}"#, headers: page.headers),
        .init("POST", "/admin/v1/namespaces", #"{"name":"no name"}"#, headers: page.headers, status: 400),
        .init("POST", "/admin/v1/namespaces", #"{"name":"two"}"#, headers: APIServer.admin))
      let answer = try await server.send("GET", "/admin/v1/audits", headers: APIServer.admin)
      let actions = try #require(answer.json?["actions"]?.array)
      let named = { (name: String) in actions.first { $0["detail"]?["body"]?["name"]?.string == name }?["detail"] }
      for name in ["one", "no name"] {
        #expect(named(name)?["via"] == "console" && named(name)?["address"]?.string != nil, "\(answer.body)")
      }
      #expect(named("two") != nil && named("two")?["via"] == nil && named("two")?["address"] == nil, "\(answer.body)")
      #expect(actions.first { $0["action"] == "session.open" }?["detail"]?["via"] == "console")
    }
  }

  @Test("What changes something carries the page's secret, and that of another session is none")
  func secret() async throws {
    try await APIServer.run { server in
      var page = try await Self.signIn(server)
      let other = try await Self.signIn(server)
      for csrf in ["", "x", other.csrf] {
        page.csrf = csrf
        let answer = try await server.send("POST", "/admin/v1/namespaces", #"{"name":"x"}"#, headers: page.headers)
        #expect(answer.status == 403)
        #expect(answer.body.contains("load the page again"))
      }
      #expect(server.database.namespace(named: "x") == nil)
    }
  }

  @Test("The cookie opens the administrators' surface and nothing else")
  func elsewhere() async throws {
    try await APIServer.run(access: AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ann", secret: "s3cret")])) {
      server in
      _ = try await server.database.openNamespace(named: "game")
      let page = try await Self.signIn(server, #"{"key":"s3cret"}"#)
      #expect(page.cookie.hasPrefix("__Secure-doubloon-console="))
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: page.headers).status == 200)
      for path in ["/users.json", "/.settings/rules.json?ns=game", "/.inspect/sessions?ns=game"] {
        #expect(try await server.send("GET", path, headers: page.headers).status != 200, "\(path)")
      }
      #expect(try await server.send("PUT", "/a.json", "1", headers: page.headers).status == 401)
    }
  }

  @Test("A wrong key, an unknown one and none are answered alike, and after ten of them nobody from there is heard")
  func wrongKeys() async throws {
    try await APIServer.run { server in
      var answers: Set<String> = []
      for key in ["x", "owner2", String(repeating: "k", count: 3000), "a.b.c", "é"] {
        let answer = try await server.send("POST", "/admin/v1/session", #"{"key":"\#(key)"}"#, headers: Page().headers)
        #expect(answer.status == 401)
        #expect(answer["set-cookie"] == nil)
        answers.insert(answer.body)
      }
      #expect(answers.count == 1)
      var status = 401
      for _ in 0..<6 {
        let answer = try await server.send("POST", "/admin/v1/session", #"{"key":"y"}"#, headers: Page().headers)
        status = Int(answer.status)
        if status == 429 { #expect(answer["retry-after"] != nil) }
      }
      #expect(status == 429)
      #expect(try await server.send("POST", "/admin/v1/session", #"{"as":"owner"}"#, headers: Page().headers).status == 429)
      server.clock.advance(by: 60_000)
      _ = try await Self.signIn(server)
    }
  }

  @Test("A session ends when nobody does anything in it, and in any case at its end; looking on keeps none alive")
  func ends() async throws {
    try await APIServer.run { server in
      var page = try await Self.signIn(server)
      let minutes: Int64 = 60_000
      server.clock.advance(by: 29 * minutes)
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: page.headers).status == 200)
      server.clock.advance(by: 2 * minutes)
      let over = try await server.send("GET", "/admin/v1/namespaces", headers: page.headers)
      #expect(over.status == 401)
      #expect(over.body.contains("session_over"))
      page = try await Self.signIn(server)
      page.more = ["X-Doubloon-Active": "1"]
      for _ in 0..<35 {
        server.clock.advance(by: 20 * minutes)
        #expect(try await server.send("GET", "/admin/v1/namespaces", headers: page.headers).status == 200)
      }
      server.clock.advance(by: 25 * minutes)
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: page.headers).status == 401)
    }
  }

  @Test("Signing out ends the session, another administrator can end it, and both are on record")
  func signOut() async throws {
    try await APIServer.run { server in
      let (page, other) = (try await Self.signIn(server), try await Self.signIn(server))
      let out = try await server.send("DELETE", "/admin/v1/session", headers: page.headers)
      #expect(out.status == 200)
      #expect(out["set-cookie"]?.contains("Max-Age=0") == true)
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: page.headers).status == 401)
      let list = try JSONParser.parse(try await server.send("GET", "/admin/v1/sessions", headers: other.headers).body)
      let sessions = try #require(list["sessions"]?.array)
      #expect(sessions.count == 1)
      #expect(sessions.first?["current"]?.bool == true)
      let id = try #require(sessions.first?["id"]?.string)
      #expect(try await server.send("DELETE", "/admin/v1/sessions/\(id)", headers: APIServer.admin).status == 200)
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: other.headers).status == 401)
      let audit = try await server.send("GET", "/admin/v1/audit", headers: APIServer.admin).body
      for action in ["session.open", "session.close", "sessions.end"] { #expect(audit.contains(action)) }
      #expect(!audit.contains(String(other.cookie.suffix(20))))
    }
  }

  @Test("An administrator has five sessions: the one that was idle longest gives way")
  func bounded() async throws {
    try await APIServer.run { server in
      var pages: [Page] = []
      for _ in 0..<6 {
        pages.append(try await Self.signIn(server))
        server.clock.advance(by: 1000)
      }
      let statuses = try await pages.asyncStatuses(server)
      #expect(statuses == [401, 200, 200, 200, 200, 200])
    }
  }

  @Test("In production pages are served under the names that are given, and under no other")
  func hosts() async throws {
    var console = ConsoleSettings()
    console.hosts = ["admin.game.example"]
    let access = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ann", secret: "s3cret")])
    try await APIServer.run(access: access, console: console) { server in
      _ = try await server.database.openNamespace(named: "game")
      func status(_ host: String) async throws -> Int {
        var headers = Page().headers
        headers["Origin"] = "https://\(host)"
        let answer = try await server.send(
          "POST", "/admin/v1/session", #"{"key":"s3cret"}"#, headers: headers, host: host)
        let page = try await server.send("GET", "/console/", host: host)
        #expect((answer.status == 200) == (page.status == 200), "\(host)")
        return Int(answer.status)
      }
      #expect(try await status("admin.game.example") == 200)
      #expect(try await status("ADMIN.game.example:8443") == 200)
      #expect(try await status("localhost:9000") == 200)
      #expect(try await status("go.game.example") == 404)
      #expect(try await status("admin.game.example.evil.example") == 404)
      // Who brings no key finds nothing there; a key is no browser's, and counts by every name.
      for (path, unknown) in [("/admin/v1/session", 200), ("/admin/v1/status", 401), ("/admin/v1", 401)] {
        #expect(try await server.send("GET", path, host: "go.game.example").status == 404, "\(path)")
        #expect(try await server.send("GET", path, host: "admin.game.example").status == unknown, "\(path)")
      }
      let key = try await server.send(
        "GET", "/admin/v1/status", headers: ["Authorization": "Bearer s3cret"], host: "go.game.example")
      #expect(key.status == 200, "\(key.body)")
    }
  }

  @Test("Without a console there are no pages and no sessions")
  func disabled() async throws {
    var console = ConsoleSettings()
    console.isEnabled = false
    try await APIServer.run(console: console) { server in
      _ = try await server.database.openNamespace(named: "game")
      #expect(try await server.send("GET", "/console/").status == 404)
      #expect(try await server.send("POST", "/admin/v1/session", #"{"as":"owner"}"#, headers: Page().headers).status == 404)
    }
  }
}

extension [SessionTests.Page] {
  /// What each gets when it looks.
  fileprivate func asyncStatuses(_ server: APIServer) async throws -> [Int] {
    var statuses: [Int] = []
    for page in self {
      statuses.append(Int(try await server.send("GET", "/admin/v1/namespaces", headers: page.headers).status))
    }
    return statuses
  }
}
