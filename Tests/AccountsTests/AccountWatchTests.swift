import Credentials
import StorageCore
import Synchronization
import Testing
import TreeDatabase
import TreeModel

@testable import Accounts

/// Which tokens are void before their time, as every request with a token asks.
struct AccountWatchTests {
  /// Why a player's token is void now, for who asks the watch.
  private func reason(_ watch: AccountWatch, _ player: Player, in fixture: AccountFixture) throws -> AccountRevocation.Reason? {
    let token = try fixture.accounts.issuer.verify(player.idToken, project: nil, at: AccountFixture.start)
    return watch.revocation(
      of: player.uid, in: fixture.project.namespace, issuedAt: token.issuedAt, at: fixture.clock.now())?.reason
  }

  @Test(
    "what a player's own change makes void is refused after a grace, for the next token is on its way; an administrator's word at once"
  )
  func grace() async throws {
    try await AccountFixture.run { fixture in
      let watch = fixture.accounts.watch
      let (jim, ann) = (try await fixture.signUp("jim@x.io"), try await fixture.signUp("ann@x.io"))
      fixture.clock.advance(by: 2000)
      _ = try await fixture.update(jim) { $0.password = "secret2" }
      try await fixture.administer(ann.uid) { $0.validSince = fixture.clock.now() / 1000 }
      // Where the account is looked up there is no grace.
      #expect(await fixture.refusal(of: jim) == .expiredToken)
      #expect(try reason(watch, jim, in: fixture) == nil)
      #expect(try reason(watch, ann, in: fixture) == .revoked)
      fixture.clock.advance(by: 29_999)
      #expect(try reason(watch, jim, in: fixture) == nil)
      fixture.clock.advance(by: 1)
      #expect(try reason(watch, jim, in: fixture) == .revoked)
      // Another uid, and another namespace, are not concerned.
      #expect(watch.revocation(of: "x", in: fixture.project.namespace, issuedAt: 0, at: .max) == nil)
      watch.didForget(fixture.project.namespace)
      #expect(try reason(watch, jim, in: fixture) == nil)
    }
  }

  @Test("listeners are told of what is void, in the order of the commits, and of nothing that was refused")
  func listeners() async throws {
    try await AccountFixture.run { fixture in
      let told = Mutex<[AccountRevocation]>([])
      let namespace = fixture.project.namespace
      fixture.accounts.watch.listen { changed, one in
        if changed == namespace { told.withLock { $0.append(one) } }
      }
      let (jim, ann) = (try await fixture.signUp("jim@x.io"), try await fixture.signUp("ann@x.io"))
      try await fixture.administer(jim.uid) { $0.isDisabled = true }
      #expect(
        await fixture.error { try await fixture.administer(ann.uid) { $0.email = EmailAddress("jim@x.io") } } == .emailTaken)
      try await fixture.accounts.remove(ann.uid, of: fixture.project, by: .admin("test"))
      try await fixture.administer(jim.uid) { $0.isDisabled = false }
      let all = told.withLock { $0 }
      #expect(all.map(\.uid) == [jim.uid, ann.uid, jim.uid])
      #expect(all.map(\.reason) == [.disabled, .deleted, .revoked])
      #expect(all.map(\.notBefore) == [.max, .max, AccountFixture.start / 1000])
      #expect(all.allSatisfy { $0.effectiveAt == AccountFixture.start })
    }
  }

  @Test("a new process knows what the one before knew, as far as a token of then can still live")
  func load() async throws {
    try await AccountFixture.run { fixture in
      let (jim, ann) = (try await fixture.signUp("jim@x.io"), try await fixture.signUp("ann@x.io"))
      try await fixture.administer(jim.uid) { $0.isDisabled = true }
      fixture.clock.advance(by: 1000)
      try await fixture.accounts.remove(ann.uid, of: fixture.project, by: .admin("test"))
      fixture.clock.advance(by: 7_200_000 - 1000)
      let next = AccountWatch()
      try next.load(from: fixture.database.engine, at: fixture.clock.now())
      #expect(try reason(next, jim, in: fixture) == .disabled)
      #expect(try reason(next, ann, in: fixture) == .deleted)
      let later = AccountWatch()
      try later.load(from: fixture.database.engine, at: fixture.clock.now() + 1)
      #expect(try reason(later, jim, in: fixture) == nil)
      #expect(try reason(later, ann, in: fixture) == .deleted)
    }
  }

  @Test("the clean-up forgets what no token is concerned by, and for a month not who was deleted")
  func forgetting() async throws {
    try await AccountFixture.run { fixture in
      let (jim, ann) = (try await fixture.signUp("jim@x.io"), try await fixture.signUp("ann@x.io"))
      try await fixture.administer(jim.uid) { $0.isDisabled = true }
      try await fixture.accounts.remove(ann.uid, of: fixture.project, by: .admin("test"))
      func sweep() async throws -> Set<String> {
        _ = try await fixture.accounts.cleaner.sweep(fixture.project) { (_, _) throws(StorageError) in true }
        let kept = try fixture.read { (snapshot) throws(StorageError) in
          try snapshot.accountRevocations(in: fixture.project.namespace)
        }
        return Set(kept.map(\.uid))
      }
      fixture.clock.advance(by: 7_200_000)
      #expect(try await sweep() == [jim.uid, ann.uid])
      #expect(try reason(fixture.accounts.watch, jim, in: fixture) == .disabled)
      fixture.clock.advance(by: 1)
      #expect(try await sweep() == [ann.uid])
      #expect(try reason(fixture.accounts.watch, jim, in: fixture) == nil)
      #expect(try reason(fixture.accounts.watch, ann, in: fixture) == nil)
      // The client that comes back is told for a month.
      fixture.clock.advance(by: 30 * AccountFixture.day - 7_200_001)
      #expect(try await sweep() == [ann.uid])
      #expect(await fixture.refresh(ann.refreshToken) == .unknownAccount)
      fixture.clock.advance(by: 1)
      #expect(try await sweep() == [])
      #expect(await fixture.refresh(ann.refreshToken) == .invalidRefreshToken)
    }
  }
}
