import ServerTestSupport
import Testing
import TreeModel

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
