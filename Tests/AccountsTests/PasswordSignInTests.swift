import Credentials
import StorageCore
import Testing
import TestSupport
import TreeModel

@testable import Accounts

/// Signing in by a password, and what is told of who has one.
struct PasswordSignInTests {
  /// A hash of Firebase's own kind, of the password `password`.
  private static func firebaseHash() throws -> String {
    let parameters: JSON = [
      "hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14, "saltSeparator": "Bw==",
      "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
    ]
    return try PasswordImport(parameters).record(
      hash: "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==", salt: "TmFDbA=="
    ).text
  }

  @Test("a hash from elsewhere is made again at the first sign-in, and only by the right password")
  func foreignHash() async throws {
    try await AccountFixture.run { fixture in
      var record = AccountRecord(uid: "jim", createdAt: 0)
      record.email = "jim@x.io"
      var row = try ImportedAccount(record, secondFactors: nil)
      row.password = .hashed(try Self.firebaseHash())
      let errors = try await fixture.accounts.importer.store(
        [(0, row)], overwrites: false, triggers: false, context: fixture.administrator)
      #expect(errors.isEmpty)
      let before = try fixture.record("jim").password
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", "wrong1") } == .wrongPassword)
      #expect(try fixture.record("jim").password == before)
      #expect(try await fixture.signIn("jim@x.io", "password").uid == "jim")
      let after = try fixture.record("jim").password
      #expect(after != before)
      #expect(try await fixture.signIn("jim@x.io", "password").uid == "jim")
      #expect(try fixture.record("jim").password == after)
    }
  }

