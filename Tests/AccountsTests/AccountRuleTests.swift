import Credentials
import StorageCore
import Testing
import TestSupport
import TreeModel

@testable import Accounts

/// Rules about accounts as values, without a store.
struct AccountRuleTests {
  private static let now = AccountFixture.start
  private static let second = now / 1000

  @Test("names are checked where they come in")
  func names() {
    #expect(PhoneNumber("+4915112345678")?.text == "+4915112345678")
    for text in ["", "+", "+1", "4915112345678", "+49 151", "+" + String(repeating: "1", count: 30)] {
      #expect(PhoneNumber(text) == nil, "\(text)")
    }
    #expect(ProviderID("oidc.guild")?.text == "oidc.guild")
    for text in ["", "a/b", "ä", String(repeating: "p", count: 129)] { #expect(ProviderID(text) == nil, "\(text)") }
    for text in ["a\n", "\u{7F}"] { #expect(AccountID(text) == nil) }
  }

  @Test("a pattern is a player's own place if it captures one key and leaves nothing else open")
  func personalPaths() throws {
    for (text, isPersonal) in [
      ("/profiles/{uid}", true), ("/games/chess/{uid}/state", true), ("/profiles", false), ("/{a}/{b}", false),
      ("/profiles/{uid=**}", false),
    ] {
      #expect(try PathPattern(parsing: text).isPersonal == isPersonal, "\(text)")
    }
  }

  @Test("a policy names everything that a password lacks; six characters are needed whatever it says")
  func passwords() throws {
    var policy = PasswordPolicy()
    #expect(throws: AccountError.passwordTooShort) { try policy.check("12345") }
    try policy.check("123456")
    policy.setLengths(min: 8, max: 10)
    (policy.needsLowerCase, policy.needsUpperCase, policy.needsDigit, policy.needsSymbol) = (true, true, true, true)
    #expect(throws: AccountError.unmetPasswordRequirements([.atLeast(8), .upperCase, .digit, .symbol])) {
      try policy.check("abcdef")
    }
    #expect(throws: AccountError.unmetPasswordRequirements([.lowerCase])) { try policy.check("AAAA111-") }
    #expect(throws: AccountError.unmetPasswordRequirements([.atMost(10)])) { try policy.check("aB3-aB3-aB3-") }
    try policy.check("aB3-aB3-")
    policy.setLengths(min: 1, max: .max)
    #expect(policy.minLength == PasswordPolicy.lengthMin && policy.maxLength == PasswordPolicy.lengthMax)
    policy.setLengths(min: 20, max: 10)
    #expect(policy.minLength == 20 && policy.maxLength == 20)
  }

  @Test("letters and signs of every script count as what they are")
  func scripts() throws {
    var policy = PasswordPolicy()
    (policy.needsLowerCase, policy.needsUpperCase, policy.needsSymbol) = (true, true, true)
    try policy.check("éÉéÉé€")
    #expect(throws: AccountError.unmetPasswordRequirements([.lowerCase, .upperCase, .symbol])) { try policy.check("漢字漢字漢字") }
    // An astral sign is two code units long.
    try PasswordPolicy().check("😀😀😀")
    #expect(throws: AccountError.passwordTooShort) { try PasswordPolicy().check("😀😀") }
  }

  @Test("an authenticator's clock may be wrong by 0 to 10 steps")
  func adjacentSteps() {
    for (given, expected) in [(-1, 0), (0, 0), (10, 10), (11, 10), (Int.max, 10), (Int.min, 0)] {
      #expect(SecondFactorPolicy(allowsPhone: false, adjacentSteps: given).adjacentSteps == expected)
      var policy = SecondFactorPolicy.all
      policy.adjacentSteps = given
      #expect(policy.adjacentSteps == expected)
    }
    #expect(SecondFactorPolicy.none.adjacentSteps == nil && !SecondFactorPolicy.none.allowsPhone)
  }

  @Test("settings come back from the store as they were put there")
  func settings() async throws {
    try await AccountFixture.run { fixture in
      #expect(try fixture.accounts.settings(of: fixture.project) == AccountSettings())
      var changed = AccountSettings()
      (changed.hidesAddresses, changed.allowsDuplicateEmails) = (true, true)
      (changed.allowsSignUp, changed.allowsAnonymous, changed.allowsPasswords) = (false, false, false)
      changed.passwordPolicy.setLengths(min: 9, max: 20)
      changed.passwordPolicy.needsSymbol = true
      changed.secondFactors = SecondFactorPolicy(allowsPhone: true, adjacentSteps: 30)
      let expected = changed
      try await fixture.configure { $0 = expected }
      #expect(try fixture.accounts.settings(of: fixture.project) == expected)
      #expect(expected.secondFactors?.adjacentSteps == 10)
      try await fixture.configure { $0.secondFactors = SecondFactorPolicy.none }
      #expect(try fixture.accounts.secondFactors.policy(of: fixture.project) == SecondFactorPolicy.none)
    }
  }

  // MARK: Tokens and accounts

  /// A token that was issued at a second for who signed in then.
  private func token(issuedAt second: Int64, authTime: Int64? = nil) throws -> IDToken {
    let ring = KeyRing([KeyRing.Entry(key: try SigningKey(pem: TestKeys.first), signsFrom: 0)])
    let issuer = IDTokenIssuer(mode: .unsigned, keys: CurrentKeys(ring))
    let text = try issuer.token(
      for: TokenSubject(uid: "jim"), signIn: SignIn(provider: "password", time: authTime ?? second), project: "game",
      at: second * 1000)
    return try issuer.verify(text, project: "game", at: second * 1000)
  }

  @Test("a token is good for the account that was there when it was issued, and until that makes it void")
  func caller() throws {
    func outcome(issuedAt second: Int64, _ edit: (inout AccountRecord) -> Void = { _ in }) throws -> AccountError? {
      var record = AccountRecord(uid: "jim", createdAt: Self.now)
      edit(&record)
      let token = try token(issuedAt: second)
      do {
        _ = try AccountRules.caller(token, account: record)
        return nil
      } catch {
        return error as? AccountError
      }
    }
    #expect(try outcome(issuedAt: Self.second) == nil)
    #expect(try outcome(issuedAt: Self.second - 1) == .unknownAccount)
    #expect(try outcome(issuedAt: Self.second) { $0.isDisabled = true } == .disabledAccount)
    #expect(try outcome(issuedAt: Self.second) { $0.validSince = Self.second } == nil)
    #expect(try outcome(issuedAt: Self.second) { $0.validSince = Self.second + 1 } == .expiredToken)
    // An import says when an account was made elsewhere; its tokens are of here.
    #expect(try outcome(issuedAt: Self.second) { $0.createdAt = 1 } == nil)
    #expect(throws: AccountError.unknownAccount) {
      try AccountRules.caller(try token(issuedAt: Self.second), account: nil)
    }
  }

