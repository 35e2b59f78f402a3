import Accounts
import ClientRuntime
import Foundation
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

@testable import Doubloon

/// Refusals by states of the real server, and what becomes of the session.
@Suite(.timeLimit(.minutes(5))) struct AuthRefusalTests {
  /// The number of the error that a link of an address fails with; nil if it does not.
  private static func link(_ user: User, _ email: String, _ password: String = "secret1") async -> Int? {
    number(
      of: await failure {
        try await user.link(with: EmailAuthProvider.credential(withEmail: email, password: password))
      })
  }

  /// Switches signing in by password on or off.
  private static func offerPasswords(_ isOn: Bool, _ server: AppServer) async throws {
    let answer = try await server.identity.send(
      "PATCH", "/identitytoolkit.googleapis.com/v2/projects/game/config?updateMask=signIn",
      ["signIn": ["email": ["enabled": .bool(isOn)]]], headers: APIServer.admin)
    #expect(answer.status == 200, "\(answer.json)")
  }

  @Test("a link that the server refuses leaves the anonymous player as they were; when the reason is gone it succeeds")
  func refusedLinks() async throws {
    try await AppServer.run { server in
      try await server.app("other").authentication.createUser(withEmail: "ann@acme.test", password: "secret1")
      let auth = server.app().authentication
      let user = try await auth.signInAnonymously().user
      #expect(await Self.link(user, "ann@acme.test") == 17007)
      #expect(await Self.link(user, "bob@acme.test", "123") == 17026)
      try await Self.offerPasswords(false, server)
      #expect(await Self.link(user, "bob@acme.test") == 17006)
      #expect(auth.currentUser === user && user.isAnonymous && user.providerData.isEmpty)
      try await Self.offerPasswords(true, server)
      #expect(await Self.link(user, "bob@acme.test") == nil)
      #expect(auth.currentUser === user && !user.isAnonymous)
    }
  }

  @Test("a link from an address that has set too many passwords is refused, and the player stays; later it succeeds")
  func tooManyPasswords() async throws {
    var kind = AccountKind.strict
    kind.options.passwordsPerClient = RateLimit(1, per: 60_000, burst: 1)
    try await AppServer.run(kind) { server in
      let first = try await server.app("other").authentication.signInAnonymously().user
      let auth = server.app().authentication
      let user = try await auth.signInAnonymously().user
      #expect(await Self.link(first, "ann@acme.test") == nil)
      #expect(await Self.link(user, "bob@acme.test") == 17010)
      #expect(auth.currentUser === user && user.isAnonymous && user.providerData.isEmpty)
      server.api.clock.advance(by: 60_000)
      #expect(await Self.link(user, "bob@acme.test") == nil)
      #expect(auth.currentUser === user && !user.isAnonymous)
    }
  }

  @Test("a link in a session that an administrator has ended says so, and signs out")
  func endedSession() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await auth.signInAnonymously().user
      server.api.clock.advance(by: 20_000)
      let ended = try await server.identity.admin(
        "accounts:update", ["localId": .string(user.uid), "validSince": .int(APIServer.start / 1000 + 10)])
      #expect(ended.status == 200, "\(ended.json)")
      #expect(await Self.link(user, "ann@acme.test") == 17021)
      #expect(auth.currentUser == nil)
    }
  }

  @Test("a sign-in of ten minutes ago is not enough for another password in production; signing in once more is")
  func longAgo() async throws {
    try await AppServer.run(.strict) { server in
      let auth = server.app().authentication
      let user = try await auth.createUser(withEmail: "ann@acme.test", password: "secret1").user
      server.api.clock.advance(by: 600_000)
      let error = await failure { try await user.updatePassword(to: "secret2") }
      #expect(number(of: error) == 17014)
      #expect(auth.currentUser === user)
      try await user.reauthenticate(with: EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret1"))
      try await user.updatePassword(to: "secret2")
      #expect(try await auth.signIn(withEmail: "ann@acme.test", password: "secret2").user.uid == user.uid)
    }
  }

  @Test(
    "a server that does not know the token which it gave out a moment before does not know the player: signed out",
    arguments: [1, 9])
  func unknownToken(refusals: Int) async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      let user = try await auth.signInAnonymously().user
      let left = Locked(refusals)
      http.answer { request in
        guard request.target.hasPrefix("/v1/accounts:lookup") else { return nil }
        return left.withLock { left in
          left -= 1
          return left >= 0 ? .refusal("INVALID_ID_TOKEN") : nil
        }
      }
      let error = await failure { try await user.reload() }
      // Once it may be a key that has moved: the next token is another.
      #expect(number(of: error) == (refusals == 1 ? nil : 17017))
      #expect((auth.currentUser == nil) == (refusals > 1))
    }
  }

  @Test("an identity of an OpenID Connect provider of the studio's own signs in, and is linked to an anonymous player")
  func openIDConnect() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      func credential(_ name: String) -> AuthCredential {
        OAuthProvider.credential(withProviderID: "oidc.guild", idToken: "{\"sub\":\"\(name)\"}")
      }
      let first = try await auth.signIn(with: credential("ann"))
      #expect(first.additionalUserInfo?.isNewUser == true)
      #expect(first.user.providerData.map(\.providerID) == ["oidc.guild"])
      try auth.signOut()
      let again = try await auth.signIn(with: credential("ann"))
      #expect(again.uid == first.uid && again.additionalUserInfo?.isNewUser == false)
      try auth.signOut()
      let user = try await auth.signInAnonymously().user
      let linked = try await user.link(with: credential("bob"))
      #expect(linked.user === user && !user.isAnonymous)
      #expect(user.providerData.map(\.providerID) == ["oidc.guild"])
    }
  }
}
