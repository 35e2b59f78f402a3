import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Ways around a second factor that are none.
struct SecondFactorGuardTests {
  @Test("every other way in asks for it too: a link in a mail, an identity at a provider; a telephone alone is no way in")
  func everyWay() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let linked = try await fixture.signIn(as: ["sub": "g1", "email": "jim@x.io"], linking: player)
      let (own, _) = try await fixture.enrolAuthenticator(linked)
      #expect(try await fixture.signIn(as: ["sub": "g1", "email": "jim@x.io"]).pending != nil)
      #expect(try await fixture.signInByLink(fixture.email("jim@x.io")).pending != nil)
      #expect(try await fixture.signUp("jim@x.io", linking: player).pending != nil)
      let number = try fixture.number()
      try await fixture.administer(player.uid) { $0.phoneNumber = number }
      #expect(await fixture.error { _ = try fixture.sendPhoneCode(number) } == .phoneIsSecondFactor)
      #expect(
        await fixture.error { _ = try await fixture.signInByPhone(fixture.number("+15550100"), linking: linked) }
          == .phoneIsSecondFactor)
      // A custom token, which the studio vouches for, does.
      #expect(try await fixture.signIn(customToken: #"{"uid":"\#(player.uid)"}"#).pending == nil)
      fixture.clock.advance(by: 30_000)
      let byProvider = try await fixture.signIn(as: ["sub": "g1", "email": "jim@x.io"])
      #expect(try fixture.token(try await fixture.finish(byProvider, with: own)).provider == "google.com")
    }
  }

  @Test(
    "the address is not changed to an unproved one, and whose address was unproved is asked all the same")
  func addresses() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (own, enrolled) = try await fixture.enrolAuthenticator(player)
      #expect(await fixture.error { _ = try await fixture.update(enrolled, email: "typo@x.io") } == .unverifiedEmailChange)
      #expect(await fixture.error { try await fixture.signUp("typo@x.io", linking: enrolled) } == .unverifiedEmailChange)
      // An administrator may; the link in a mail to that address is a first credential then, no more.
      try await fixture.administer(player.uid) { $0.email = EmailAddress("typo@x.io") }
      #expect(try await fixture.signInByLink(fixture.email("typo@x.io")).pending != nil)
      let byProvider = try await fixture.signIn(as: ["sub": "g1", "email": "typo@x.io", "email_verified": true])
      #expect(byProvider.pending != nil)
      // Nothing is changed until the code is shown; then the owner of the address has come.
      let before = try fixture.record(player.uid)
      #expect(before.password != nil && !before.isEmailVerified)
      #expect(before.providerIDs == ["password"])
      fixture.clock.advance(by: 30_000)
      let done = try await fixture.finish(byProvider, with: own)
      #expect(try fixture.token(done).provider == "google.com")
      let after = try fixture.record(player.uid)
      #expect(after.password == nil && after.isEmailVerified)
      #expect(after.secondFactors.count == 1)
    }
  }

  @Test("a session of before the first factor neither takes it away nor adds one, and does not get younger by itself")
  func oldSessions() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let authTime = try fixture.token(player).authTime
      let (own, _) = try await fixture.enrolAuthenticator(player)
      let old = try await fixture.refreshed(player)
      #expect(await fixture.error { try await fixture.withdraw(own.id, of: old) } == .signInTooOld)
      fixture.clock.advance(by: 30_000)
      #expect(await fixture.error { _ = try await fixture.enrolAuthenticator(old) } == .signInTooOld)
      #expect(try fixture.record(player.uid).secondFactors.map(\.id) == [own.id])
      let younger = old.after(try await fixture.update(old, revokes: true))
      #expect(try fixture.token(younger).authTime == authTime)
      #expect(try fixture.token(younger).issuedAt == authTime + 30)
      let linked = try await fixture.signIn(as: ["sub": "g1"], linking: younger)
      #expect(try fixture.token(linked).authTime == authTime)
    }
  }

  @Test("an import that says nothing of second factors leaves them; used codes stay used")
  func imports() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (own, _) = try await fixture.enrolAuthenticator(player)
      let exported = try fixture.record(player.uid)
      func store(_ factors: [SecondFactorDraft]?) async throws {
        var row = try ImportedAccount(exported, secondFactors: factors)
        row.password = exported.password.map { .hashed($0) }
        let errors = try await fixture.accounts.importer.store(
          [(0, row)], overwrites: true, triggers: false, context: fixture.administrator)
        #expect(errors.isEmpty)
      }
      try await store([SecondFactorDraft(.authenticator(own.secret), id: own.id)])
      let first = try await fixture.signIn("jim@x.io")
      #expect(await fixture.error { try await fixture.finish(first, with: own) } == .wrongOneTimeCode)
      try await store(nil)
      fixture.clock.advance(by: 30_000)
      let second = try await fixture.signIn("jim@x.io")
      #expect(second.pending != nil)
      #expect(try await fixture.finish(second, with: own).result.tokens != nil)
      try await store([])
      #expect(try await fixture.signIn("jim@x.io").pending == nil)
    }
  }

  @Test("however many codes are tried at once, five are looked at; who waits takes no room from others")
  func salvo() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (own, _) = try await fixture.enrolAuthenticator(player)
      let first = try await fixture.signIn("jim@x.io")
      let wrong = SecondCredential.authenticator(id: own.id, code: "0000000")
      let errors = await withTaskGroup(of: AccountError?.self) { group in
        for _ in 0..<20 { group.addTask { await fixture.error { try await fixture.finish(first, with: wrong) } } }
        return await group.reduce(into: [AccountError?: Int]()) { $0[$1, default: 0] += 1 }
      }
      #expect(errors == [.wrongOneTimeCode: 5, .invalidPendingCredential: 15])
      let ann = try await fixture.verifiedPlayer("ann@x.io")
      let (anns, _) = try await fixture.enrolAuthenticator(ann)
      let waiting = try await fixture.signIn("ann@x.io")
      let oldest = try await fixture.signIn("jim@x.io")
      fixture.clock.advance(by: 30_000)
      for _ in 0..<5 { try await fixture.signIn("jim@x.io") }
      #expect(await fixture.error { try await fixture.finish(oldest, with: wrong) } == .invalidPendingCredential)
      #expect(await fixture.error { try await fixture.finish(waiting, with: anns) } == nil)
    }
  }

  @Test("what changed between the first credential and the second makes the first void; so does time")
  func stale() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (own, _) = try await fixture.enrolAuthenticator(player)
      func outcome(_ waiting: Player) async -> AccountError? {
        await fixture.error { try await fixture.finish(waiting, with: own) }
      }
      fixture.clock.advance(by: 60_000)
      let first = try await fixture.signIn("jim@x.io")
      var edits = AccountEdits()
      edits.password = "another1"
      _ = try await fixture.accounts.update(player.uid, to: AccountDraft(), edits: edits, fixture.administrator)
      #expect(await outcome(first) == .invalidPendingCredential)
      let second = try await fixture.signIn("jim@x.io", "another1")
      fixture.clock.advance(by: 599_999)
      #expect(
        await fixture.error {
          try fixture.accounts.secondFactors.check(pending: try #require(second.pending), of: fixture.project)
        } == nil)
      fixture.clock.advance(by: 1)
      #expect(await outcome(second) == .invalidPendingCredential)
      let third = try await fixture.signIn("jim@x.io", "another1")
      try await fixture.administer(player.uid) { $0.isDisabled = true }
      #expect(await outcome(third) == .disabledAccount)
      try await fixture.accounts.remove(player.uid, of: fixture.project, by: .admin("test"))
      let credential = try #require(third.pending)
      let shown = SecondCredential.authenticator(id: own.id, code: fixture.code(own.secret))
      let gone = await fixture.error {
        _ = try await fixture.accounts.secondFactors.finish(credential, shown: { shown }, context: fixture.client)
      }
      #expect(gone == .unknownAccount)
    }
  }
}
