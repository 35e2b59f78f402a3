import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// A clock that ran ahead and was set back: what was committed in between has times that lie ahead, for as long.
struct FastClockTests {
  private static let year: Int64 = 365 * 86_400_000

  private func run(_ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in try await test(server, IdentityClient(server: server)) }
  }

  /// Lets the clock run ahead while `body` is done.
  private func ahead(_ server: APIServer, by time: Int64 = year, _ body: () async throws -> Void) async throws {
    server.clock.advance(by: time)
    try await body()
    server.clock.setBack(by: time)
  }

  @Test("Who signs up and in after the clock was set back gets tokens that are good at once")
  func signsIn() async throws {
    try await run { server, client in
      let jim = try await client.player("jim@x.io")
      try await ahead(server) { _ = try await client.player("eve@x.io") }
      server.clock.advance(by: 1000)
      for answer in [
        try await client.player("bob@x.io"), try await client.anonymous(), try await client.signIn("jim@x.io"),
        try await client.refresh(jim.text("refreshToken")),
      ] {
        let token = answer.text("idToken").isEmpty ? answer.text("id_token") : answer.text("idToken")
        #expect(answer.claims["iat"] == .int(server.clock.now() / 1000))
        #expect(try await client.lookup(token).status == 200, "\(answer.json)")
      }
    }
  }

  @Test("Accounts that were made while it ran ahead, by password or anonymous, go on with new tokens")
  func bornAhead() async throws {
    try await run { server, client in
      var anonymous = ""
      try await ahead(server) {
        _ = try await client.player("eve@x.io")
        anonymous = try await client.anonymous().text("refreshToken")
      }
      let back = try await client.signIn("eve@x.io")
      #expect(try await client.lookup(back.text("idToken")).status == 200, "\(back.json)")
      let refreshed = try await client.refresh(anonymous)
      #expect(try await client.lookup(refreshed.text("id_token")).status == 200, "\(refreshed.json)")
      server.clock.advance(by: 5000)
      #expect(try await client.lookup(back.text("idToken")).status == 200)
    }
  }

  @Test("Sessions that were revoked while it ran ahead stay revoked, and the player can sign in again")
  func revokedAhead() async throws {
    try await run { server, client in
      let made = try await client.player("jim@x.io")
      var second = ""
      try await ahead(server) {
        second = try await client.signIn("jim@x.io").text("refreshToken")
        server.clock.advance(by: 5000)
        _ = try await client.admin(
          "accounts:update",
          ["localId": .string(made.text("localId")), "validSince": .string(String(server.clock.now() / 1000))])
        server.clock.setBack(by: 5000)
      }
      let again = try await client.signIn("jim@x.io")
      #expect(try await client.lookup(again.text("idToken")).status == 200, "\(again.json)")
      for token in [made.text("refreshToken"), second] { #expect(try await client.refresh(token).status == 400) }
      #expect(try await client.refresh(again.text("refreshToken")).status == 200)
      // What is revoked now is void now, and not in a year.
      server.clock.advance(by: 5000)
      _ = try await client.admin(
        "accounts:update",
        ["localId": .string(made.text("localId")), "validSince": .string(String(server.clock.now() / 1000))])
      #expect(try await client.lookup(again.text("idToken")).error == "TOKEN_EXPIRED")
    }
  }

  @Test("A second back keeps accounts in order: who was made before it can sign in at once")
  func slew() async throws {
    try await run { server, client in
      let made = try await client.player("jim@x.io")
      server.clock.setBack(by: 1500)
      let again = try await client.signIn("jim@x.io")
      #expect(try await client.lookup(again.text("idToken")).status == 200)
      #expect(try await client.lookup(made.text("idToken")).status == 200)
    }
  }
}