  @Test("who keeps guessing has to wait, and is let in again")
  func guessing() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.signUp("jim@x.io")
      for _ in 0..<10 { #expect(await fixture.error { try await fixture.signIn("jim@x.io", "wrong1") } == .wrongPassword) }
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == .tooManyFailures)
      // From elsewhere the player gets in: a guesser keeps nobody out.
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", from: "198.51.100.1") } == nil)
      fixture.clock.advance(by: 30_001)
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == nil)
      // That counts as a success: ten more guesses are looked at.
      for _ in 0..<10 { #expect(await fixture.error { try await fixture.signIn("jim@x.io", "wrong1") } == .wrongPassword) }
    }
  }

  @Test("a password that is reset, or set by an administrator, ends the wait", arguments: [true, false])
  func waitEnds(isReset: Bool) async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      for _ in 0..<10 { _ = await fixture.error { try await fixture.signIn("jim@x.io", "wrong1") } }
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == .tooManyFailures)
      if isReset {
        let code = try await fixture.mail(.passwordReset(fixture.email("jim@x.io")))
        _ = try await fixture.accounts.emailCodes.resetPassword(code, to: "secret2", context: fixture.client)
      } else {
        var edits = AccountEdits()
        edits.password = "secret2"
        _ = try await fixture.accounts.update(player.uid, to: AccountDraft(), edits: edits, fixture.administrator)
      }
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", "secret2") } == nil)
    }
  }

  @Test("whether an address has an account is told only where addresses are no secret")
  func secrets() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.signUp("jim@x.io")
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", "wrong") } == .wrongPassword)
      #expect(await fixture.error { try await fixture.signIn("ann@x.io", "wrong") } == .unknownEmail)
      let jim = try fixture.email("jim@x.io")
      #expect(try fixture.accounts.signInMethods(of: jim, in: fixture.project)?.hasPassword == true)
      try await fixture.configure { $0.hidesAddresses = true }
      for email in ["jim@x.io", "ann@x.io"] {
        #expect(await fixture.error { try await fixture.signIn(email, "wrong") } == .wrongCredentials)
        #expect(try fixture.accounts.signInMethods(of: fixture.email(email), in: fixture.project) == nil)
      }
      // Nothing is sent, and nothing says so.
      let ann = try fixture.email("ann@x.io")
      let sent = try await fixture.accounts.emailCodes.send(CodeRequest(.passwordReset(ann)), fixture.client)
      #expect(sent == SentCode(email: "ann@x.io"))
      #expect(fixture.letters.all.isEmpty && fixture.accounts.emailCodes.mailed(of: fixture.project).isEmpty)
      let known = try await fixture.accounts.emailCodes.send(CodeRequest(.passwordReset(jim)), fixture.client)
      #expect(known == SentCode(email: "jim@x.io"))
      #expect(fixture.letters.all.map(\.to) == ["jim@x.io"])
    }
  }

  @Test("where addresses are secret, who would change to one learns nothing, and no letter goes to who has an account")
  func changeTellsNothing() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.signUp("jim@x.io")
      let eve = try await fixture.signUp("eve@x.io")
      func mail(_ email: String) async throws -> SentCode {
        let purpose = CodeRequest.Purpose.change(of: .idToken(eve.idToken), to: try fixture.email(email))
        return try await fixture.accounts.emailCodes.send(CodeRequest(purpose), fixture.client)
      }
      #expect(await fixture.error { _ = try await mail("jim@x.io") } == .emailTaken)
      #expect(await fixture.error { _ = try await fixture.update(eve, email: "jim@x.io") } == .emailTaken)
      try await fixture.configure { $0.hidesAddresses = true }
      for email in ["jim@x.io", "ann@x.io"] {
        #expect(await fixture.error { _ = try await fixture.update(eve, email: email) } == .unverifiedEmailChange)
        #expect(try await mail(email) == SentCode(email: "eve@x.io"))
      }
      #expect(fixture.letters.all.map(\.to) == ["ann@x.io"])
      #expect(fixture.accounts.emailCodes.mailed(of: fixture.project).map(\.newEmail) == ["ann@x.io"])
    }
  }

  @Test("that an account is disabled is told to who has the password, and where addresses are no secret to everybody")
  func disabled() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      try await fixture.administer(player.uid) { $0.isDisabled = true }
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", "wrong") } == .disabledAccount)
      try await fixture.configure { $0.hidesAddresses = true }
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", "wrong") } == .wrongCredentials)
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == .disabledAccount)
    }
  }

  @Test("where one address may have several accounts, it tells nothing of identities elsewhere")
  func methods() async throws {
    try await AccountFixture.run { fixture in
      let jim = try await fixture.signUp("jim@x.io")
      try await fixture.signIn(as: ["sub": "g1", "email": "jim@x.io", "email_verified": true], linking: jim)
      try await fixture.signIn(as: ["sub": "g2", "email": "eve@x.io", "email_verified": true])
      func ask(_ email: String) throws -> SignInMethods? {
        try fixture.accounts.signInMethods(of: fixture.email(email), in: fixture.project)
      }
      #expect(
        try ask("jim@x.io")
          == SignInMethods(
            isRegistered: true, providers: ["password", "google.com"], hasPassword: true, signsInByLink: false,
            identityProviders: ["google.com"]))
      #expect(
        try ask("eve@x.io")
          == SignInMethods(
            isRegistered: true, providers: ["google.com"], hasPassword: false, signsInByLink: false,
            identityProviders: ["google.com"]))
      try await fixture.configure { $0.allowsDuplicateEmails = true }
      #expect(
        try ask("jim@x.io")
          == SignInMethods(
            isRegistered: true, providers: ["password"], hasPassword: true, signsInByLink: false, identityProviders: []))
      #expect(try ask("eve@x.io")?.providers == [] && ask("eve@x.io")?.isRegistered == true)
      #expect(try ask("nobody@x.io")?.isRegistered == false)
    }
  }

  @Test("a password that is changed between the check and the session lets nobody in")
  func changedMeanwhile() async throws {
    let work = HeldWork()
    try await AccountFixture.run(with: .init(threads: work.threads)) { fixture in
      async let made = fixture.signUp("jim@x.io")
      await work.runNext()
      let player = try await made
      async let entering = fixture.error { try await fixture.signIn("jim@x.io") }
      await work.arrival()
      // While the old password is being checked, an administrator takes it away.
      var edits = AccountEdits()
      edits.deletedAttributes = [.password]
      _ = try await fixture.accounts.update(player.uid, to: AccountDraft(), edits: edits, fixture.administrator)
      await work.runNext()
      #expect(await entering == .wrongCredentials)
    }
  }

  @Test("what a project does not allow is refused, by every way in that would do it")
  func allowed() async throws {
    try await AccountFixture.run { fixture in
      let jim = try await fixture.signUp("jim@x.io")
      let anonymous = try await fixture.anonymous()
      try await fixture.configure { $0.allowsPasswords = false }
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == .passwordSignInDisabled)
      #expect(await fixture.error { try await fixture.signUp("ann@x.io") } == .passwordsDisabled)
      #expect(await fixture.error { try await fixture.signUp("ann@x.io", linking: anonymous) } == .passwordsDisabled)
      try await fixture.configure { ($0.allowsPasswords, $0.allowsAnonymous) = (true, false) }
      #expect(await fixture.error { _ = try await fixture.anonymous() } == .signUpDisabled)
      try await fixture.configure { ($0.allowsAnonymous, $0.allowsSignUp) = (true, false) }
      #expect(await fixture.error { _ = try await fixture.anonymous() } == .signUpDisabled)
      #expect(await fixture.error { try await fixture.signUp("ann@x.io") } == .signUpDisabled)
      #expect(await fixture.error { try await fixture.signIn(as: ["sub": "g1"]) } == .signUpDisabled)
      let (ann, number) = (try fixture.email("ann@x.io"), try fixture.number())
      #expect(await fixture.error { _ = try await fixture.signInByLink(ann) } == .signUpDisabled)
      #expect(await fixture.error { _ = try await fixture.signInByPhone(number) } == .signUpDisabled)
      // Who has an account goes on, and links what they like.
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == nil)
      #expect(await fixture.error { try await fixture.signUp("ann@x.io", linking: anonymous) } == nil)
      #expect(await fixture.error { try await fixture.signIn(as: ["sub": "g1"], linking: jim) } == nil)
      #expect(await fixture.error { _ = try await fixture.signInByPhone(number, linking: jim) } == nil)
      #expect(try await fixture.signInByPhone(number).uid == jim.uid)
    }
  }
}
