import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Codes that are mailed: to whom, what for, how long, and once.
struct EmailCodeTests {
  @Test("a reset sets the password once, confirms the address, and ends what was issued before")
  func reset() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      fixture.clock.advance(by: 1000)
      let code = try await fixture.mail(.passwordReset(fixture.email("jim@x.io")))
      let codes = fixture.accounts.emailCodes
      // Looking at a code does not use it up, and neither does a password that is too weak.
      #expect(try codes.code(code, of: fixture.project).kind == .passwordReset)
      func reset(_ password: String) async -> AccountError? {
        await fixture.error { _ = try await codes.resetPassword(code, to: password, context: fixture.client) }
      }
      #expect(await reset("12345") == .passwordTooShort)
      #expect(await reset("fresh-1") == nil)
      #expect(await reset("fresh-2") == .invalidCode)
      #expect(await fixture.refusal(of: player) == .expiredToken)
      #expect(await fixture.refresh(player.refreshToken) == .expiredToken)
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == .wrongPassword)
      #expect(try await fixture.signIn("jim@x.io", "fresh-1").account.isEmailVerified)
      #expect(codes.mailed(of: fixture.project).isEmpty)
    }
  }

  @Test("a reset takes other identities from an account whose address nobody had confirmed, and from no other")
  func resetOfUnproved() async throws {
    try await AccountFixture.run { fixture in
      for (email, isVerified) in [("a@x.io", false), ("b@x.io", true)] {
        let player = try await fixture.signUp(email)
        try await fixture.administer(player.uid) { $0.isEmailVerified = isVerified }
        try await fixture.signIn(as: ["sub": .string(email)], linking: player)
        let code = try await fixture.mail(.passwordReset(fixture.email(email)))
        _ = try await fixture.accounts.emailCodes.resetPassword(code, to: "fresh-1", context: fixture.client)
        #expect(try fixture.record(player.uid).providers.isEmpty == !isVerified)
      }
    }
  }

  @Test("a code's time ends: after an hour, and of one that takes a change back after a week")
  func lifetime() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      let reset = try await fixture.mail(.passwordReset(fixture.email("jim@x.io")))
      _ = try await fixture.update(player, email: "new@x.io")
      let recovery = try fixture.letters.lastCode()
      let codes = fixture.accounts.emailCodes
      func outcome(_ code: String) async -> AccountError? {
        await fixture.error { _ = try codes.code(code, of: fixture.project) }
      }
      fixture.clock.advance(by: 3_599_999)
      #expect(await outcome(reset) == nil)
      fixture.clock.advance(by: 1)
      #expect(await outcome(reset) == .expiredCode)
      #expect(await outcome("nonsense") == .invalidCode)
      fixture.clock.advance(by: 7 * AccountFixture.day - 3_600_001)
      #expect(await outcome(recovery) == nil)
      fixture.clock.advance(by: 1)
      #expect(await outcome(recovery) == .expiredCode)
      #expect(
        await fixture.error { _ = try await codes.apply(recovery, context: fixture.client) } == .expiredCode)
    }
  }

  @Test("a link by mail keeps the uid, proves the address, and is good once")
  func emailLink() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      fixture.clock.advance(by: 1000)
      let email = try fixture.email("jim@x.io")
      let code = try await fixture.mail(.signIn(email))
      let linked = try await fixture.signInByLink(email, code: code, linking: player)
      #expect(linked.uid == player.uid && !linked.isNew)
      let token = try fixture.token(linked)
      #expect(token.claims["email_verified"] == true)
      #expect(token.provider == "password")
      let record = try fixture.record(player.uid)
      #expect(record.signsInByLink && record.isEmailVerified && record.providerIDs == ["password"])
      #expect(await fixture.refusal(of: player) == .expiredToken)
      #expect(await fixture.error { _ = try await fixture.signInByLink(email, code: code) } == .invalidCode)
    }
  }

  @Test("a link by mail makes an account, which the next one signs in to; it is nobody's but the address's owner's")
  func newByLink() async throws {
    try await AccountFixture.run { fixture in
      let email = try fixture.email("jim@x.io")
      let made = try await fixture.signInByLink(email)
      #expect(made.isNew && made.account.isEmailVerified)
      let again = try await fixture.signInByLink(email)
      #expect(!again.isNew && again.uid == made.uid)
      let other = try await fixture.anonymous()
      #expect(await fixture.error { _ = try await fixture.signInByLink(email, linking: other) } == .emailTaken)
      let code = try await fixture.mail(.signIn(email))
      let ann = try fixture.email("ann@x.io")
      #expect(await fixture.error { _ = try await fixture.signInByLink(ann, code: code) } == .wrongCodeEmail)
      try await fixture.administer(made.uid) { $0.isDisabled = true }
      #expect(await fixture.error { _ = try await fixture.signInByLink(email, code: code) } == .disabledAccount)
      // A refusal does not use it up.
      try await fixture.administer(made.uid) { $0.isDisabled = false }
      #expect(try await fixture.signInByLink(email, code: code).uid == made.uid)
    }
  }

  @Test("who proves an address by its link gets the account without the ways in that somebody else set")
  func takenOver() async throws {
    try await AccountFixture.run { fixture in
      // Somebody who does not own the address: password, telephone, and an identity of their own.
      let attacker = try await fixture.signUp("victim@x.io", "attack-1")
      try await fixture.administer(attacker.uid) { $0.phoneNumber = PhoneNumber("+15550100") }
      try await fixture.signIn(as: ["sub": "attacker"], linking: attacker)
      #expect(try fixture.record(attacker.uid).providerIDs.count == 3)
      fixture.clock.advance(by: 2000)
      let email = try fixture.email("victim@x.io")
      let owner = try await fixture.signInByLink(email)
      #expect(owner.uid == attacker.uid)
      let record = try fixture.record(owner.uid)
      #expect(record.providerIDs == ["password"] && record.signsInByLink)
      #expect(record.phoneNumber == nil && record.password == nil && record.isEmailVerified)
      #expect(await fixture.error { try await fixture.signIn("victim@x.io", "attack-1") } == .wrongPassword)
      #expect(try await fixture.signIn(as: ["sub": "attacker"]).uid != owner.uid)
      #expect(await fixture.refusal(of: attacker) == .expiredToken)
      // An address that was proved keeps everything: the owner added it.
      try await fixture.signIn(as: ["sub": "own"], linking: owner)
      #expect(try await fixture.signInByLink(email).account.providerIDs == ["password", "google.com"])
    }
  }

  @Test("a changed address can be taken back by the code that went to the old one")
  func recovery() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("old@x.io")
      let changed = try await fixture.update(player, email: "new@x.io")
      #expect(changed.newEmail == "new@x.io" && !changed.account.isEmailVerified)
      let letter = try #require(fixture.letters.all.last)
      #expect(letter.kind == .recoverEmail && letter.to == "old@x.io")
      fixture.clock.advance(by: 2000)
      let restored = try await fixture.accounts.emailCodes.apply(fixture.letters.lastCode(), context: fixture.client)
      #expect(restored.newEmail == "old@x.io" && restored.account.initialEmail == nil)
      #expect(await fixture.refusal(of: player.after(changed)) == .expiredToken)
      #expect(try await fixture.signIn("old@x.io").uid == player.uid)
      #expect(try fixture.accounts.uid(ofEmail: "new@x.io", of: fixture.project) == nil)
    }
  }

  @Test("only the first address of an account is written to when it changes: it stays the one to go back to")
  func firstAddress() async throws {
    try await AccountFixture.run { fixture in
      let first = try await fixture.signUp("first@x.io")
      let second = first.after(try await fixture.update(first, email: "second@x.io"))
      let third = second.after(try await fixture.update(second, email: "third@x.io"))
      #expect(fixture.letters.all.map(\.to) == ["first@x.io"])
      #expect(third.account.initialEmail == "first@x.io")
      let restored = try await fixture.accounts.emailCodes.apply(fixture.letters.lastCode(), context: fixture.client)
      #expect(restored.account.email == "first@x.io")
      // Who is anonymous has nothing to go back to.
      let anonymous = try await fixture.anonymous()
      let addressed = anonymous.after(try await fixture.update(anonymous, email: "a@x.io"))
      _ = try await fixture.update(addressed, email: "b@x.io")
      #expect(fixture.letters.all.count == 1)
    }
  }

  @Test("an address is confirmed by its code, unless the account has another one by then")
  func verification() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      let stale = try await fixture.mail(.verification(of: .idToken(player.idToken)))
      let moved = player.after(try await fixture.update(player, email: "new@x.io"))
      func apply(_ code: String) async -> AccountError? {
        await fixture.error { _ = try await fixture.accounts.emailCodes.apply(code, context: fixture.client) }
      }
      #expect(await apply(stale) == .invalidCode)
      let code = try await fixture.mail(.verification(of: .idToken(moved.idToken)))
      #expect(try !fixture.record(player.uid).isEmailVerified)
      #expect(await apply(code) == nil)
      #expect(try fixture.record(player.uid).isEmailVerified)
      #expect(await apply(code) == .invalidCode)
      // An administrator asks by the address.
      _ = try await fixture.accounts.emailCodes.send(
        CodeRequest(.verification(of: .email(fixture.email("new@x.io")))), fixture.administrator)
      #expect(await apply(try fixture.letters.lastCode()) == nil)
    }
  }

  @Test("a code to change an address goes to the new one; where that is taken by then, it stays good")
  func change() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("old@x.io")
      let new = try fixture.email("new@x.io")
      let code = try await fixture.mail(.change(of: .idToken(player.idToken), to: new))
      let letter = try #require(fixture.letters.all.last)
      #expect(letter.to == "new@x.io" && letter.newEmail == "new@x.io" && letter.kind == .changeEmail)
      let other = try await fixture.signUp("new@x.io")
      let codes = fixture.accounts.emailCodes
      #expect(await fixture.error { _ = try await codes.apply(code, context: fixture.client) } == .emailTaken)
      #expect(
        await fixture.error { _ = try await fixture.mail(.change(of: .idToken(player.idToken), to: new)) } == .emailTaken)
      try await fixture.accounts.remove(other.uid, of: fixture.project, by: .admin("test"))
      let changed = try await codes.apply(code, context: fixture.client)
      #expect(changed.newEmail == "new@x.io" && changed.account.isEmailVerified)
      #expect(changed.account.initialEmail == "old@x.io")
      #expect(try await fixture.signIn("new@x.io").uid == player.uid)
    }
  }

  /// What is done with a code.
  enum Use: CaseIterable { case reset, apply, signIn }

  @Test("a code does what it was mailed for, and nothing else", arguments: AccountCodeRecord.Kind.allCases, Use.allCases)
  func kinds(kind: AccountCodeRecord.Kind, use: Use) async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      let jim = try fixture.email("jim@x.io")
      let owner = CodeRequest.Owner.idToken(player.idToken)
      let code: String
      switch kind {
      case .passwordReset: code = try await fixture.mail(.passwordReset(jim))
      case .emailSignIn: code = try await fixture.mail(.signIn(jim))
      case .verifyEmail: code = try await fixture.mail(.verification(of: owner))
      case .changeEmail: code = try await fixture.mail(.change(of: owner, to: fixture.email("new@x.io")))
      case .recoverEmail:
        _ = try await fixture.update(player, email: "new@x.io")
        code = try fixture.letters.lastCode()
      }
      let (codes, client) = (fixture.accounts.emailCodes, fixture.client)
      let error = await fixture.error {
        switch use {
        case .reset: _ = try await codes.resetPassword(code, to: "fresh-1", context: client)
        case .apply: _ = try await codes.apply(code, context: client)
        case .signIn: _ = try await codes.signIn(email: jim, code: code, idToken: nil, context: client)
        }
      }
      let expected: Use =
        switch kind {
        case .passwordReset: .reset
        case .emailSignIn: .signIn
        case .verifyEmail, .changeEmail, .recoverEmail: .apply
        }
      #expect(error == (use == expected ? nil : .invalidCode))
      // What was refused is as good as before.
      let after = await fixture.error { _ = try codes.code(code, of: fixture.project) }
      #expect(after == (use == expected ? .invalidCode : nil))
    }
  }

  @Test("a letter says whose it is, in which languages, and leads to the server with the code")
  func letter() async throws {
    try await AccountFixture.run(as: .production, { $0.authorizedDomains = ["play.example"] }) { fixture in
      let player = try await fixture.signUp("jim@x.io")
      _ = try await fixture.update(player) { $0.displayName = "Jim" }
      var request = CodeRequest(.passwordReset(try fixture.email("jim@x.io")))
      request.continueURL = "https://play.example/?a=1&b=2"
      let context = AccountContext(
        project: fixture.project, network: "192.0.2.1", serverURL: "https://rewards.example", apiKey: "k+",
        locales: ["de", "en"])
      let sent = try await fixture.accounts.emailCodes.send(request, context)
      #expect(sent == SentCode(email: "jim@x.io"))
      let letter = try #require(fixture.letters.all.last)
      #expect(letter.project == "game" && letter.displayName == "Jim" && letter.locales == ["de", "en"])
      let code = try fixture.letters.lastCode()
      #expect(
        letter.link
          == "https://rewards.example/__/auth/action?mode=resetPassword&oobCode=\(code)&apiKey=k%2B&lang=de"
          + "&continueUrl=https%3A%2F%2Fplay.example%2F%3Fa%3D1%26b%3D2")
      // It waits in the outbox under a key that is not the code, and development's list stays empty.
      let outbox = try fixture.read { (snapshot) throws(StorageError) in
        try snapshot.outbox(in: fixture.project.namespace, state: .waiting, after: nil, limit: 10)
      }
      #expect(outbox.count == 1 && outbox.first?.outlet == "mail")
      #expect(outbox.allSatisfy { $0.key.hasPrefix("account-code/") && !$0.key.contains(code) })
      #expect(fixture.accounts.emailCodes.mailed(of: fixture.project).isEmpty)
    }
  }

  @Test("an administrator may have the code, which is not mailed then")
  func returnedLink() async throws {
    try await AccountFixture.run(as: .production) { fixture in
      var request = CodeRequest(.signIn(try fixture.email("jim@x.io")))
      request.returnsLink = true
      let sent = try await fixture.accounts.emailCodes.send(request, fixture.administrator)
      let code = try #require(sent.code)
      #expect(sent.link?.contains("mode=signIn&oobCode=\(code)&") == true)
      #expect(fixture.letters.all.isEmpty)
      #expect(try await fixture.signInByLink(fixture.email("jim@x.io"), code: code).isNew)
    }
  }

  @Test("links go on only to configured hosts, whatever the address makes of itself; in development to any")
  func domains() async throws {
    let rows = [
      ("https://play.example/a", true), ("https://PLAY.example:8443", true), ("https://evil.example", false),
      ("https://evil.example\\@play.example", false), ("https://play.example@evil.example", false),
      ("https://play.example.evil.example", false), ("app:play.example", false), ("nowhere", false),
    ]
    try await AccountFixture.run(as: .production, { $0.authorizedDomains = ["play.example"] }) { fixture in
      for (url, isAllowed) in rows { #expect(fixture.accounts.emailCodes.mayContinue(at: url) == isAllowed, "\(url)") }
    }
    try await AccountFixture.run { fixture in
      #expect(fixture.accounts.emailCodes.mayContinue(at: "https://evil.example"))
      #expect(!fixture.accounts.emailCodes.mayContinue(at: "nowhere"))
    }
  }
}

extension AccountFixture {
  /// A sign-in by a mailed link.
  ///
  /// - `code`: nil for one that is asked for now.
  func signInByLink(_ email: EmailAddress, code: String? = nil, linking player: Player? = nil) async throws -> Player {
    var text = code
    if text == nil { text = try await mail(.signIn(email)) }
    return Player(
      try await accounts.emailCodes.signIn(
        email: email, code: try #require(text), idToken: player?.idToken, context: client))
  }
}
