import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Errors of accounts, tokens, passwords and limits.
extension Provocation {
  static let unknownAccount = Provocation { fixture in
    { try await fixture.accounts.remove("nobody", of: fixture.project, by: .admin("test")) }
  }

  static let disabledAccount = Provocation { fixture in
    let player = try await fixture.signUp("jim@x.io")
    try await fixture.administer(player.uid) { $0.isDisabled = true }
    return { try await fixture.signIn("jim@x.io") }
  }

  static let emailTaken = Provocation { fixture in
    try await fixture.signUp("jim@x.io")
    let player = try await fixture.anonymous()
    return { _ = try await fixture.update(player, email: "jim@x.io") }
  }

  static let phoneNumberTaken = Provocation { fixture in
    let number = try fixture.number()
    _ = try await fixture.signInByPhone(number)
    let player = try await fixture.anonymous()
    return { try await fixture.administer(player.uid) { $0.phoneNumber = number } }
  }

  static let identityTaken = Provocation { fixture in
    try await fixture.signIn(as: ["sub": "g1"])
    let player = try await fixture.anonymous()
    return {
      var edits = AccountEdits()
      edits.link = .init(id: "google.com", rawID: "g1")
      _ = try await fixture.accounts.update(player.uid, to: AccountDraft(), edits: edits, fixture.administrator)
    }
  }

  static let uidTaken = Provocation { fixture in
    let player = try await fixture.anonymous()
    return { _ = try await fixture.accounts.create(AccountDraft(), uid: AccountID(player.uid), fixture.administrator) }
  }

  static let noEmail = Provocation { fixture in
    let player = try await fixture.anonymous()
    return { _ = try await fixture.mail(.verification(of: .idToken(player.idToken))) }
  }

  static let notDisabled = Provocation { fixture in
    let player = try await fixture.anonymous()
    return {
      let errors = try await fixture.accounts.remove(
        [player.uid], isForced: false, of: fixture.project, by: .admin("test"))
      throw try #require(errors.first).error
    }
  }

  static let missingIDToken = Provocation { fixture in
    { try await fixture.accounts.profiles.delete(idToken: "", of: fixture.project) }
  }

  static let invalidIDToken = Provocation { fixture in
    let player = try await fixture.anonymous()
    // A token of another project.
    let other = AccountProject(name: "other", namespace: fixture.project.namespace)
    return { try fixture.accounts.profiles.check(idToken: player.idToken, of: other) }
  }

  static let expiredToken = Provocation { fixture in
    let player = try await fixture.anonymous()
    fixture.clock.advance(by: 3_600_000)
    return { _ = try await fixture.update(player) { $0.displayName = "Jim" } }
  }

  static let invalidRefreshToken = Provocation { fixture in
    { _ = try await fixture.accounts.refresh(String(repeating: "A", count: 43), of: fixture.project) }
  }

  static let signInTooOld = Provocation(as: .production) { fixture in
    let player = try await fixture.signUp("jim@x.io")
    fixture.clock.advance(by: 300_001)
    return { try await fixture.accounts.profiles.delete(idToken: player.idToken, of: fixture.project) }
  }

  static let invalidCustomToken = Provocation { fixture in
    { _ = try await fixture.signIn(customToken: "{}") }
  }

  static let invalidCookieDuration = Provocation { fixture in
    let player = try await fixture.anonymous()
    return { _ = try fixture.accounts.sessionCookie(for: player.idToken, duration: 299, of: fixture.project) }
  }

  static let unknownEmail = Provocation { fixture in
    { _ = try await fixture.mail(.passwordReset(fixture.email("nobody@x.io"))) }
  }

  static let wrongPassword = Provocation { fixture in
    try await fixture.signUp("jim@x.io")
    return { try await fixture.signIn("jim@x.io", "secret2") }
  }

  static let wrongCredentials = Provocation { fixture in
    try await fixture.configure { $0.hidesAddresses = true }
    return { try await fixture.signIn("jim@x.io") }
  }

  static let passwordSignInDisabled = Provocation { fixture in
    try await fixture.signUp("jim@x.io")
    try await fixture.configure { $0.allowsPasswords = false }
    return { try await fixture.signIn("jim@x.io") }
  }

  static let passwordsDisabled = Provocation { fixture in
    try await fixture.configure { $0.allowsPasswords = false }
    return { try await fixture.signUp("jim@x.io") }
  }

  static let signUpDisabled = Provocation { fixture in
    try await fixture.configure { $0.allowsSignUp = false }
    return { _ = try await fixture.anonymous() }
  }

  static let passwordTooShort = Provocation { fixture in
    { try await fixture.signUp("jim@x.io", "12345") }
  }

  /// Within the policy, which counts code units, and beyond what is hashed, which is bytes.
  static let passwordTooLong = Provocation { fixture in
    { try await fixture.signUp("jim@x.io", String(repeating: "€", count: 2000)) }
  }

  static let unmetPasswordRequirements = Provocation { fixture in
    let player = try await fixture.signUp("jim@x.io")
    try await fixture.configure { $0.passwordPolicy.needsSymbol = true }
    return { _ = try await fixture.update(player) { $0.password = "secret2" } }
  }

  static let tooManyFailures = Provocation({ $0.failuresMax = 1 }) { fixture in
    try await fixture.signUp("jim@x.io")
    _ = await fixture.error { try await fixture.signIn("jim@x.io", "secret2") }
    return { try await fixture.signIn("jim@x.io") }
  }

  static let tooManyPasswords = Provocation(as: .production, { $0.passwordsPerClient = RateLimit(1, per: 1000) }) { fixture in
    try await fixture.signUp("jim@x.io")
    return { try await fixture.signIn("jim@x.io") }
  }

  static let tooManyCodes = Provocation(as: .production, { $0.codesPerClient = RateLimit(1, per: 1000) }) { fixture in
    _ = try await fixture.mail(.signIn(fixture.email("jim@x.io")))
    return { _ = try await fixture.mail(.signIn(fixture.email("ann@x.io"))) }
  }

  /// The address is another one by the time at which the password was hashed.
  static var concurrentChange: Provocation {
    let work = HeldWork()
    return Provocation(with: .init(threads: work.threads)) { fixture in
      let player = try await fixture.signIn(as: ["sub": "g1", "email": "jim@x.io"])
      let change = Task { _ = try await fixture.update(player) { $0.password = "secret1" } }
      await work.arrival()
      try await fixture.administer(player.uid) { $0.email = EmailAddress("new@x.io") }
      return {
        await work.runNext()
        try await change.value
      }
    }
  }

  /// No thread takes the hash.
  static let unavailable = Provocation(with: .init(threads: OffLoopWork { _ in false })) { fixture in
    { try await fixture.signUp("jim@x.io") }
  }

  /// What is public of an account has more leaves than a commit may change.
  static let rejected = Provocation(with: .init(limits: WriteLimits(leavesMax: 1))) { fixture in
    { _ = try await fixture.anonymous() }
  }
}
