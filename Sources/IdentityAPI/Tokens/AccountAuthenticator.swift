package import Accounts
package import Credentials
package import HTTPServer
package import StorageCore
import TreeModel

/// Who clients are, by their ID tokens; administrators by what the policy beneath says.
///
/// Nothing is read from the store: a token's signature is checked once and remembered, and whether it is void is known in
/// memory (`AccountWatch`).
package struct AccountAuthenticator: Authenticating {
  private let administrators: any Authenticating
  private let accounts: AccountService
  /// The project whose tokens are accepted; nil for any, in development.
  private let project: String?
  private let foreign: (any ForeignAuthenticating)?
  private let namespace: @Sendable (String) -> NamespaceID?

  /// - `administrators`: knows administrators, and everybody whom accounts do not.
  /// - `project`: the project whose tokens are accepted; nil for any, in development.
  /// - `foreign`: knows users whose tokens somebody else issues; nil where there are none.
  /// - `namespace`: the namespace of a project's accounts; nil if there is none.
  package init(
    administrators: any Authenticating, accounts: AccountService, project: String?, foreign: (any ForeignAuthenticating)? = nil,
    namespace: @escaping @Sendable (_ project: String) -> NamespaceID?
  ) {
    self.administrators = administrators
    self.accounts = accounts
    self.project = project
    self.foreign = foreign
    self.namespace = namespace
  }

  package func caller(_ credentials: RequestCredentials) throws(AccessError) -> Caller {
    guard let text = credentials.idToken ?? credentials.accessToken, Self.looksLikeToken(text) else {
      return try administrators.caller(credentials)
    }
    let token: IDToken
    do {
      token = try accounts.issuer.verify(text, project: project, at: accounts.clock.now())
    } catch {
      if error == .expired { throw .expiredToken }
      if let user = try foreignUser(of: text) { return user }
      // Development believes what looks like a token at all; production refuses.
      return try administrators.caller(credentials)
    }
    return try caller(token)
  }

  private func caller(_ token: IDToken) throws(AccessError) -> Caller {
    let caller = Caller(
      user: AuthVariable(uid: token.uid, claims: token.claims),
      validUntil: token.expiresAt.map { $0.multipliedReportingOverflow(by: 1000).partialValue })
    guard !isVoid(caller) else { throw .expiredToken }
    return caller
  }

  /// A user by the token of somebody else who is configured; nil if the token is of nobody such.
  private func foreignUser(of text: String) throws(AccessError) -> Caller? {
    guard let foreign else { return nil }
    let found: IDToken?
    do {
      found = try foreign.user(of: text, at: accounts.clock.now())
    } catch {
      switch error {
      case .expired: throw .expiredToken
      case .keysUnavailable: throw AccessError(error.description, isTemporary: true)
      default: throw AccessError(error.description)
      }
    }
    guard let found else { return nil }
    let caller = try caller(found)
    // Somebody else's token outlives what was decided here about the account of the same id; one read, for these only.
    if let project, let namespace = namespace(project) {
      let record: AccountRecord?
      do {
        record = try accounts.account(found.uid, of: AccountProject(name: project, namespace: namespace))
      } catch {
        throw AccessError(IdentityError(error).message, isTemporary: true)
      }
      if record?.isDisabled == true { throw AccessError("The account is disabled.") }
    }
    return caller
  }

  package func isVoid(_ caller: Caller) -> Bool {
    if caller.grant != nil { return administrators.isVoid(caller) }
    // Who came with something that never ends came with nothing that was issued here: there is nothing to take back.
    guard caller.validUntil != nil, let auth = caller.auth, let uid = auth.uid, let claims = auth.json["token"],
      let issuedAt = claims["iat"]?.int,
      let name = project ?? claims["aud"]?.string, let namespace = namespace(name)
    else { return false }
    return accounts.watch.revocation(of: uid, in: namespace, issuedAt: issuedAt, at: accounts.clock.now()) != nil
  }

  private static func looksLikeToken(_ text: String) -> Bool {
    text.utf8.count { $0 == UInt8(ascii: ".") } == 2 && !text.hasPrefix("ya29.")
  }
}

/// Users whose ID tokens somebody else issues: the composition knows whose, from the configuration.
package protocol ForeignAuthenticating: Sendable {
  /// Whose a token is; nil if it says that somebody issued it who is not configured.
  ///
  /// Called on event loops: it waits for nothing. Keys that are missing are fetched meanwhile.
  ///
  /// - Throws: `TokenError`; ``Credentials/TokenError/keysUnavailable(_:)`` if it can be judged later.
  func user(of token: String, at now: Int64) throws(TokenError) -> IDToken?
}
