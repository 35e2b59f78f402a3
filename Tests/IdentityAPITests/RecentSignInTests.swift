import Accounts
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// What hands an account over takes a sign-in that is recent.
struct RecentSignInTests {
  private static let tooOld = "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"

  private func run(_ kind: AccountKind, _ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: kind) { server in try await test(server, IdentityClient(server: server)) }
  }

  @Test("Address, password and end of an account take a recent sign-in; signing in again is what clients do then")
  func old() async throws {
    try await run(.production) { server, client in
      let made = try await client.player("jim@x.io")
      server.clock.advance(by: 600_000)
      // A refresh is no sign-in: its token is new, and says when the player came.
      let refreshed = try await client.refresh(made.text("refreshToken"))
      let token = JSON.string(refreshed.text("id_token"))
      let refused: [(String, JSON)] = [
        ("accounts:update", ["idToken": token, "email": "new@x.io"]),
        ("accounts:update", ["idToken": token, "password": "secret2"]),
        ("accounts:signUp", ["idToken": token, "email": "new@x.io", "password": "secret2"]),
        ("accounts:sendOobCode", ["idToken": token, "requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "new@x.io"]),
        ("accounts:delete", ["idToken": token]),
      ]
      for (method, body) in refused {
        let answer = try await client.call(method, body)
        #expect(answer.error == Self.tooOld && answer.status == 400, "\(method)")
      }
      // What does not hand the account over is as before.
      #expect(try await client.call("accounts:update", ["idToken": token, "displayName": "Jim"]).status == 200)
      #expect(try await client.lookup(refreshed.text("id_token")).status == 200)
      // As the JS SDK reauthenticates: signs in with the password, checks that it is the same player, and tries again.
      let again = try await client.signIn("jim@x.io")
      #expect(again.text("localId") == made.text("localId"))
      let changed = try await client.call(
        "accounts:update", ["idToken": .string(again.text("idToken")), "password": "secret2"])
      #expect(changed.status == 200)
      server.clock.advance(by: 1000)
      let gone = try await client.call("accounts:delete", ["idToken": .string(changed.text("idToken"))])
      #expect(gone.status == 200)
    }
  }

  @Test("An anonymous player, who could not sign in again, links and leaves whenever they like")
  func anonymous() async throws {
    try await run(.production) { server, client in
      let (first, second) = (try await client.anonymous(), try await client.anonymous())
      server.clock.advance(by: 30 * 86_400_000)
      let token = try await client.refresh(first.text("refreshToken")).text("id_token")
      #expect(try await client.link(token, "jim@x.io").text("localId") == first.text("localId"))
      let other = try await client.refresh(second.text("refreshToken")).text("id_token")
      #expect(try await client.call("accounts:delete", ["idToken": .string(other)]).status == 200)
    }
  }

  @Test("How long ago is configured; development does not ask")
  func configured() async throws {
    var kind = AccountKind.production
    kind.options.recentSignIn = nil
    for kind in [kind, .development] {
      try await run(kind) { server, client in
        let made = try await client.player("jim@x.io")
        server.clock.advance(by: 3_000_000)
        let answer = try await client.call(
          "accounts:update", ["idToken": .string(made.text("idToken")), "password": "secret2"])
        #expect(answer.status == 200)
      }
    }
  }
}
