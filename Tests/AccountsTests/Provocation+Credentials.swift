import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Errors of mailed codes, telephones, second factors, identities at providers, and imports.
extension Provocation {
  static func ofCredentials(_ kind: AccountErrorKind) throws -> Provocation {
    switch kind {
    case .invalidCode: invalidCode
    case .expiredCode: expiredCode
    case .wrongCodeEmail: wrongCodeEmail
    case .unauthorizedDomain: unauthorizedDomain
    case .unknownServerAddress: unknownServerAddress
    case .unverifiedEmailChange: unverifiedEmailChange
    case .phonesUnavailable: phonesUnavailable
    case .phoneIsSecondFactor: phoneIsSecondFactor
    case .unknownCodeSession: unknownCodeSession
    case .expiredCodeSession: expiredCodeSession
    case .wrongOneTimeCode: wrongOneTimeCode
    case .invalidPhoneProof: invalidPhoneProof
    case .unsupportedFirstFactor: unsupportedFirstFactor
    case .unverifiedEmail: unverifiedEmail
    case .tooManySecondFactors: tooManySecondFactors
    case .secondFactorTaken: secondFactorTaken
    case .unknownSecondFactor: unknownSecondFactor
    case .duplicateSecondFactorID: duplicateSecondFactorID
    case .invalidPendingCredential: invalidPendingCredential
    case .phoneFactorsDisabled: phoneFactorsDisabled
    case .authenticatorsDisabled: authenticatorsDisabled
    case .notATelephone: notATelephone
    case .missingAuthenticatorSecret: missingAuthenticatorSecret
    case .unreadableIdentity: identity(#"{"sub"#)
    case .identityWithoutSubject: identity("{}")
    case .identityWithoutIDToken: identity(nil)
    case .opaqueAccessToken: identity("EAAB")
    case .unknownProvider: unknownProvider
    case .invalidIdentityToken: try invalidIdentityToken()
    case .importedAccountExists: imported { $0.displayName = "Jim" }
    case .importedEmailTaken: imported(uid: "b") { $0.email = "jim@x.io" }
    case .importedPhoneNumberTaken: imported(uid: "b") { $0.phoneNumber = "+15550100" }
    case .importedIdentityTaken: imported(uid: "b") { $0.providers = [.init(id: "google.com", rawID: "g1")] }
    case .importedFactorsNeedEmail: imported(uid: "b", withFactor: true) { _ in }
    case .importedFactorsNeedVerifiedEmail: imported(uid: "b", withFactor: true) { $0.email = "b@x.io" }
    case .refusedByDecision: decided { _ in throw AccountError.refusedByDecision("No.") }
    case .decisionFailed: decided { _ in throw AccountError.decisionFailed("Broken.") }
    default: throw Unnamed(kind: kind)
    }
  }

  /// No provocation is named for an error.
  struct Unnamed: Error { let kind: AccountErrorKind }

  // MARK: Mailed codes

  static let invalidCode = Provocation { fixture in
    let code = try await fixture.mail(.signIn(fixture.email("jim@x.io")))
    return { _ = try await fixture.accounts.emailCodes.apply(code, context: fixture.client) }
  }

  static let expiredCode = Provocation { fixture in
    let email = try fixture.email("jim@x.io")
    let code = try await fixture.mail(.signIn(email))
    fixture.clock.advance(by: 3_600_000)
    return { _ = try await fixture.signInByLink(email, code: code) }
  }

  static let wrongCodeEmail = Provocation { fixture in
    let code = try await fixture.mail(.signIn(fixture.email("jim@x.io")))
    return { _ = try await fixture.signInByLink(fixture.email("ann@x.io"), code: code) }
  }

  static let unauthorizedDomain = Provocation(as: .production) { fixture in
    var request = CodeRequest(.signIn(try fixture.email("jim@x.io")))
    request.continueURL = "https://evil.example"
    return { [request] in _ = try await fixture.accounts.emailCodes.send(request, fixture.client) }
  }

  static let unknownServerAddress = Provocation(as: .production, { $0.publicURL = nil }) { fixture in
    { _ = try await fixture.mail(.signIn(fixture.email("jim@x.io"))) }
  }

  static let unverifiedEmailChange = Provocation { fixture in
    let player = try await fixture.signUp("jim@x.io")
    try await fixture.configure { $0.hidesAddresses = true }
    return { _ = try await fixture.update(player, email: "new@x.io") }
  }

  // MARK: Telephones

  static let phonesUnavailable = Provocation(as: .production) { fixture in
    { try fixture.accounts.phones.checkAvailable(in: fixture.project) }
  }

  static let phoneIsSecondFactor = Provocation { fixture in
    let player = try await fixture.verifiedPlayer("jim@x.io")
    _ = try await fixture.enrolAuthenticator(player)
    return { _ = try await fixture.signInByPhone(fixture.number(), linking: player) }
  }

  static let unknownCodeSession = Provocation { fixture in
    { _ = try await fixture.signInByPhone(.code("000000", session: "x")) }
  }

  static let expiredCodeSession = Provocation { fixture in
    let sent = try fixture.sendPhoneCode(fixture.number())
    fixture.clock.advance(by: 300_000)
    return { _ = try await fixture.signInByPhone(.code(sent.code, session: sent.session)) }
  }

  static let wrongOneTimeCode = Provocation { fixture in
    let sent = try fixture.sendPhoneCode(fixture.number())
    return { _ = try await fixture.signInByPhone(.code("", session: sent.session)) }
  }

  static let invalidPhoneProof = Provocation { fixture in
    { _ = try await fixture.signInByPhone(.proof("x", number: fixture.number())) }
  }

  // MARK: Second factors

  static let unsupportedFirstFactor = Provocation { fixture in
    let player = try await fixture.anonymous()
    return { _ = try await fixture.enrolAuthenticator(player) }
  }

  static let unverifiedEmail = Provocation { fixture in
    let player = try await fixture.signUp("jim@x.io")
    return { _ = try await fixture.enrolAuthenticator(player) }
  }

  static let tooManySecondFactors = Provocation { fixture in
    let player = try await fixture.verifiedPlayer("jim@x.io")
    let factors = try (1...6).map { SecondFactorDraft(.phone(try fixture.number("+1555010\($0)"))) }
    return { try await fixture.administer(player.uid) { $0.secondFactors = factors } }
  }

  static let secondFactorTaken = Provocation { fixture in
    let number = try fixture.number()
    let player = try await fixture.enrol(number, for: try await fixture.verifiedPlayer("jim@x.io"))
    return { _ = try await fixture.enrol(number, for: player) }
  }

  static let unknownSecondFactor = Provocation { fixture in
    let player = try await fixture.verifiedPlayer("jim@x.io")
    return { try await fixture.withdraw("x", of: player) }
  }

  static let duplicateSecondFactorID = Provocation { fixture in
    let player = try await fixture.verifiedPlayer("jim@x.io")
    let factors = try (1...2).map { SecondFactorDraft(.phone(try fixture.number("+1555010\($0)")), id: "one") }
    return { try await fixture.administer(player.uid) { $0.secondFactors = factors } }
  }

  static let invalidPendingCredential = Provocation { fixture in
    { try fixture.accounts.secondFactors.check(pending: "x", of: fixture.project) }
  }

  static let phoneFactorsDisabled = Provocation { fixture in
    let player = try await fixture.verifiedPlayer("jim@x.io")
    try await fixture.configure { $0.secondFactors = SecondFactorPolicy(allowsPhone: false, adjacentSteps: 5) }
    return { _ = try await fixture.enrol(fixture.number(), for: player) }
  }

  static let authenticatorsDisabled = Provocation { fixture in
    let player = try await fixture.verifiedPlayer("jim@x.io")
    try await fixture.configure { $0.secondFactors = SecondFactorPolicy(allowsPhone: true, adjacentSteps: nil) }
    return { _ = try await fixture.enrolAuthenticator(player) }
  }

  static let notATelephone = Provocation { fixture in
    let (own, _) = try await fixture.enrolAuthenticator(try await fixture.verifiedPlayer("jim@x.io"))
    let pending = try #require(try await fixture.signIn("jim@x.io").pending)
    return { _ = try fixture.accounts.secondFactors.sendCode(to: own.id, pending: pending, of: fixture.project) }
  }

  static let missingAuthenticatorSecret = Provocation { fixture in
    let player = try await fixture.verifiedPlayer("jim@x.io")
    return { try await fixture.administer(player.uid) { $0.secondFactors = [SecondFactorDraft(.authenticator(nil))] } }
  }

  // MARK: Identities at providers

  /// In development an access token stands for an identity.
  static func identity(_ accessToken: String?) -> Provocation {
    Provocation { fixture in { _ = try await fixture.signIn(accessToken: accessToken) } }
  }

  static let unknownProvider = Provocation(as: .production) { fixture in
    { _ = try await fixture.signIn(token: "x", of: "google.com") }
  }

  static func invalidIdentityToken() throws -> Provocation {
    Provocation(as: .production, with: .init(identities: try StudioIdentities())) { fixture in
      { _ = try await fixture.signIn(token: "x", of: "google.com") }
    }
  }

  // MARK: Decisions of the deployment

  /// A sign-up that somebody decides about.
  private static func decided(_ decide: @escaping @Sendable (SignInQuestion) async throws -> SignInAllowance) -> Provocation {
    Provocation(with: .init(decider: ScriptedDecider(decide))) { fixture in { _ = try await fixture.anonymous() } }
  }

  // MARK: Imports

  /// An import of one row, where there is an account `a` with an address, a number and an identity.
  static func imported(
    uid: String = "a", withFactor: Bool = false, _ fill: @escaping @Sendable (inout AccountRecord) -> Void
  ) -> Provocation {
    Provocation { fixture in
      var draft = AccountDraft()
      (draft.email, draft.phoneNumber) = (try fixture.email("jim@x.io"), try fixture.number("+15550100"))
      _ = try await fixture.accounts.create(draft, uid: AccountID("a"), fixture.administrator)
      var edits = AccountEdits()
      edits.link = .init(id: "google.com", rawID: "g1")
      _ = try await fixture.accounts.update("a", to: AccountDraft(), edits: edits, fixture.administrator)
      let factors = withFactor ? [SecondFactorDraft(.phone(try fixture.number()))] : nil
      return {
        var record = AccountRecord(uid: uid, createdAt: 0)
        fill(&record)
        let row = try ImportedAccount(record, secondFactors: factors)
        let errors = try await fixture.accounts.importer.store(
          [(0, row)], overwrites: false, triggers: false, context: fixture.administrator)
        throw try #require(errors.first).error
      }
    }
  }
}
