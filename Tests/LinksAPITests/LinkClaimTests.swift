import Links
import ServerTestSupport
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// `referrals:claim`: who may call it, what it reads, and what it answers. The rules are tested with `Links`.
@Suite struct LinkClaimTests {
  static let query = "link=https://acme.test/?gameid%3D7%26invitedby%3Dalice&apn=test.acme.app&ibi=test.acme.ios"

  private func claim(_ server: LinkServer, _ body: String, as uid: String?) async throws -> (status: Int, json: JSON) {
    try await server.post("/v1/referrals:claim", body, key: nil, headers: uid.map({ LinkServer.token($0) }) ?? [:])
  }

  private func text(_ value: String) -> String { JSON.string(value).compact }

  @Test("a proven click makes the server write who invited, once for the player and once for the click")
  func click() async throws {
    try await LinkServer.run { server in
      let copied = try await server.clipboard(try await server.link(Self.query))
      let body = "{\"link\":\(text(copied))}"
      #expect(try await claim(server, body, as: nil).status == 401)
      let first = try await claim(server, body, as: "bob")
      #expect(first.status == 200 && first.json["referredBy"]?.string == "alice", "\(first.json.compact)")
      #expect(first.json["claim"]?["how"]?.string == "click" && first.json["claim"]?["platform"]?.string == "IOS")
      #expect(try await server.api.value("/users/bob/referred_by.json") == "\"alice\"")
      let again = try await claim(server, body, as: "bob")
      #expect(again.status == 200 && again.json.compact == first.json.compact, "the same answer again")
      let thief = try await claim(server, body, as: "carol")
      #expect(thief.status == 409 && thief.json.compact.contains("\"used\""))
      #expect(try await server.api.value("/users/carol/referred_by.json") == "null")
    }
  }

  @Test("the commit is the server's, and says which click it came from")
  func evidence() async throws {
    try await LinkServer.run { server in
      let copied = try await server.clipboard(try await server.link(Self.query))
      let (_, json) = try await claim(server, "{\"link\":\(text(copied))}", as: "bob")
      let click = try #require(json["claim"]?["click"]?.string)
      let id = try #require(server.api.database.namespace(named: "game"))
      let commit = try server.api.database.engine.read { snapshot in
        try snapshot.commits(in: id, after: .zero, limit: 10).last
      }
      #expect(commit?.actor == .system("links") && commit?.requestID == "click/\(click)")
      let shown = try await server.api.send("GET", "/admin/v1/links/claims?uid=bob", headers: APIServer.admin)
      #expect(shown.body.contains(click) && shown.body.contains("\"inviter\":\"alice\""))
    }
  }

  @Test("a code works however it is typed, for many players, and is on the page; guessing is slowed down")
  func code() async throws {
    try await LinkServer.run { server in
      let (_, created) = try await server.create(Self.query)
      let code = try #require(created["code"]?.string)
      let link = try #require(created["shortLink"]?.string)
      #expect(try await server.open(link, as: .iphone).body.contains("\(code.prefix(4))-\(code.suffix(4))"))
      for (uid, typed) in [("bob", code), ("carol", " \(code.prefix(4).lowercased())-\(code.suffix(4)) ")] {
        let answer = try await claim(server, "{\"code\":\(text(typed))}", as: uid)
        #expect(answer.status == 200 && answer.json["referredBy"]?.string == "alice", "\(answer.json.compact)")
      }
      var statuses: [Int] = []
      for _ in 0..<6 { statuses.append(try await claim(server, "{\"code\":\"ZZZZZZZZ\"}", as: "dave").status) }
      #expect(statuses == [404, 404, 404, 404, 404, 429])
      server.api.clock.advance(by: 60_000)
      #expect(try await claim(server, "{\"code\":\"\(code)\"}", as: "dave").status == 200)
    }
  }

  @Test(
    "what proves nothing changes nothing",
    arguments: [
      "{}", "{\"link\":\"https://go.acme.test/r/none?cid=x\"}", "{\"referrer\":\"utm_source=x\"}", "{\"code\":\"!\"}",
      "{\"link\":\"a\",\"code\":\"b\"}", "{\"link\":\"https://evil.test/?cid=x\"}", "{\"code\":5}",
    ])
  func nothing(_ body: String) async throws {
    try await LinkServer.run { server in
      let answer = try await claim(server, body, as: "bob")
      #expect([400, 404].contains(answer.status), "\(answer.json.compact)")
      #expect(try await server.api.value("/users/bob.json") == "null")
    }
  }

  @Test("administrators claim for a player; a player cannot for another")
  func admin() async throws {
    try await LinkServer.run { server in
      let (_, created) = try await server.create(Self.query)
      let code = try #require(created["code"]?.string)
      let body = "{\"code\":\"\(code)\",\"player\":\"bob\"}"
      let answer = try await server.post("/v1/referrals:claim", body, key: nil, headers: APIServer.admin)
      #expect(answer.status == 200)
      #expect(try await server.api.value("/users/bob/referred_by.json") == "\"alice\"")
      _ = try await claim(server, "{\"code\":\"\(code)\",\"player\":\"carol\"}", as: "dave")
      #expect(try await server.api.value("/users/carol/referred_by.json") == "null")
    }
  }
}

/// The first start of a game in one call.
@Suite struct FirstStartTests {
  private func run(_ test: (LinkServer) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { api in
      let put = try await api.send("PUT", "/admin/v1/links/settings", LinkServer.settings, headers: APIServer.admin)
      #expect(put.status == 200)
      try await test(LinkServer(api: api))
    }
  }

  @Test("one call attributes, signs in and claims; a second one with the same proof is a player whom nobody invited")
  func begin() async throws {
    try await run { server in
      let copied = try await server.clipboard(try await server.link(LinkClaimTests.query))
      let body = "{\"bundleId\":\"test.acme.ios\",\"link\":\(JSON.string(copied).compact)}"
      let (status, json) = try await server.post("/v1/players:begin", body)
      #expect(status == 200 && json["attribution"]?["attributionConfidence"]?.string == "UNIQUE", "\(json.compact)")
      #expect(json["referredBy"]?.string == "alice" && json["player"]?["idToken"]?.string != nil)
      let uid = try #require(json["player"]?["localId"]?.string)
      #expect(try await server.api.value("/users/\(uid)/referred_by.json") == "\"alice\"")
      let again = try await server.post("/v1/players:begin", body)
      #expect(again.status == 200 && again.json["claimProblem"]?["reason"]?.string == "used")
      let other = try #require(again.json["player"]?["localId"]?.string)
      #expect(other != uid)
      #expect(try await server.api.value("/users/\(other)/referred_by.json") == "null")
    }
  }

  @Test("a code does as well, and a player may come without any proof; without a key nobody comes")
  func others() async throws {
    try await run { server in
      let (_, created) = try await server.create(LinkClaimTests.query)
      let code = try #require(created["code"]?.string)
      let typed = try await server.post("/v1/players:begin", "{\"bundleId\":\"test.acme.ios\",\"code\":\"\(code)\"}")
      #expect(typed.json["referredBy"]?.string == "alice" && typed.json["attribution"] == nil)
      let bare = try await server.post("/v1/players:begin", "{\"bundleId\":\"test.acme.ios\"}")
      #expect(bare.status == 200 && bare.json["player"]?["localId"]?.string != nil && bare.json["claim"] == nil)
      #expect(try await server.post("/v1/players:begin", "{}", key: nil).status == 403)
    }
  }
}
