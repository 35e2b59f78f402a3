import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// How an error is brought about: on which server, and the call that is refused.
struct Provocation: Sendable {
  typealias Call = @Sendable () async throws -> Void

  let mode: AccountFixture.Mode
  let change: @Sendable (inout AccountOptions) -> Void
  let surroundings: AccountFixture.Surroundings
  /// Does what has to be there before, and gives the call.
  let prepare: @Sendable (AccountFixture) async throws -> Call

  init(
    as mode: AccountFixture.Mode = .development, _ change: @escaping @Sendable (inout AccountOptions) -> Void = { _ in },
    with surroundings: AccountFixture.Surroundings = .init(),
    prepare: @escaping @Sendable (AccountFixture) async throws -> Call
  ) {
    self.mode = mode
    self.change = change
    self.surroundings = surroundings
    self.prepare = prepare
  }
}

/// Every error is one that somebody can get.
struct AccountErrorTests {
  @Test("every error has a call that ends in it, and that call changes nothing", arguments: AccountErrorKind.allCases)
  func every(kind: AccountErrorKind) async throws {
    let provocation = try Provocation.of(kind)
    try await AccountFixture.run(as: provocation.mode, provocation.change, with: provocation.surroundings) { fixture in
      let call = try await provocation.prepare(fixture)
      let before = try fixture.stored()
      let error = await fixture.error(call)
      #expect(error.map { AccountErrorKind($0) } == kind, "\(error.map { "\($0)" } ?? "nothing was thrown")")
      #expect(try fixture.stored() == before)
    }
  }
}

/// What a store has of accounts.
struct StoredAccounts: Equatable {
  let accounts: [AccountRecord]
  let sessions: [RefreshTokenRecord]
  let revocations: Set<AccountRevocation>
  let settings: AccountSettings
  let letters: Int
}

extension AccountFixture {
  func stored() throws -> StoredAccounts {
    let namespace = project.namespace
    let settings = try accounts.settings(of: project)
    return try read { (snapshot) throws(StorageError) in
      StoredAccounts(
        accounts: try snapshot.accounts(in: namespace, after: nil, limit: 100),
        sessions: try snapshot.refreshTokens(in: namespace, after: nil, limit: 100),
        revocations: Set(try snapshot.accountRevocations(in: namespace)), settings: settings,
        letters: try snapshot.outbox(in: namespace, state: .waiting, after: nil, limit: 100).count)
    }
  }
}

extension Provocation {
  /// How an error is brought about.
  static func of(_ kind: AccountErrorKind) throws -> Provocation {
    switch kind {
    case .unknownAccount: unknownAccount
    case .disabledAccount: disabledAccount
    case .emailTaken: emailTaken
    case .phoneNumberTaken: phoneNumberTaken
    case .identityTaken: identityTaken
    case .uidTaken: uidTaken
    case .noEmail: noEmail
    case .notDisabled: notDisabled
    case .unknownTenant: unknownTenant
    case .tenantMismatch: tenantMismatch
    case .disabledTenant: disabledTenant
    case .tenantsOff: tenantsOff
    case .notForTenants: notForTenants
    case .emailLinksDisabled: emailLinksDisabled
    case .providerConfigurationTaken: providerConfigurationTaken
    case .unknownProviderConfiguration: unknownProviderConfiguration
    case .disabledProvider: disabledProvider
    case .missingIDToken: missingIDToken
    case .invalidIDToken: invalidIDToken
    case .expiredToken: expiredToken
    case .invalidRefreshToken: invalidRefreshToken
    case .signInTooOld: signInTooOld
    case .invalidCustomToken: invalidCustomToken
    case .invalidCookieDuration: invalidCookieDuration
    case .unknownEmail: unknownEmail
    case .wrongPassword: wrongPassword
    case .wrongCredentials: wrongCredentials
    case .passwordSignInDisabled: passwordSignInDisabled
    case .passwordsDisabled: passwordsDisabled
    case .signUpDisabled: signUpDisabled
    case .passwordTooShort: passwordTooShort
    case .passwordTooLong: passwordTooLong
    case .unmetPasswordRequirements: unmetPasswordRequirements
    case .tooManyFailures: tooManyFailures
    case .tooManyPasswords: tooManyPasswords
    case .tooManyCodes: tooManyCodes
    case .concurrentChange: concurrentChange
    case .unavailable: unavailable
    case .rejected: rejected
    default: try ofCredentials(kind)
    }
  }
}
