package import TreeModel

/// The key of a service account, as it is handed out: once, as a file of Google's format that admin SDKs read.
package struct ServiceAccountKey: Sendable {
  /// The longest name, in characters.
  package static let nameMax = 63

  /// The account's name: small letters, digits and hyphens.
  package let name: String
  /// The project that it works for.
  package let project: String
  /// The account's mail address: its name towards the server (`iss`).
  package var email: String { Self.email(of: name, in: project) }
  /// The server's address as SDKs reach it, such as `https://rewards.example.com`, without a slash at the end.
  package let server: String
  /// Where SDKs get access tokens (`token_uri`).
  package var tokenURI: String { server + "/token" }
  /// The key; its public half is what the server keeps.
  package let key: SigningKey

  /// - Precondition: the name is legal (``isLegal(name:)``).
  package init(name: String, project: String, server: String, key: SigningKey) {
    precondition(Self.isLegal(name: name), "\(name) is no name for a service account.")
    self.name = name
    self.project = project
    self.server = server
    self.key = key
  }

  /// Reads a key file; nil if it is none of this product's.
  package init?(file: JSON) {
    guard file["type"]?.string == "service_account", let email = file["client_email"]?.string,
      let tokenURI = file["token_uri"]?.string, tokenURI.hasSuffix("/token"),
      let key = file["private_key"]?.string.flatMap({ try? SigningKey(pem: $0) })
    else { return nil }
    let name = String(email.prefix { $0 != "@" })
    let project = String(email.dropFirst(name.count + 1).prefix { $0 != "." })
    guard Self.isLegal(name: name), Self.email(of: name, in: project) == email else { return nil }
    self.init(name: name, project: project, server: String(tokenURI.dropLast("/token".count)), key: key)
  }

  /// What the account signs to get an access token.
  ///
  /// - Parameter now: milliseconds since 1970.
  package func assertion(at now: Int64) throws(TokenError) -> String {
    try key.token([
      "iss": .string(email), "sub": .string(email), "aud": .string(tokenURI), "iat": .int(now / 1000),
      "exp": .int(now / 1000 + ServiceAccountAssertion.lifetimeMax),
    ])
  }

  /// The mail address of an account of this name.
  package static func email(of name: String, in project: String) -> String { "\(name)@\(project).iam.gserviceaccount.com" }

  /// Whether an account may be called so: 1 to 63 of `a-z`, `0-9` and `-`, a letter first.
  package static func isLegal(name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard let first = bytes.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first), bytes.count <= nameMax else {
      return false
    }
    return bytes.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "-")
    }
  }

  /// The key file's content.
  package var file: JSON {
    [
      "type": "service_account", "project_id": .string(project), "private_key_id": .string(key.id.text),
      "private_key": .string(key.pem + "\n"), "client_email": .string(email), "client_id": .string(clientID),
      "token_uri": .string(tokenURI), "universe_domain": "googleapis.com",
    ]
  }

  /// Google's client ids are numbers of 21 digits; this one comes from the key's name.
  private var clientID: String {
    let number = key.id.text.utf8.reduce(UInt64(17)) { ($0 &* 1_099_511_628_211) ^ UInt64($1) }
    let digits = String(number)
    return "1" + String(repeating: "0", count: 20 - digits.utf8.count) + digits
  }
}

/// What a service account signs to get an access token (RFC 7523; `urn:ietf:params:oauth:grant-type:jwt-bearer`).
///
/// An assertion may be sent again by anyone who has seen it, so the access token that it buys ends with it (``expiresAt``):
/// a second sending gives nothing that the first did not.
package struct ServiceAccountAssertion: Sendable, Hashable {
  /// The grant type of the request that carries one.
  package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  /// What Google's library for Python writes as the audience, whatever the key file says. Accepted beside the file's own:
  /// the key is known here alone, so there is nobody else whom the assertion could have been made for.
  static let googleAudience = "https://oauth2.googleapis.com/token"
  /// How long an assertion may be valid, in seconds.
  package static let lifetimeMax: Int64 = 3600

  /// What is known of a live service account's key.
  package struct Signer: Sendable {
    /// The key's name.
    package let id: KeyID
    /// Its public half.
    package let key: VerificationKey
    /// The address of the token endpoint that stands in the key file: what an assertion must be meant for.
    package let tokenURI: String

    package init(id: KeyID, key: VerificationKey, tokenURI: String) {
      self.id = id
      self.key = key
      self.tokenURI = tokenURI
    }
  }

  /// Who signed it (`iss`): a mail address.
  package let email: String
  /// With which of the account's keys.
  package let keyID: KeyID
  /// When it ends, in seconds since 1970.
  package let expiresAt: Int64
  /// What for (`scope`), as it was written; empty if it does not say.
  package let scope: String

  /// Verifies an assertion.
  ///
  /// - `now`: milliseconds since 1970.
  /// - `signer`: the key of a live service account by mail address and key name, or nil if there is none. Google's library for
  ///   Node names no key in what it signs; then it is the account's one key.
  /// - Throws: ``TokenError``
  package init(
    _ text: String, at now: Int64, signer: (_ email: String, _ id: KeyID?) -> Signer?
  ) throws(TokenError) {
    let token = try WebToken(parsing: text)
    guard token.algorithm != .none else { throw .unsupportedAlgorithm("none") }
    guard let email = token.claims["iss"]?.string, !email.isEmpty else {
      throw .malformed("it names no service account (iss).")
    }
    guard let signer = signer(email, token.keyID) else { throw .unknownKey(token.keyID) }
    try token.check(signature: signer.key)
    // Acting for another user is not a thing here: who signs is who acts.
    if let subject = token.claims["sub"]?.string, subject != email { throw .wrongIssuer(email) }
    let audience = token.claims["aud"]?.string ?? "nobody"
    guard audience == signer.tokenURI || audience == Self.googleAudience else {
      throw .wrongAudience(String(audience.unicodeScalars.prefix(200)))
    }
    let times = try TokenTimes(token.claims)
    try times.check(at: now, skew: TokenTimes.skew)
    guard times.expiresAt - times.issuedAt <= Self.lifetimeMax else { throw .malformed("it is valid for more than an hour.") }
    self.email = email
    keyID = signer.id
    expiresAt = times.expiresAt
    scope = token.claims["scope"]?.string ?? ""
  }
}
