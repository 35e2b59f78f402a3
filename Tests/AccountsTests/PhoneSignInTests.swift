import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Signing in by telephone, which works in development.
struct PhoneSignInTests {
  @Test("a telephone keeps the uid; one of somebody else gives a proof, with which one is that somebody")
  func link() async throws {
    try await AccountFixture.run { fixture in
      let number = try fixture.number("+15550100")
      let player = try await fixture.anonymous()
      let linked = try await fixture.signInByPhone(number, linking: player)
      #expect(linked.uid == player.uid && !linked.isNew)
      #expect(try fixture.token(linked).claims["phone_number"] == "+15550100")
      #expect(try fixture.record(player.uid).providerIDs == ["phone"])
      let other = try await fixture.anonymous()
      let sent = try fixture.sendPhoneCode(number)
      let outcome = try await fixture.accounts.phones.signIn(
        .code(sent.code, session: sent.session), idToken: other.idToken, context: fixture.client)
      guard case .numberTaken("+15550100", let proof, 300_000) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      let credential = PhoneCredential.proof(proof, number: number)
      #expect(
        await fixture.error { _ = try await fixture.signInByPhone(credential, linking: other) } == .phoneNumberTaken)
      #expect(try await fixture.signInByPhone(credential).uid == player.uid)
      let wrong = PhoneCredential.proof(proof, number: try fixture.number("+15550101"))
      #expect(await fixture.error { _ = try await fixture.signInByPhone(wrong) } == .invalidPhoneProof)
      fixture.clock.advance(by: 300_000)
      #expect(await fixture.error { _ = try await fixture.signInByPhone(credential) } == .invalidPhoneProof)
    }
  }

  @Test("a number makes an account, which it signs in to from then on")
  func new() async throws {
    try await AccountFixture.run { fixture in
      let number = try fixture.number()
      let made = try await fixture.signInByPhone(number)
      #expect(made.isNew && !made.account.isAnonymous)
      #expect(try fixture.token(made).provider == "phone")
      let again = try await fixture.signInByPhone(number)
      #expect(!again.isNew && again.uid == made.uid)
      // The same number once more for the account that has it is no conflict.
      #expect(try await fixture.signInByPhone(number, linking: again).uid == made.uid)
      try await fixture.administer(made.uid) { $0.isDisabled = true }
      #expect(await fixture.error { _ = try await fixture.signInByPhone(number) } == .disabledAccount)
    }
  }

  @Test("a code is good once, for five minutes, and for five attempts")
  func codes() async throws {
    try await AccountFixture.run { fixture in
      let number = try fixture.number()
      func attempt(_ code: String, _ sent: PhoneCode) async -> AccountError? {
        await fixture.error { _ = try await fixture.signInByPhone(.code(code, session: sent.session)) }
      }
      let used = try fixture.sendPhoneCode(number)
      #expect(await attempt(used.code, used) == nil)
      #expect(await attempt(used.code, used) == .unknownCodeSession)
      let guessed = try fixture.sendPhoneCode(number)
      let wrong = guessed.code == "000000" ? "000001" : "000000"
      for _ in 0..<5 { #expect(await attempt(wrong, guessed) == .wrongOneTimeCode) }
      #expect(await attempt(guessed.code, guessed) == .unknownCodeSession)
      let late = try fixture.sendPhoneCode(number)
      fixture.clock.advance(by: 299_999)
      #expect(fixture.accounts.phones.sent(of: fixture.project) == [late])
      fixture.clock.advance(by: 1)
      #expect(fixture.accounts.phones.sent(of: fixture.project).isEmpty)
      #expect(await attempt(late.code, late) == .expiredCodeSession)
    }
  }

  @Test("a code and a proof are a project's own")
  func projects() async throws {
    try await AccountFixture.run { fixture in
      let sent = try fixture.sendPhoneCode(fixture.number())
      let other = AccountProject(name: "other", namespace: fixture.project.namespace)
      let context = AccountContext(project: other, network: "192.0.2.1")
      #expect(fixture.accounts.phones.sent(of: other).isEmpty)
      let error = await fixture.error {
        _ = try await fixture.accounts.phones.signIn(.code(sent.code, session: sent.session), idToken: nil, context: context)
      }
      #expect(error == .unknownCodeSession)
    }
  }

  @Test("in production nobody learns from a telephone's number whether it has an account")
  func production() async throws {
    try await AccountFixture.run(as: .production) { fixture in
      var draft = AccountDraft()
      (draft.email, draft.isEmailVerified) = (try fixture.email("jim@x.io"), true)
      draft.phoneNumber = PhoneNumber("+15555550100")
      draft.secondFactors = [SecondFactorDraft(.phone(try fixture.number("+15555550101")))]
      _ = try await fixture.accounts.create(draft, fixture.administrator)
      for number in ["+15555550100", "+15555550199"] {
        let number = try fixture.number(number)
        #expect(
          await fixture.error { _ = try fixture.accounts.phones.sendCode(to: number, of: fixture.project) }
            == .phonesUnavailable)
      }
    }
  }
}

extension AccountFixture {
  /// Sends a code to a telephone.
  func sendPhoneCode(_ number: PhoneNumber) throws -> PhoneCode {
    let session = try accounts.phones.sendCode(to: number, of: project)
    return try phoneCode(of: session)
  }

  /// The code that was sent for a session.
  func phoneCode(of session: String) throws -> PhoneCode {
    try #require(accounts.phones.sent(of: project).first { $0.session == session })
  }

  /// A sign-in by a number, with a code that is asked for now.
  func signInByPhone(_ number: PhoneNumber, linking player: Player? = nil) async throws -> Player {
    let sent = try sendPhoneCode(number)
    return try await signInByPhone(.code(sent.code, session: sent.session), linking: player)
  }

  /// A sign-in by a credential; that the number is taken is thrown.
  func signInByPhone(_ credential: PhoneCredential, linking player: Player? = nil) async throws -> Player {
    switch try await accounts.phones.signIn(credential, idToken: player?.idToken, context: client) {
    case .signedIn(let signedIn, _): return Player(signedIn)
    case .numberTaken: throw AccountError.phoneNumberTaken
    }
  }
}
