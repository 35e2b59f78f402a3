import TreeModel

/// Issues and verifies the ID tokens and session cookies of users (spec: auth-protocol §3).
///
/// One for the whole server. In development it also issues and believes unsigned tokens, as emulators do.
public final class IDTokenIssuer: Sendable {
  /// Whether tokens are signed.
  public enum Mode: Sendable, Hashable {
    /// Issued unsigned, and unsigned ones are believed: whoever reaches the server can be anybody. Signed ones are
    /// accepted too.
    case unsigned
    /// RS256, nothing else.
    case signed
  }

  /// How long an ID token is valid, in seconds.
  public static let lifetime: Int64 = 3600
  /// For how long a session cookie may be valid, in seconds.
  public static let cookieLifetimes: ClosedRange<Int64> = 300...1_209_600

  /// Whether tokens are signed.
  public let mode: Mode
  /// What signed tokens are signed with.
  public let keys: CurrentKeys
  private let verified: VerifiedTokens

  /// - Parameter cacheSize: how many verified tokens are kept in memory, so that their signatures are checked once.
  public init(mode: Mode, keys: CurrentKeys, cacheSize: Int = 4096) {
    self.mode = mode
    self.keys = keys
    verified = VerifiedTokens(capacity: cacheSize)
  }

  /// A new ID token.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970. The same reading that `validSince` and `signIn.time` come from, so that a token is
  ///     never older than the change that it was issued for.
  public func token(for subject: TokenSubject, _ signIn: SignIn, project: String, at now: Int64) throws(TokenFault) -> String {
    let claims = IDTokenClaims.of(subject, signIn, project: project, second: now / 1000)
    return try text(claims, at: now)
  }

  /// A session cookie for the holder of an ID token: its claims, another issuer, and a longer life.
  ///
  /// - Parameter duration: seconds, one of ``cookieLifetimes`` (`INVALID_DURATION` to clients otherwise); the caller checks.
  public func sessionCookie(for token: IDToken, duration: Int64, at now: Int64) throws(TokenFault) -> String {
    let own: [JSON.Member] = [
      JSON.Member(key: "iss", value: .string(Self.cookieIssuer(token.project))),
      JSON.Member(key: "iat", value: .int(now / 1000)), JSON.Member(key: "exp", value: .int(now / 1000 + duration)),
    ]
    let names = Set(own.map(\.key))
    let kept = (token.claims.object ?? []).filter { !names.contains($0.key) }
    return try text(.object(kept + own), at: now)
  }

  private func text(_ claims: JSON, at now: Int64) throws(TokenFault) -> String {
    switch mode {
    case .unsigned: WebToken.unsigned(claims)
    case .signed: try keys.ring.signingKey(at: now).token(claims)
    }
  }

  /// Verifies an ID token that this server issued.
  ///
  /// - Parameters:
  ///   - project: the project that it must be for; nil for any.
  ///   - now: milliseconds since 1970.
  /// - Throws: ``TokenFault``: ``TokenFault/expired`` is `TOKEN_EXPIRED` to clients, all else `INVALID_ID_TOKEN`.
  public func verify(_ text: String, project: String?, at now: Int64) throws(TokenFault) -> IDToken {
    try verify(text, project: project, at: now, issuer: Self.issuer)
  }

  /// Verifies a session cookie that this server issued, as ``verify(_:project:at:)`` does an ID token.
  public func verify(sessionCookie text: String, project: String?, at now: Int64) throws(TokenFault) -> IDToken {
    try verify(text, project: project, at: now, issuer: Self.cookieIssuer)
  }

  /// The issuer of a project's ID tokens: never the server's own address, admin SDKs compare it exactly.
  public static func issuer(_ project: String) -> String { "https://securetoken.google.com/" + project }
  /// The issuer of a project's session cookies.
  public static func cookieIssuer(_ project: String) -> String { "https://session.firebase.google.com/" + project }

  private func verify(_ text: String, project: String?, at now: Int64, issuer: (String) -> String) throws(TokenFault) -> IDToken
  {
    let token = try signedToken(text)
    if let project, project != token.project { throw .wrongAudience(token.project) }
    let expected = issuer(token.project)
    guard let found = token.claims["iss"]?.string, found == expected else {
      throw .wrongIssuer(String((token.claims["iss"]?.string ?? "nobody").unicodeScalars.prefix(100)))
    }
    if token.expiresAt != nil { try TokenTimes(token.claims).check(at: now) }
    return token
  }

  /// Reads a token and checks its signature, or finds it among those whose signature was checked.
  private func signedToken(_ text: String) throws(TokenFault) -> IDToken {
    if mode == .unsigned, let token = try? WebToken(parsing: text), token.algorithm == .none {
      return try IDTokenClaims.read(token.claims, isMock: token.isMock)
    }
    let ring = keys.ring
    if let known = verified.token(for: text, isPublished: { ring.verificationKey($0) != nil }) { return known }
    let token = try WebToken(parsing: text)
    try ring.check(token)
    let read = try IDTokenClaims.read(token.claims)
    verified.insert(read, for: text, signedWith: token.keyID)
    return read
  }
}
