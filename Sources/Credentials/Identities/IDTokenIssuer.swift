import Crypto
import Synchronization
import TextFormats
import TreeModel

/// Issues and verifies the ID tokens and session cookies of users.
///
/// One for the whole server. In development it also issues and believes unsigned tokens, as emulators do.
package final class IDTokenIssuer: Sendable {
  /// Whether tokens are signed.
  package enum Mode: Sendable, Hashable {
    /// Issued unsigned, and unsigned ones are believed: anyone who reaches the server can be any user. Signed ones are
    /// accepted too.
    case unsigned
    /// RS256, nothing else.
    case signed
  }

  /// How long an ID token is valid, in seconds.
  package static let lifetime: Int64 = 3600
  /// For how long a session cookie may be valid, in seconds.
  package static let cookieLifetimes: ClosedRange<Int64> = 300...1_209_600

  /// Whether tokens are signed.
  package let mode: Mode
  /// What signed tokens are signed with.
  package let keys: CurrentKeys
  private let verified: VerifiedTokens

  /// - `cacheSize`: how many verified tokens are kept in memory, so that their signatures are checked once.
  package init(mode: Mode, keys: CurrentKeys, cacheSize: Int = 4096) {
    self.mode = mode
    self.keys = keys
    verified = VerifiedTokens(capacity: cacheSize)
  }

  /// A new ID token.
  ///
  /// - `now`: milliseconds since 1970. The same reading that `validSince` and `signIn.time` come from, so that a token is
  ///   never older than the change that it was issued for.
  package func token(for subject: TokenSubject, signIn: SignIn, project: String, at now: Int64) throws(TokenError) -> String {
    let claims = IDTokenClaims.of(subject, signIn: signIn, project: project, second: now / 1000)
    return try text(claims, at: now)
  }

  /// A session cookie for the holder of an ID token: its claims, another issuer, and a longer life.
  ///
  /// - `duration`: seconds, one of ``cookieLifetimes`` (`INVALID_DURATION` to clients otherwise); the caller checks.
  package func sessionCookie(for token: IDToken, duration: Int64, at now: Int64) throws(TokenError) -> String {
    let own: [JSON.Member] = [
      JSON.Member(key: "iss", value: .string(Self.cookieIssuer(token.project))),
      JSON.Member(key: "iat", value: .int(now / 1000)), JSON.Member(key: "exp", value: .int(now / 1000 + duration)),
    ]
    let names = Set(own.map(\.key))
    let kept = (token.claims.object ?? []).filter { !names.contains($0.key) }
    return try text(.object(kept + own), at: now)
  }

  private func text(_ claims: JSON, at now: Int64) throws(TokenError) -> String {
    switch mode {
    case .unsigned: WebToken.unsigned(claims)
    case .signed: try keys.ring.signingKey(at: now).token(claims)
    }
  }

  /// Verifies an ID token that this server issued.
  ///
  /// - `project`: the project that it must be for; nil for any.
  /// - `now`: milliseconds since 1970.
  /// - Throws: ``TokenError``: ``TokenError/expired`` is `TOKEN_EXPIRED` to clients, all else `INVALID_ID_TOKEN`.
  package func verify(_ text: String, project: String?, at now: Int64) throws(TokenError) -> IDToken {
    try verify(text, project: project, at: now, issuer: Self.issuer)
  }

  /// Verifies a session cookie that this server issued, as ``verify(_:project:at:)`` does an ID token.
  package func verify(sessionCookie text: String, project: String?, at now: Int64) throws(TokenError) -> IDToken {
    try verify(text, project: project, at: now, issuer: Self.cookieIssuer)
  }

  /// The issuer of a project's ID tokens: never the server's own address, admin SDKs compare it exactly.
  package static func issuer(_ project: String) -> String { "https://securetoken.google.com/" + project }
  /// The issuer of a project's session cookies.
  package static func cookieIssuer(_ project: String) -> String { "https://session.firebase.google.com/" + project }

  private func verify(_ text: String, project: String?, at now: Int64, issuer: (String) -> String) throws(TokenError) -> IDToken
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
  private func signedToken(_ text: String) throws(TokenError) -> IDToken {
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

/// Tokens whose signature was checked, so that it is checked once: a check costs 30 µs, looking here 1 µs.
///
/// Bounded: there are two generations, and when the young one is half of the capacity the old one is forgotten. Kept by the
/// token's hash, so that nobody chooses who meets whom in the table.
final class VerifiedTokens: Sendable {
  private struct Entry {
    let token: IDToken
    let key: KeyID
  }

  private struct Generations {
    var young: [SHA256Digest: Entry] = [:]
    var old: [SHA256Digest: Entry] = [:]
  }

  private let capacity: Int
  private let generations = Mutex(Generations())

  init(capacity: Int) {
    self.capacity = max(2, capacity)
  }

  /// The token of a text; nil if it is not known, or its key is no longer published.
  func token(for text: String, isPublished: (KeyID) -> Bool) -> IDToken? {
    guard text.utf8.count <= WebToken.sizeMax else { return nil }
    let hash = Self.hash(text)
    let entry = generations.withLock { generations -> Entry? in
      if let entry = generations.young[hash] { return entry }
      guard let entry = generations.old.removeValue(forKey: hash) else { return nil }
      insert(entry, hash, in: &generations)
      return entry
    }
    guard let entry, isPublished(entry.key) else { return nil }
    return entry.token
  }

  func insert(_ token: IDToken, for text: String, signedWith key: KeyID?) {
    guard let key else { return }
    let hash = Self.hash(text)
    generations.withLock { insert(Entry(token: token, key: key), hash, in: &$0) }
  }

  /// How many are kept.
  var count: Int { generations.withLock { $0.young.count + $0.old.count } }

  private func insert(_ entry: Entry, _ hash: SHA256Digest, in generations: inout Generations) {
    if generations.young.count >= capacity / 2 {
      generations.old = generations.young
      generations.young = [:]
    }
    generations.young[hash] = entry
  }

  private static func hash(_ text: String) -> SHA256Digest {
    var text = text
    return text.withUTF8 { buffer in
      var hasher = SHA256()
      hasher.update(bufferPointer: UnsafeRawBufferPointer(buffer))
      return hasher.finalize()
    }
  }
}

/// A refresh token: a secret without content. The server keeps its hash; who reads the database cannot use it.
package struct RefreshToken: Sendable, Hashable {
  /// How many random bytes it is made of.
  private static let size = 32

  /// What the client keeps: 43 characters.
  package let text: String

  /// A new one.
  package init(using random: inout some RandomNumberGenerator) {
    text = Base64.encode((0..<Self.size).map { _ in UInt8.random(in: 0...255, using: &random) }, as: .url)
  }

  /// One that a client sent; nil if it cannot be one (`INVALID_REFRESH_TOKEN`).
  package init?(_ text: String) {
    guard text.utf8.count == 43, Base64.decode(text.utf8)?.count == Self.size else { return nil }
    self.text = text
  }

  /// What is stored: SHA-256 of the text, 32 bytes. Plain, for what is hashed is 256 bits of chance.
  package var hash: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}
