import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// What hands an account over takes a sign-in that is recent.
struct RecentSignInTests {
  @Test("address, password and end of an account take a recent sign-in; signing in again is what clients do then")
  func old() async throws {
    try await AccountFixture.run(as: .production) { fixture in
      let made = try await fixture.signUp("jim@x.io")
      fixture.clock.advance(by: 600_000)
      // A refresh is no sign-in: its token is new, and says when the player came.
      let late = try await fixture.refreshed(made)
      #expect(try fixture.token(late).authTime == fixture.token(made.idToken).authTime)
      let purpose = CodeRequest.Purpose.change(of: .idToken(late.idToken), to: try fixture.email("new@x.io"))
      #expect(await fixture.error { _ = try await fixture.update(late, email: "new@x.io") } == .signInTooOld)
      #expect(await fixture.error { _ = try await fixture.update(late) { $0.password = "secret2" } } == .signInTooOld)
      #expect(await fixture.error { try await fixture.signUp("new@x.io", "secret2", linking: late) } == .signInTooOld)
      #expect(await fixture.error { _ = try await fixture.mail(purpose) } == .signInTooOld)
      #expect(
        await fixture.error { try await fixture.accounts.profiles.delete(idToken: late.idToken, of: fixture.project) }
          == .signInTooOld)
      #expect(fixture.letters.all.isEmpty)
      // What does not hand the account over is as before.
      #expect(try await fixture.update(late) { $0.displayName = "Jim" }.account.displayName == "Jim")
      #expect(await fixture.refusal(of: late) == nil)
      // As SDKs reauthenticate: sign in with the password, check that it is the same player, and try again.
      let again = try await fixture.signIn("jim@x.io")
      #expect(again.uid == made.uid)
      let changed = again.after(try await fixture.update(again) { $0.password = "secret2" })
      fixture.clock.advance(by: 1000)
      try await fixture.accounts.profiles.delete(idToken: changed.idToken, of: fixture.project)
      #expect(try fixture.accounts.account(made.uid, of: fixture.project) == nil)
    }
  }

  @Test("an anonymous player, who could not sign in again, links and leaves at any time")
  func anonymous() async throws {
    try await AccountFixture.run(as: .production) { fixture in
      let (first, second) = (try await fixture.anonymous(), try await fixture.anonymous())
      fixture.clock.advance(by: 30 * AccountFixture.day)
      let late = try await fixture.refreshed(first)
      #expect(try await fixture.signUp("jim@x.io", linking: late).uid == first.uid)
      let other = try await fixture.refreshed(second)
      try await fixture.accounts.profiles.delete(idToken: other.idToken, of: fixture.project)
      #expect(try fixture.accounts.account(second.uid, of: fixture.project) == nil)
    }
  }

  @Test("how long ago is configured; development does not ask", arguments: [AccountFixture.Mode.production, .development])
  func configured(mode: AccountFixture.Mode) async throws {
    try await AccountFixture.run(as: mode, { if mode == .production { $0.recentSignIn = nil } }) { fixture in
      let made = try await fixture.signUp("jim@x.io")
      fixture.clock.advance(by: 3_000_000)
      #expect(try await fixture.update(made) { $0.password = "secret2" }.result != nil)
    }
  }

  @Test("the last millisecond that is recent still is, the next is not")
  func edge() async throws {
    try await AccountFixture.run(as: .production) { fixture in
      let made = try await fixture.signUp("jim@x.io")
      fixture.clock.advance(by: 300_000)
      #expect(await fixture.error { _ = try await fixture.update(made) { $0.password = "secret2" } } == nil)
    }
    try await AccountFixture.run(as: .production) { fixture in
      let made = try await fixture.signUp("jim@x.io")
      fixture.clock.advance(by: 300_001)
      #expect(await fixture.error { _ = try await fixture.update(made) { $0.password = "secret2" } } == .signInTooOld)
    }
  }

  @Test("a link that was exchanged for an older session does not make it younger; what proves the player again does")
  func renewal() async throws {
    try await AccountFixture.run(as: .production, { $0.recentSignIn = nil }) { fixture in
      let made = try await fixture.signUp("jim@x.io")
      let authTime = try fixture.token(made).authTime
      fixture.clock.advance(by: 1_000_000)
      let revoked = made.after(try await fixture.update(made, revokes: true))
      #expect(try fixture.token(revoked).authTime == authTime)
      #expect(try fixture.token(revoked).issuedAt == fixture.clock.now() / 1000)
      let changed = revoked.after(try await fixture.update(revoked) { $0.password = "secret2" })
      #expect(try fixture.token(changed).authTime == fixture.clock.now() / 1000)
    }
  }
}
