import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Sessions: what a refresh gives, and what ends one.
struct SessionTests {
  @Test("a refresh keeps the time and the way of the sign-in, and the refresh token")
  func refresh() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signUp("jim@x.io")
      fixture.clock.advance(by: 10_000)
      let refreshed = try await fixture.accounts.refresh(made.refreshToken, of: fixture.project)
      #expect(refreshed.uid == made.uid)
      #expect(refreshed.tokens.refreshToken == made.refreshToken && refreshed.tokens.lifetime == 3600)
      let (before, after) = (try fixture.token(made), try fixture.token(refreshed.tokens.idToken))
      #expect(after.authTime == before.authTime && after.provider == "password")
      #expect(after.issuedAt == before.issuedAt + 10)
    }
  }

  @Test("a session that was outgrown by a link goes on for a minute, as the linked account's, and is over then")
  func outgrown() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.anonymous()
      #expect(await fixture.refresh("junk") == .invalidRefreshToken)
      fixture.clock.advance(by: 1000)
      let linked = try await fixture.signUp("jim@x.io", linking: made)
      // The answer of the link may have been lost.
      #expect(try fixture.token(try await fixture.refreshed(made)).provider == "password")
      fixture.clock.advance(by: 59_999)
      #expect(await fixture.refresh(made.refreshToken) == nil)
      fixture.clock.advance(by: 1)
      #expect(await fixture.refresh(made.refreshToken) == .expiredToken)
      #expect(await fixture.refresh(linked.refreshToken) == nil)
    }
  }

  @Test("a session that was revoked, whose account is disabled or gone, is over, and says why")
  func ended() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      try await fixture.administer(player.uid) { $0.validSince = fixture.clock.now() / 1000 + 1 }
      #expect(await fixture.refresh(player.refreshToken) == .expiredToken)
      try await fixture.administer(player.uid) { $0.isDisabled = true }
      #expect(await fixture.refresh(player.refreshToken) == .disabledAccount)
      try await fixture.accounts.remove(player.uid, of: fixture.project, by: .admin("test"))
      #expect(await fixture.refresh(player.refreshToken) == .unknownAccount)
    }
  }

  @Test("a player who revokes ends every session but the one that goes on")
  func ownRevocation() async throws {
    try await AccountFixture.run { fixture in
      let first = try await fixture.signUp("jim@x.io")
      let second = try await fixture.signIn("jim@x.io")
      fixture.clock.advance(by: 2000)
      let revoked = first.after(try await fixture.update(first, revokes: true))
      for old in [first, second] {
        #expect(await fixture.refresh(old.refreshToken) == .expiredToken)
        #expect(await fixture.refusal(of: old) == .expiredToken)
      }
      #expect(await fixture.refresh(revoked.refreshToken) == nil)
      #expect(await fixture.refusal(of: revoked) == nil)
    }
  }

  @Test("a sign-in with the old password is over with it, in the same second, too; what the change itself gives goes on")
  func changedWithinASecond() async throws {
    try await AccountFixture.run { fixture in
      let owner = try await fixture.signUp("jim@x.io")
      let thief = try await fixture.signIn("jim@x.io")
      fixture.clock.advance(by: 1)
      let changed = owner.after(try await fixture.update(owner) { $0.password = "secret2" })
      #expect(await fixture.refresh(thief.refreshToken) == .expiredToken)
      #expect(await fixture.refresh(owner.refreshToken) == .expiredToken)
      #expect(await fixture.refresh(changed.refreshToken) == nil)
      let again = try await fixture.signIn("jim@x.io", "secret2")
      _ = try await fixture.update(changed) { $0.displayName = .some("Jim") }
      #expect(await fixture.refresh(again.refreshToken) == nil, "another change makes nothing void")
      try await fixture.administer(owner.uid) { $0.email = try? fixture.email("jane@x.io") }
      #expect(await fixture.refresh(again.refreshToken) == .expiredToken)
    }
  }

  @Test("each revocation ends the sessions that began before it in its second: a second one, and one that comes a second late")
  func revokedAgain() async throws {
    try await AccountFixture.run { fixture in
      let first = try await fixture.signUp("jim@x.io")
      let second = first.after(try await fixture.update(first, revokes: true))
      #expect(await fixture.refresh(first.refreshToken) == .expiredToken)
      let third = second.after(try await fixture.update(second, revokes: true))
      #expect(await fixture.refresh(second.refreshToken) == .expiredToken)
      #expect(await fixture.refresh(third.refreshToken) == nil)
      let now = fixture.clock.now() / 1000
      try await fixture.administer(first.uid) { $0.validSince = now }
      #expect(await fixture.refresh(third.refreshToken) == .expiredToken)
      fixture.clock.advance(by: 1000)
      let fourth = try await fixture.signIn("jim@x.io")
      fixture.clock.advance(by: 1000)
      let fifth = try await fixture.signIn("jim@x.io")
      try await fixture.administer(first.uid) { $0.validSince = now + 1 }
      #expect(await fixture.refresh(fourth.refreshToken) == .expiredToken)
      #expect(await fixture.refresh(fifth.refreshToken) == nil)
    }
  }

  @Test("an anonymous session that is linked within its second goes on for its grace")
  func linkedWithinASecond() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.anonymous()
      let linked = try await fixture.signUp("jim@x.io", linking: made)
      #expect(await fixture.refresh(made.refreshToken) == nil)
      #expect(await fixture.refresh(linked.refreshToken) == nil)
    }
  }

  @Test("a uid that was deleted and came back keeps the tokens of the one who had it void")
  func reborn() async throws {
    try await AccountFixture.run { fixture in
      var draft = AccountDraft()
      draft.email = try fixture.email("jim@x.io")
      let id = try #require(AccountID("jim"))
      _ = try await fixture.accounts.create(draft, uid: id, password: "secret1", fixture.administrator)
      let old = try await fixture.signIn("jim@x.io")
      try await fixture.accounts.remove("jim", of: fixture.project, by: .admin("test"))
      fixture.clock.advance(by: 5000)
      _ = try await fixture.accounts.create(draft, uid: id, password: "secret1", fixture.administrator)
      #expect(await fixture.refresh(old.refreshToken) == .unknownAccount)
      #expect(await fixture.refusal(of: old) == .unknownAccount)
      let token = try fixture.token(old)
      let now = fixture.clock.now()
      let found = fixture.accounts.watch.revocation(
        of: "jim", in: fixture.project.namespace, issuedAt: token.issuedAt, at: now)
      #expect(found?.reason == .revoked)
      let back = try await fixture.signIn("jim@x.io")
      #expect(await fixture.refusal(of: back) == nil)
      #expect(
        fixture.accounts.watch.revocation(
          of: "jim", in: fixture.project.namespace, issuedAt: try fixture.token(back).issuedAt, at: now) == nil)
    }
  }

  @Test("an administrator's claims reach the next token, and go from the one after they were taken away")
  func claims() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      #expect(try fixture.token(player).claims["rank"] == nil)
      try await fixture.administer(player.uid) { $0.claims = .some(#"{"rank":"captain","vip":true}"#) }
      let claims = try fixture.token(try await fixture.refreshed(player)).claims
      #expect(claims["rank"] == "captain" && claims["vip"] == true)
      try await fixture.administer(player.uid) { $0.claims = .some(nil) }
      #expect(try fixture.token(try await fixture.refreshed(player)).claims["rank"] == nil)
    }
  }

  @Test("an ID token says what the account is: address, number, name, picture and identities, and no more")
  func tokenSubject() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signIn(
        as: ["sub": "g1", "email": "jim@x.io", "email_verified": true, "name": "Jim", "picture": "http://p"])
      try await fixture.administer(made.uid) { $0.phoneNumber = PhoneNumber("+15550100") }
      let claims = try fixture.token(try await fixture.refreshed(made)).claims
      #expect(claims["sub"]?.string == made.uid && claims["user_id"]?.string == made.uid)
      #expect(claims["email"] == "jim@x.io" && claims["email_verified"] == true && claims["phone_number"] == "+15550100")
      #expect(claims["name"] == "Jim" && claims["picture"] == "http://p")
      #expect(
        claims["firebase"]?["identities"] == ["email": ["jim@x.io"], "phone": ["+15550100"], "google.com": ["g1"]])
      #expect(claims["iss"] == "https://securetoken.google.com/game" && claims["aud"] == "game")
    }
  }

  @Test("a session cookie lasts as long as it may, for a token that is good")
  func cookie() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      let (accounts, project) = (fixture.accounts, fixture.project)
      func error(_ token: String, for duration: Int64?) async -> AccountError? {
        await fixture.error { _ = try accounts.sessionCookie(for: token, duration: duration, of: project) }
      }
      for duration: Int64 in [299, 1_209_601, 0, -1, .max] {
        #expect(await error(player.idToken, for: duration) == .invalidCookieDuration)
      }
      #expect(await error("junk", for: 300) == .invalidIDToken)
      for (duration, expected) in [(Int64?.some(300), Int64(300)), (86_400, 86_400), (nil, 1_209_600)] {
        let text = try accounts.sessionCookie(for: player.idToken, duration: duration, of: project)
        let cookie = try accounts.issuer.verify(sessionCookie: text, project: "game", at: fixture.clock.now())
        #expect(cookie.claims["iss"] == "https://session.firebase.google.com/game")
        #expect(cookie.uid == player.uid && cookie.expiresAt == cookie.issuedAt + expected)
      }
      try await fixture.administer(player.uid) { $0.isDisabled = true }
      #expect(await error(player.idToken, for: 300) == .disabledAccount)
    }
  }

  @Test("that a session is in use is noted once a day, and that an account is, once an hour")
  func notes() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      func stored() throws -> (account: Int64?, session: Int64?) {
        let session = try fixture.read { (snapshot) throws(StorageError) in
          try snapshot.refreshTokens(in: fixture.project.namespace, of: player.uid).first?.issuedAt
        }
        return (try fixture.record(player.uid).lastRefreshAt, session)
      }
      let start = AccountFixture.start
      for (advance, account, session) in [
        (Int64(3_599_999), start, start), (1, start + 3_600_000, start),
        (3_599_999, start + 3_600_000, start),
        (AccountFixture.day, start + 7_199_999 + AccountFixture.day, start + 7_198_999 + AccountFixture.day),
      ] {
        fixture.clock.advance(by: advance)
        #expect(await fixture.refresh(player.refreshToken) == nil)
        let found = try stored()
        #expect(found.account == account && found.session == session)
      }
    }
  }
}
