import Credentials
import StorageCore

/// How a player shows to own a telephone number.
package enum PhoneCredential: Sendable {
  /// By the code that was sent to it.
  case code(String, session: String)
  /// By the proof that an earlier sign-in gave out.
  case proof(String, number: PhoneNumber)
}

/// What came of a sign-in by telephone.
package enum PhoneSignIn: Sendable {
  case signedIn(SignedInAccount, number: String)
  /// The number is another account's: with the proof the player may sign in to that one.
  case numberTaken(number: String, proof: String, lifetime: Int64)
}

/// Signing in by telephone: in development only, for no text messages are sent from here.
package struct PhoneSignInService: Sendable {
  private let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  /// Refuses everything with telephones where no text messages are sent.
  ///
  /// - Throws: `AccountError/phonesUnavailable`, at a tenant `AccountError/notForTenants`
  package func checkAvailable(in project: AccountProject) throws {
    try checkAvailable()
    guard project.scope.tenant == nil else { throw AccountError.notForTenants }
  }

  private func checkAvailable() throws {
    guard accounts.options.isDevelopment else { throw AccountError.phonesUnavailable }
  }

  /// Sends a code for signing in.
  ///
  /// - Returns: the session that the code is good for.
  package func sendCode(to number: PhoneNumber, of project: AccountProject) throws -> String {
    try checkAvailable(in: project)
    guard try accounts.account(.phone(number.text), of: project)?.secondFactors.isEmpty != false else {
      throw AccountError.phoneIsSecondFactor
    }
    return try sendCode(to: number.text, for: .signIn, of: project)
  }

  /// Sends a code.
  ///
  /// - Returns: the session that the code is good for.
  func sendCode(to number: String, for purpose: PhoneCode.Purpose, of project: AccountProject) throws -> String {
    try checkAvailable()
    let now = accounts.clock.now()
    let session = accounts.newRefreshToken().text
    let code = accounts.newDigits(6)
    accounts.sentCodes.add(
      PhoneCode(
        project: project.scopeName, phoneNumber: number, purpose: purpose, session: session, code: code,
        expiresAt: now + accounts.options.phoneCodeLifetime),
      at: now)
    accounts.delivery.announce("To \(number): \(code) is the verification code.")
    return session
  }

  /// The codes that were sent to telephones and are still good, for development.
  package func sent(of project: AccountProject) -> [PhoneCode] {
    accounts.sentCodes.phoneCodes(of: project.scopeName, at: accounts.clock.now())
  }

  /// Signs in by a number, or adds it to the caller's account.
  ///
  /// - `idToken`: the account that gets the number; nil for the account that has it, or a new one.
  package func signIn(_ credential: PhoneCredential, idToken: String?, context: AccountContext) async throws -> PhoneSignIn {
    let number = try provenNumber(credential, of: context.project)
    let hasProof = if case .proof = credential { true } else { false }
    let linking = try accounts.caller(idToken, of: context.project)
    let uid = accounts.newUID()
    let token = accounts.newRefreshToken()
    let (session, isNew) = try await accounts.change(by: .user(uid: linking?.uid ?? uid), askingFor: context) {
      transaction -> (AccountSession?, Bool) in
      let owner = try transaction.account(.phone(number))
      let caller: AccountRecord? = if let linking { try transaction.caller(linking) } else { nil }
      if let caller, let owner, owner.uid != caller.uid {
        // The first time a proof is given out, with which the player may sign in as the other; the second time that is an
        // error.
        guard hasProof else { return (nil, false) }
        throw AccountError.phoneNumberTaken
      }
      let before = caller ?? owner
      if before?.isDisabled == true { throw AccountError.disabledAccount }
      if before == nil, try !transaction.settings.allowsSignUp { throw AccountError.signUpDisabled }
      // A telephone alone would be the way around the second factor.
      guard before?.secondFactors.isEmpty != false else { throw AccountError.phoneIsSecondFactor }
      var record = before ?? transaction.newAccount(uid, from: context.network)
      record.phoneNumber = number
      transaction.stamp(&record, by: "phone")
      try transaction.save(&record, from: before)
      guard let linking else { return (try transaction.open(record, by: "phone", token: token), before == nil) }
      return (try transaction.link(record, by: "phone", of: linking, token: token), false)
    }
    guard let session else { return giveProof(of: number, in: context.project) }
    return .signedIn(try accounts.signedIn(session, isNew: isNew, in: context.project), number: number)
  }

  /// The number that the caller has shown to own.
  private func provenNumber(_ credential: PhoneCredential, of project: AccountProject) throws -> String {
    let now = accounts.clock.now()
    switch credential {
    case .proof(let proof, let number):
      try accounts.sentCodes.redeem(proof: proof, for: number.text, of: project.scopeName, at: now)
      return number.text
    case .code(let code, let session):
      return try accounts.sentCodes.redeem(session: session, code: code, for: .signIn, of: project.scopeName, at: now)
    }
  }

  private func giveProof(of number: String, in project: AccountProject) -> PhoneSignIn {
    let now = accounts.clock.now()
    let token = accounts.newRefreshToken().text
    let lifetime = accounts.options.phoneCodeLifetime
    accounts.sentCodes.add(
      PhoneProof(project: project.scopeName, phoneNumber: number, expiresAt: now + lifetime), token: token, at: now)
    return .numberTaken(number: number, proof: token, lifetime: lifetime)
  }
}
