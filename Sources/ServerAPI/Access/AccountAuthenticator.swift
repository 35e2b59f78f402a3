public import Accounts
import Credentials
public import StorageCore
import TreeModel

/// Who clients are, by their ID tokens; administrators by what the policy beneath says.
///
/// Nothing is read from the store: a token's signature is checked once and remembered, and whether it is void is known in
/// memory (``Accounts/AccountWatch``).
public struct AccountAuthenticator: Authenticating {
  private let administrators: any Authenticating
  private let book: AccountBook
  /// The project whose tokens are accepted; nil for any, in development.
  private let project: String?
  private let namespace: @Sendable (String) -> NamespaceID?

  /// - Parameters:
  ///   - administrators: knows administrators, and everybody whom accounts do not.
  ///   - project: the project whose tokens are accepted; nil for any, in development.
  ///   - namespace: the namespace of a project's accounts; nil if there is none.
  public init(
    administrators: any Authenticating, book: AccountBook, project: String?,
    namespace: @escaping @Sendable (_ project: String) -> NamespaceID?
  ) {
    self.administrators = administrators
    self.book = book
    self.project = project
    self.namespace = namespace
  }

  public func caller(_ credentials: RequestCredentials) throws(AccessRefusal) -> Caller {
    guard let text = credentials.idToken ?? credentials.accessToken, Self.looksLikeToken(text) else {
      return try administrators.caller(credentials)
    }
    let token: IDToken
    do throws(TokenFault) {
      token = try book.issuer.verify(text, project: project, at: book.clock.now())
    } catch {
      if error == .expired { throw .expiredToken }
      // Development believes what looks like a token at all; production refuses.
      return try administrators.caller(credentials)
    }
    let caller = Caller(
      user: AuthVariable(uid: token.uid, claims: token.claims),
      validUntil: token.expiresAt.multipliedReportingOverflow(by: 1000).partialValue)
    guard !isVoid(caller) else { throw .expiredToken }
    return caller
  }

  public func isVoid(_ caller: Caller) -> Bool {
    guard let auth = caller.auth, let uid = auth.uid, let claims = auth.json["token"], let issuedAt = claims["iat"]?.int,
      let namespace = claims["aud"]?.string.flatMap(namespace)
    else { return false }
    return book.watch.revocation(of: uid, in: namespace, issuedAt: issuedAt, at: book.clock.now()) != nil
  }

  private static func looksLikeToken(_ text: String) -> Bool {
    text.utf8.count { $0 == UInt8(ascii: ".") } == 2 && !text.hasPrefix("ya29.")
  }
}

extension AccessRefusal {
  /// A token whose time is over, or that was made void.
  static let expiredToken = AccessRefusal("Auth token is expired")
}
