import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// What goes by itself: accounts that nobody uses, and sessions that ended.
struct SweepTests {
  @Test("Accounts that are kept for good, however many, keep no other from being found")
  func cursor() async throws {
    try await AccountFixture.run({ $0.sweepPage = 2 }) { fixture in
      var kept: Set<String> = []
      for _ in 0..<25 { kept.insert(try await fixture.anonymous().uid) }
      fixture.clock.advance(by: 1000)
      let unused = try await fixture.anonymous().uid
      fixture.clock.advance(by: 31 * AccountFixture.day)
      let attached = kept
      var removed: [Int] = []
      for _ in 0..<3 {
        removed.append(
          try await fixture.accounts.cleaner.sweep(fixture.project) { uid, _ in attached.contains(uid) })
      }
      // A round looks at ten pages; the second one reaches it, the third begins from the start.
      #expect(removed == [0, 1, 0])
      #expect(try fixture.accounts.account(unused, of: fixture.project) == nil)
      for uid in kept { #expect(try fixture.accounts.account(uid, of: fixture.project) != nil) }
      let rest = try await fixture.accounts.cleaner.sweep(fixture.project) { _, _ in false }
      #expect(rest + (try await fixture.accounts.cleaner.sweep(fixture.project) { _, _ in false }) == 25)
    }
  }

  @Test("A session that was not used for the configured time has ended; one in use goes on")
  func idle() async throws {
    try await AccountFixture.run({
      $0.sessionIdleMax = 10 * AccountFixture.day
      $0.anonymousLifetime = nil
    }) { fixture in
      let (used, idle) = (try await fixture.anonymous(), try await fixture.anonymous())
      for _ in 0..<3 {
        fixture.clock.advance(by: 4 * AccountFixture.day)
        #expect(await fixture.refresh(used.refreshToken) == nil)
      }
      #expect(await fixture.refresh(idle.refreshToken) == .expiredToken)
      // The client that comes back is told for a month; then the row goes.
      _ = try await fixture.accounts.cleaner.sweep(fixture.project) { _, _ in true }
      #expect(try fixture.sessions(of: idle.uid) == 1)
      for _ in 0..<4 {
        fixture.clock.advance(by: 8 * AccountFixture.day)
        #expect(await fixture.refresh(used.refreshToken) == nil)
      }
      _ = try await fixture.accounts.cleaner.sweep(fixture.project) { _, _ in true }
      #expect(try fixture.sessions(of: idle.uid) == 0)
      #expect(try fixture.sessions(of: used.uid) == 1)
      #expect(await fixture.refresh(idle.refreshToken) == .invalidRefreshToken)
    }
  }

  @Test("Sessions that a password made void, and those of before the link, go a month later")
  func voided() async throws {
    try await AccountFixture.run({ $0.anonymousLifetime = nil }) { fixture in
      let made = try await fixture.anonymous()
      let uid = made.uid
      fixture.clock.advance(by: 2000)
      let linked = try await fixture.signUp("jim@x.io", linking: made)
      fixture.clock.advance(by: 120_000)
      #expect(await fixture.refresh(made.refreshToken) == .expiredToken)
      var edits = AccountEdits()
      edits.password = "secret2"
      let changed = try await fixture.accounts.profiles.update(
        ProfileUpdate(idToken: linked.idToken, edits: edits), fixture.client)
      #expect(await fixture.refresh(linked.refreshToken) == .expiredToken)
      #expect(try fixture.sessions(of: uid) == 3)
      fixture.clock.advance(by: 31 * AccountFixture.day)
      _ = try await fixture.accounts.cleaner.sweep(fixture.project) { _, _ in true }
      #expect(try fixture.sessions(of: uid) == 1)
      #expect(await fixture.refresh(changed.result?.tokens?.refreshToken ?? "") == nil)
    }
  }

  @Test("What makes sessions void makes void one that was used in the same second")
  func sameSecond() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      fixture.clock.advance(by: 2 * AccountFixture.day)
      #expect(await fixture.refresh(player.refreshToken) == nil)
      var draft = AccountDraft()
      draft.validSince = fixture.clock.now() / 1000
      _ = try await fixture.accounts.update(player.uid, to: draft, fixture.administrator)
      #expect(await fixture.refresh(player.refreshToken) == .expiredToken)
    }
  }

  @Test("An account has a bounded number of sessions: of more the longest unused end")
  func bound() async throws {
    try await AccountFixture.run({ $0.sessionsMax = 3 }) { fixture in
      let made = try await fixture.signUp("jim@x.io")
      let uid = made.uid
      var tokens = [made.refreshToken]
      for _ in 0..<4 {
        fixture.clock.advance(by: 2 * AccountFixture.day)
        #expect(await fixture.refresh(tokens[0]) == nil)
        tokens.append(try await fixture.signIn("jim@x.io").refreshToken)
      }
      #expect(try fixture.sessions(of: uid) == 3)
      var answers: [AccountError?] = []
      for token in tokens { answers.append(await fixture.refresh(token)) }
      #expect(answers == [nil, .invalidRefreshToken, .invalidRefreshToken, nil, nil])
    }
  }

  @Test("A validSince that no clock reaches is answered, not computed with")
  func extremes() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      for (value, expected) in [(Int64.min, nil), (Int64.max, AccountError.expiredToken)] {
        var draft = AccountDraft()
        draft.validSince = value
        _ = try await fixture.accounts.update(player.uid, to: draft, fixture.administrator)
        #expect(await fixture.refresh(player.refreshToken) == expected)
      }
    }
  }
}
