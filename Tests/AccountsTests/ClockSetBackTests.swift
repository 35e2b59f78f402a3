import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// A clock that ran ahead and was set back: what was committed in between has times that lie ahead, for as long.
struct ClockSetBackTests {
  private static let year: Int64 = 365 * AccountFixture.day

  /// Lets the clock run ahead while `body` is done.
  private func ahead(_ fixture: AccountFixture, _ body: () async throws -> Void) async throws {
    fixture.clock.advance(by: Self.year)
    try await body()
    fixture.clock.setBack(by: Self.year)
  }

  @Test("who signs up and in after the clock was set back gets tokens that are good at once")
  func signsIn() async throws {
    try await AccountFixture.run { fixture in
      let jim = try await fixture.signUp("jim@x.io")
      try await ahead(fixture) { try await fixture.signUp("eve@x.io") }
      fixture.clock.advance(by: 1000)
      for player in [
        try await fixture.signUp("bob@x.io"), try await fixture.anonymous(), try await fixture.signIn("jim@x.io"),
        try await fixture.refreshed(jim),
      ] {
        #expect(try fixture.token(player).issuedAt == fixture.clock.now() / 1000)
        #expect(await fixture.refusal(of: player) == nil)
      }
    }
  }

  @Test("a session that began while it ran ahead ends with the password that it was opened with")
  func changesPassword() async throws {
    try await AccountFixture.run { fixture in
      let owner = try await fixture.signUp("jim@x.io")
      var thief: Player?
      try await ahead(fixture) { thief = try await fixture.signIn("jim@x.io") }
      fixture.clock.advance(by: 5000)
      let changed = owner.after(try await fixture.update(owner) { $0.password = "secret2" })
      #expect(await fixture.refresh(try #require(thief).refreshToken) == .expiredToken)
      #expect(await fixture.refresh(changed.refreshToken) == nil)
    }
  }

  @Test("accounts that were made while it ran ahead, by password or anonymous, go on with new tokens")
  func bornAhead() async throws {
    try await AccountFixture.run { fixture in
      var anonymous: Player?
      try await ahead(fixture) {
        try await fixture.signUp("eve@x.io")
        anonymous = try await fixture.anonymous()
      }
      let back = try await fixture.signIn("eve@x.io")
      #expect(await fixture.refusal(of: back) == nil)
      let refreshed = try await fixture.refreshed(try #require(anonymous))
      #expect(await fixture.refusal(of: refreshed) == nil)
      #expect(try fixture.record(back.uid).createdAt == fixture.clock.now())
      fixture.clock.advance(by: 5000)
      #expect(await fixture.refusal(of: back) == nil)
    }
  }

  @Test("sessions that were revoked while it ran ahead stay revoked, and the player can sign in again")
  func revokedAhead() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signUp("jim@x.io")
      var second: Player?
      try await ahead(fixture) {
        second = try await fixture.signIn("jim@x.io")
        fixture.clock.advance(by: 5000)
        try await fixture.administer(made.uid) { $0.validSince = fixture.clock.now() / 1000 }
        fixture.clock.setBack(by: 5000)
      }
      let again = try await fixture.signIn("jim@x.io")
      #expect(await fixture.refusal(of: again) == nil)
      for player in [made, try #require(second)] {
        #expect(await fixture.refresh(player.refreshToken) == .invalidRefreshToken)
      }
      #expect(await fixture.refresh(again.refreshToken) == nil)
      // What is revoked now is void now, and not in a year.
      fixture.clock.advance(by: 5000)
      try await fixture.administer(made.uid) { $0.validSince = fixture.clock.now() / 1000 }
      #expect(await fixture.refusal(of: again) == .expiredToken)
    }
  }

  @Test("a second back keeps accounts in order: who was made before it can sign in at once")
  func slew() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signUp("jim@x.io")
      fixture.clock.setBack(by: 1500)
      let again = try await fixture.signIn("jim@x.io")
      #expect(await fixture.refusal(of: again) == nil)
      #expect(await fixture.refusal(of: made) == nil)
    }
  }
}
