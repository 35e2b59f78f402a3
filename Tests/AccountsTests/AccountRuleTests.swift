import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Rules about accounts, by values: what is refused and why, without a wire.
struct AccountRuleTests {
  @Test("Names are checked where they come in")
  func names() {
    #expect(PhoneNumber("+4915112345678")?.text == "+4915112345678")
    for text in ["", "+", "+1", "4915112345678", "+49 151", "+" + String(repeating: "1", count: 30)] {
      #expect(PhoneNumber(text) == nil, "\(text)")
    }
    #expect(ProviderID("oidc.guild")?.text == "oidc.guild")
    for text in ["", "a/b", "ä", String(repeating: "p", count: 129)] { #expect(ProviderID(text) == nil, "\(text)") }
    for text in ["a\n", "\u{7F}"] { #expect(AccountID(text) == nil) }
  }

  @Test("A policy names everything that a password lacks; six characters are needed whatever it says")
  func passwords() throws {
    var policy = PasswordPolicy()
    #expect(throws: AccountError.passwordTooShort) { try policy.check("12345") }
    try policy.check("123456")
    policy.setLengths(min: 8, max: 10)
    (policy.needsLowerCase, policy.needsUpperCase, policy.needsDigit, policy.needsSymbol) = (true, true, true, true)
    #expect(throws: AccountError.unmetPasswordRequirements([.atLeast(8), .upperCase, .digit, .symbol])) {
      try policy.check("abcdef")
    }
    #expect(throws: AccountError.unmetPasswordRequirements([.atMost(10)])) { try policy.check("aB3-aB3-aB3-") }
    try policy.check("aB3-aB3-")
    policy.setLengths(min: 1, max: .max)
    #expect(policy.minLength == PasswordPolicy.lengthMin && policy.maxLength == PasswordPolicy.lengthMax)
  }

  @Test("Settings come back from the store as they were put there")
  func settings() async throws {
    try await AccountFixture.run { fixture in
      var changed = AccountSettings()
      changed.hidesAddresses = true
      changed.allowsSignUp = false
      changed.passwordPolicy.setLengths(min: 9, max: 20)
      changed.secondFactors = SecondFactorPolicy(allowsPhone: false, adjacentSteps: 30)
      let expected = changed
      try await fixture.accounts.changeSettings(of: fixture.project, by: .admin("test")) { before in
        #expect(before == AccountSettings())
        return expected
      }
      #expect(try fixture.accounts.settings(of: fixture.project) == expected)
      #expect(expected.secondFactors?.adjacentSteps == 10)
    }
  }

  @Test("Whether an address has an account is told only where addresses are no secret")
  func secrets() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.signUp("jim@x.io")
      #expect(await fixture.error { _ = try await fixture.signIn("jim@x.io", "wrong") } == .wrongPassword)
      #expect(await fixture.error { _ = try await fixture.signIn("ann@x.io", "wrong") } == .unknownEmail)
      try await fixture.accounts.changeSettings(of: fixture.project, by: .admin("test")) { settings in
        var settings = settings
        settings.hidesAddresses = true
        return settings
      }
      for email in ["jim@x.io", "ann@x.io"] {
        #expect(await fixture.error { _ = try await fixture.signIn(email, "wrong") } == .wrongCredentials)
      }
      let ann = try #require(EmailAddress("ann@x.io"))
      #expect(try fixture.accounts.signInMethods(of: ann, in: fixture.project) == nil)
      // Nothing is sent, and nothing says so.
      let sent = try await fixture.accounts.emailCodes.send(CodeRequest(.passwordReset(ann)), fixture.client)
      #expect(sent == SentCode(email: "ann@x.io"))
      #expect(fixture.accounts.emailCodes.mailed(of: fixture.project).isEmpty)
    }
  }

  @Test("A linked account keeps its uid; the address is its own, and the token of before is over a second later")
  func link() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      fixture.clock.advance(by: 1000)
      let linked = try await fixture.signUp("jim@x.io", linking: player)
      #expect(linked.uid == player.uid)
      let (accounts, project) = (fixture.accounts, fixture.project)
      #expect(await fixture.error { _ = try accounts.profiles.account(idToken: player.idToken, of: project) } == .expiredToken)
      #expect(try accounts.profiles.account(idToken: linked.idToken, of: project).email == "jim@x.io")
      #expect(await fixture.error { try await fixture.signUp("jim@x.io") } == .emailTaken)
      // The same link again, with the token of before: its answer may have been lost.
      #expect(try await fixture.signUp("jim@x.io", linking: player).uid == player.uid)
      #expect(await fixture.error { try await fixture.signUp("jim@x.io", "other12", linking: player) } == .emailTaken)
    }
  }

  @Test("An import leaves out the rows that cannot be stored, and says why of each")
  func imports() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.signUp("jim@x.io")
      func row(_ uid: String, _ fill: (inout AccountRecord) -> Void = { _ in }) throws -> ImportedAccount {
        var record = AccountRecord(uid: uid, createdAt: 0)
        fill(&record)
        return try ImportedAccount(record, secondFactors: nil)
      }
      let rows = [
        (0, try row("a")), (1, try row("b") { $0.email = "jim@x.io" }), (2, try row("c") { $0.phoneNumber = "+4915112345678" }),
        (3, try row("d") { $0.phoneNumber = "+4915112345678" }),
      ]
      let errors = try await fixture.accounts.importer.store(
        rows, overwrites: false, triggers: false, context: fixture.administrator)
      #expect(errors.map(\.index) == [1, 3])
      #expect(errors.map(\.error) == [.importedEmailTaken, .importedPhoneNumberTaken])
      let again = try await fixture.accounts.importer.store(
        [(0, try row("a"))], overwrites: false, triggers: false, context: fixture.administrator)
      #expect(again.map(\.error) == [.importedAccountExists])
      let factor = try SecondFactorDraft(.phone(#require(PhoneNumber("+4915112345678"))))
      #expect(throws: AccountError.importedFactorsNeedEmail) {
        try ImportedAccount(AccountRecord(uid: "e", createdAt: 0), secondFactors: [factor])
      }
    }
  }

  @Test("The same number twice is one second factor; the same id twice, and more than five, are refused")
  func drafts() throws {
    func draft(_ number: Int, id: String? = nil) throws -> SecondFactorDraft {
      SecondFactorDraft(.phone(try #require(PhoneNumber("+4915112\(number)"))), id: id)
    }
    let checked = try SecondFactorDraft.checked([draft(1), draft(1), draft(2, id: "two")]) { "new" }
    #expect(checked.map(\.id) == ["new", "two"])
    #expect(throws: AccountError.duplicateSecondFactorID) {
      try SecondFactorDraft.checked([draft(1, id: "one"), draft(2, id: "one")]) { "new" }
    }
    var number = 0
    #expect(throws: AccountError.tooManySecondFactors) {
      try SecondFactorDraft.checked((1...6).map { try draft($0) }) {
        number += 1
        return "\(number)"
      }
    }
    #expect(throws: AccountError.missingAuthenticatorSecret) {
      try SecondFactorDraft(.authenticator(nil), id: "one").factor(beside: [], at: 0)
    }
  }
}
