import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Second factors: telephones and authenticators.
struct SecondFactorTests {
  @Test("an authenticator's code enrols it, and from then on a password alone lets nobody in")
  func authenticator() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (own, enrolled) = try await fixture.enrolAuthenticator(player, name: "Jim's phone")
      #expect(try fixture.token(enrolled).secondFactor == UsedFactor(kind: "totp", id: own.id))
      let stored = try fixture.record(player.uid).secondFactors
      #expect(stored.map(\.id) == [own.id] && stored.map(\.displayName) == ["Jim's phone"])
      #expect(stored.map(\.enrolledAt) == [fixture.clock.now()])

      fixture.clock.advance(by: 60_000)
      let first = try await fixture.signIn("jim@x.io")
      #expect(first.result.tokens == nil)
      guard case .secondFactorNeeded(_, let factors) = first.result else { return }
      #expect(factors == stored)
      let done = try await fixture.finish(first, with: own)
      let token = try fixture.token(done)
      #expect(token.uid == player.uid && token.provider == "password")
      #expect(token.secondFactor?.id == own.id)
      // What a refresh gives says the same of the same sign-in, and so does a session that a change of the password begins.
      #expect(try fixture.token(try await fixture.refreshed(done)).signIn == token.signIn)
      let changed = done.after(try await fixture.update(done) { $0.password = "secret2" })
      #expect(try fixture.token(changed).claims["firebase"] == token.claims["firebase"])
    }
  }

  @Test("a code, and a pending sign-in, are good once; a wrong code leaves five attempts")
  func once() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (own, _) = try await fixture.enrolAuthenticator(player)
      func outcome(_ waiting: Player, _ code: String? = nil) async -> AccountError? {
        let shown = SecondCredential.authenticator(id: own.id, code: code ?? fixture.code(own.secret))
        return await fixture.error { try await fixture.finish(waiting, with: shown) }
      }
      // The code that enrolled it is used up.
      #expect(await outcome(try await fixture.signIn("jim@x.io")) == .wrongOneTimeCode)
      fixture.clock.advance(by: 30_000)
      let first = try await fixture.signIn("jim@x.io")
      #expect(await outcome(first) == nil)
      #expect(await outcome(first) == .invalidPendingCredential)
      #expect(await outcome(try await fixture.signIn("jim@x.io")) == .wrongOneTimeCode)

      fixture.clock.advance(by: 300_000)
      let third = try await fixture.signIn("jim@x.io")
      for _ in 0..<5 { #expect(await outcome(third, "000000") == .wrongOneTimeCode) }
      #expect(await outcome(third) == .invalidPendingCredential)
      // Six so far; new first credentials do not give new guesses for ever.
      let fourth = try await fixture.signIn("jim@x.io")
      for _ in 0..<4 { #expect(await outcome(fourth, "000000") == .wrongOneTimeCode) }
      #expect(await outcome(fourth, "000000") == .tooManyFailures)
      fixture.clock.advance(by: 60_000)
      #expect(await outcome(try await fixture.signIn("jim@x.io")) == nil)
    }
  }

  @Test("an authenticator's clock may be wrong by as much as the project says, and never behind a used code")
  func adjacent() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.configure { $0.secondFactors = SecondFactorPolicy(allowsPhone: false, adjacentSteps: 1) }
      let (own, _) = try await fixture.enrolAuthenticator(try await fixture.verifiedPlayer("jim@x.io"))
      fixture.clock.advance(by: 300_000)
      let step = fixture.clock.now() / 30_000
      for (offset, expected) in [
        (Int64(-2), AccountError.wrongOneTimeCode), (2, .wrongOneTimeCode), (1, nil), (0, .wrongOneTimeCode),
      ] as [(Int64, AccountError?)] {
        let waiting = try await fixture.signIn("jim@x.io")
        let shown = SecondCredential.authenticator(id: own.id, code: own.secret.code(at: step + offset))
        #expect(await fixture.error { try await fixture.finish(waiting, with: shown) } == expected, "\(offset)")
      }
    }
  }

  @Test("a telephone's code is good for what it was sent for, and the number is no identity of the account")
  func telephone() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let factors = fixture.accounts.secondFactors
      let enrollee = try fixture.enrollee(player)
      let session = try factors.enroll(phone: fixture.number(), enrollee: enrollee, of: fixture.project)
      let sent = try fixture.phoneCode(of: session)
      // It enrols a number; it signs nobody in.
      #expect(
        await fixture.error { _ = try await fixture.signInByPhone(.code(sent.code, session: session)) }
          == .unknownCodeSession)
      let result = try await factors.finishEnrollment(
        .phone(code: sent.code, session: session), displayName: nil, enrollee: enrollee, of: fixture.project)
      let enrolled = Player(account: try fixture.record(player.uid), result: result)
      #expect(try fixture.token(enrolled).secondFactor?.kind == "phone")
      #expect(
        await fixture.error { _ = try await fixture.enrol(fixture.number(), for: enrolled) } == .secondFactorTaken)

      let first = try await fixture.signIn("jim@x.io")
      let credential = try #require(first.pending)
      let id = try #require(enrolled.account.secondFactors.first?.id)
      let second = try factors.sendCode(to: id, pending: credential, of: fixture.project)
      #expect(
        await fixture.error { _ = try factors.sendCode(to: "x", pending: credential, of: fixture.project) }
          == .unknownSecondFactor)
      let done = try await fixture.finish(first, with: .phone(code: fixture.phoneCode(of: second).code, session: second))
      #expect(try fixture.token(done).secondFactor?.kind == "phone")
      #expect(try fixture.token(done).claims["phone_number"] == nil)
      #expect(try fixture.record(player.uid).phoneNumber == nil)
    }
  }

  @Test("a code for one of the player's telephones opens the account by that one; an authenticator's id is no telephone's")
  func severalFactors() async throws {
    try await AccountFixture.run { fixture in
      var player = try await fixture.verifiedPlayer("jim@x.io")
      player = try await fixture.enrol(fixture.number("+15550100"), for: player)
      player = try await fixture.enrol(fixture.number("+15550101"), for: player)
      let (own, enrolled) = try await fixture.enrolAuthenticator(player)
      let ids = enrolled.account.secondFactors.map(\.id)
      let waiting = try await fixture.signIn("jim@x.io")
      let credential = try #require(waiting.pending)
      let factors = fixture.accounts.secondFactors
      #expect(
        await fixture.error { _ = try factors.sendCode(to: own.id, pending: credential, of: fixture.project) }
          == .notATelephone)
      let session = try factors.sendCode(to: ids[1], pending: credential, of: fixture.project)
      let code = try fixture.phoneCode(of: session).code
      // Another player's code does not open it.
      let other = try await fixture.enrol(fixture.number("+15550102"), for: try await fixture.verifiedPlayer("ann@x.io"))
      let ann = try await fixture.signIn("ann@x.io")
      let annsSession = try factors.sendCode(
        to: try #require(other.account.secondFactors.first?.id), pending: try #require(ann.pending), of: fixture.project)
      let foreign = SecondCredential.phone(code: try fixture.phoneCode(of: annsSession).code, session: annsSession)
      #expect(await fixture.error { try await fixture.finish(waiting, with: foreign) } == .unknownCodeSession)
      #expect(
        await fixture.error { try await fixture.finish(waiting, with: .authenticator(id: ids[0], code: code)) }
          == .unknownSecondFactor)
      let done = try await fixture.finish(waiting, with: .phone(code: code, session: session))
      #expect(try fixture.token(done).secondFactor?.id == ids[1])
    }
  }

  @Test("who may enrol: a credential that can be stolen, a verified address, five factors at most")
  func enrolling() async throws {
    try await AccountFixture.run { fixture in
      let number = try fixture.number()
      func outcome(_ player: Player) async -> AccountError? {
        await fixture.error {
          _ = try fixture.accounts.secondFactors.enrollAuthenticator(fixture.enrollee(player), of: fixture.project)
        }
      }
      #expect(await outcome(try await fixture.anonymous()) == .unsupportedFirstFactor)
      #expect(await outcome(try await fixture.signInByPhone(number)) == .unsupportedFirstFactor)
      #expect(await outcome(try await fixture.signIn(customToken: #"{"uid":"bob"}"#)) == .unsupportedFirstFactor)
      #expect(await outcome(try await fixture.signUp("new@x.io")) == .unverifiedEmail)
      #expect(await outcome(try await fixture.signIn(as: ["sub": "g1"])) == .unverifiedEmail)
      #expect(await outcome(try await fixture.signInByLink(fixture.email("link@x.io"))) == nil)
      let missing = await fixture.error {
        _ = try fixture.accounts.secondFactors.enrollee(idToken: nil, of: fixture.project)
      }
      #expect(missing == .missingIDToken)
      var last = try await fixture.verifiedPlayer("jim@x.io")
      for _ in 0..<5 {
        fixture.clock.advance(by: 30_000)
        last = try await fixture.enrolAuthenticator(last).1
      }
      #expect(last.account.secondFactors.count == 5)
      #expect(await outcome(last) == .tooManySecondFactors)
    }
  }

  @Test("an enrolment ends with its player, its code and its ten minutes")
  func enrolment() async throws {
    try await AccountFixture.run { fixture in
      let factors = fixture.accounts.secondFactors
      let jim = try await fixture.verifiedPlayer("jim@x.io")
      let ann = try await fixture.verifiedPlayer("ann@x.io")
      let first = try factors.enrollAuthenticator(fixture.enrollee(jim), of: fixture.project)
      let begun = try factors.enrollAuthenticator(fixture.enrollee(jim), of: fixture.project)
      #expect(begun.expiresAt == fixture.clock.now() + 600_000)
      func outcome(_ player: Player, _ begun: AuthenticatorEnrollment, code: String? = nil) async -> AccountError? {
        let proof = EnrollmentProof.authenticator(code: code ?? fixture.code(begun.secret), session: begun.session)
        return await fixture.error {
          _ = try await factors.finishEnrollment(
            proof, displayName: nil, enrollee: fixture.enrollee(player), of: fixture.project)
        }
      }
      // A player has one at a time: the last that was begun.
      #expect(await outcome(jim, first) == .unknownCodeSession)
      #expect(await outcome(ann, begun) == .unknownCodeSession)
      #expect(await outcome(jim, begun, code: "0000000") == .wrongOneTimeCode)
      fixture.clock.advance(by: 599_999)
      #expect(await outcome(jim, begun) == nil)
      #expect(await outcome(ann, begun) == .unknownCodeSession)
      let late = try factors.enrollAuthenticator(fixture.enrollee(ann), of: fixture.project)
      fixture.clock.advance(by: 600_000)
      #expect(await outcome(ann, late) == .unknownCodeSession)
    }
  }

  @Test("a factor is withdrawn by its player, and kept, added or taken away by an administrator")
  func withdrawal() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (own, enrolled) = try await fixture.enrolAuthenticator(player)
      #expect(await fixture.error { try await fixture.withdraw("x", of: enrolled) } == .unknownSecondFactor)
      // An administrator keeps it by its id, without its secret, and adds a number.
      let kept = SecondFactorDraft(.authenticator(nil), id: own.id, displayName: "kept")
      let added = SecondFactorDraft(.phone(try fixture.number()), enrolledAt: 1_000)
      let both = try await fixture.administer(player.uid) { $0.secondFactors = [kept, added] }.secondFactors
      #expect(both.map(\.displayName) == ["kept", nil] && both.map(\.phoneNumber) == [nil, "+4915112345678"])
      #expect(
        both.map(\.enrolledAt) == [AccountFixture.start, 1_000]
          && both.first?.proof == enrolled.account.secondFactors.first?.proof)
      fixture.clock.advance(by: 30_000)
      try await fixture.finish(try await fixture.signIn("jim@x.io"), with: own)

      let without = try await fixture.withdraw(own.id, of: enrolled)
      #expect(try fixture.token(without).secondFactor == nil)
      #expect(without.account.secondFactors.map(\.phoneNumber) == ["+4915112345678"])
      #expect(try await fixture.signIn("jim@x.io").pending != nil)
      try await fixture.administer(player.uid) { $0.secondFactors = [] }
      #expect(try await fixture.signIn("jim@x.io").pending == nil)
      let bare = [SecondFactorDraft(.authenticator(nil), id: own.id)]
      #expect(
        await fixture.error { try await fixture.administer(player.uid) { $0.secondFactors = bare } }
          == .missingAuthenticatorSecret)
    }
  }

  @Test("who lost the telephone gets in by the password again, once an administrator took the factors; sessions end")
  func removal() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let (_, enrolled) = try await fixture.enrolAuthenticator(player)
      fixture.clock.advance(by: 2000)
      let (accounts, project) = (fixture.accounts, fixture.project)
      let after = try await accounts.removeSecondFactors(of: player.uid, of: project, by: .admin("test"))
      #expect(after.secondFactors.isEmpty)
      #expect(await fixture.refresh(enrolled.refreshToken) == .expiredToken)
      #expect(try await fixture.signIn("jim@x.io").pending == nil)
      #expect(
        await fixture.error { _ = try await accounts.removeSecondFactors(of: "nobody", of: project, by: .admin("test")) }
          == .unknownAccount)
    }
  }

  @Test("in production nothing is enrolled until an administrator allows it; what is enrolled is asked for whatever is set")
  func production() async throws {
    try await AccountFixture.run(as: .production) { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let number = try fixture.number()
      let factors = fixture.accounts.secondFactors
      func outcome(_ player: Player, byPhone: Bool) async -> AccountError? {
        await fixture.error {
          let enrollee = try fixture.enrollee(player)
          if byPhone {
            _ = try factors.enroll(phone: number, enrollee: enrollee, of: fixture.project)
          } else {
            _ = try factors.enrollAuthenticator(enrollee, of: fixture.project)
          }
        }
      }
      #expect(await outcome(player, byPhone: false) == .authenticatorsDisabled)
      #expect(await outcome(player, byPhone: true) == .phoneFactorsDisabled)
      try await fixture.configure { $0.secondFactors = SecondFactorPolicy(allowsPhone: true, adjacentSteps: 1) }
      // No text messages are sent from here, whatever is allowed.
      #expect(await outcome(player, byPhone: true) == .phonesUnavailable)
      let (own, enrolled) = try await fixture.enrolAuthenticator(player)
      fixture.clock.advance(by: 400_000)
      // To take it back hands the account over: it takes a recent sign-in.
      #expect(await fixture.error { try await fixture.withdraw(own.id, of: enrolled) } == .signInTooOld)
      // Nobody's account becomes less safe by a setting.
      try await fixture.configure { $0.secondFactors = SecondFactorPolicy.none }
      let first = try await fixture.signIn("jim@x.io")
      #expect(first.result.tokens == nil)
      #expect(try await fixture.finish(first, with: own).result.tokens != nil)
    }
  }
}