  /// What a session is, and what became of its account.
  struct SessionCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var provider = "password"
    /// Milliseconds after the birth of the account.
    var issued: Int64 = 0
    var linked: Int64?
    /// Seconds after the birth.
    var validSince: Int64?
    var isAnonymous = false
    let now: Int64
    /// When it ended; nil if it goes on.
    let end: Int64?
  }

  static let sessions: [SessionCase] = [
    SessionCase(testDescription: "in use", now: 1, end: nil),
    SessionCase(testDescription: "of an earlier account of the uid", issued: -1, now: 1, end: 0),
    SessionCase(testDescription: "revoked", issued: 1000, validSince: 2, now: 5000, end: 2000),
    SessionCase(testDescription: "revoked before it began", issued: 2000, validSince: 2, now: 5000, end: nil),
    SessionCase(testDescription: "revoked in the future", issued: 1000, validSince: 9, now: 5000, end: 5000),
    SessionCase(
      testDescription: "anonymous", provider: "anonymous", isAnonymous: true, now: 5000, end: nil),
    SessionCase(
      testDescription: "outgrown a moment ago", provider: "anonymous", issued: 0, linked: 1000, validSince: 1, now: 60_999,
      end: nil),
    SessionCase(
      testDescription: "outgrown a minute ago", provider: "anonymous", issued: 0, linked: 1000, validSince: 1, now: 61_000,
      end: 61_000),
    SessionCase(
      testDescription: "outgrown, and revoked since", provider: "anonymous", issued: 0, linked: 1000, validSince: 3,
      now: 5000, end: 3000),
    SessionCase(
      testDescription: "anonymous, but of after the link", provider: "anonymous", issued: 2000, linked: 1000, now: 99_000,
      end: nil),
    SessionCase(testDescription: "unused for the longest time", now: 400 * AccountFixture.day, end: nil),
    SessionCase(
      testDescription: "unused for longer", now: 400 * AccountFixture.day + 1, end: 400 * AccountFixture.day),
  ]

  @Test("a session ends by what happened to the account, or by not being used", arguments: sessions)
  func end(one: SessionCase) {
    var record = AccountRecord(uid: "jim", createdAt: Self.now)
    if !one.isAnonymous { record.email = "jim@x.io" }
    record.linkedAt = one.linked.map { Self.now + $0 }
    record.validSince = one.validSince.map { Self.second + $0 }
    let session = RefreshTokenRecord(
      hash: [1], uid: "jim", provider: one.provider, claims: nil, authTime: Self.second, issuedAt: Self.now + one.issued)
    let end = AccountRules.end(of: session, account: record, options: AccountOptions(), at: Self.now + one.now)
    #expect(end.map { $0 - Self.now } == one.end)
  }

  @Test("without a longest time a session that nobody uses goes on for ever")
  func endless() {
    var options = AccountOptions()
    options.sessionIdleMax = nil
    let session = RefreshTokenRecord(
      hash: [1], uid: "jim", provider: "password", claims: nil, authTime: 0, issuedAt: Self.now)
    let record = AccountRecord(uid: "jim", createdAt: Self.now)
    #expect(AccountRules.end(of: session, account: record, options: options, at: .max) == nil)
  }
}
