import TextFormats
package import TreeModel

/// A JSON web token taken apart (RFC 7515, compact form): read, not yet believed.
///
/// Reading is bounded in size and depth, and never traps. A caller that wants to believe the claims calls
/// ``check(signature:)`` first, with the key that *they* chose: what the header says about keys is only a name to look up.
package struct WebToken: Sendable {
  /// The longest text that is looked at, in bytes.
  package static let sizeMax = 16_384
  /// How deep the claims may be nested.
  static let depthMax = 16

  /// How the token says it is signed.
  package let algorithm: TokenAlgorithm
  /// Which key it says it is signed with.
  package let keyID: KeyID?
  /// What it says it is (`typ`): `JWT`, if it says so.
  let mediaType: String?
  /// What it says: an object.
  package let claims: JSON
  /// The bytes that the signature is over.
  let signedBytes: [UInt8]
  let signature: [UInt8]

  /// Takes a token apart.
  ///
  /// - Throws: ``TokenError/malformed(_:)``, ``TokenError/unsupportedAlgorithm(_:)``.
  package init(parsing text: String) throws(TokenError) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.sizeMax else { throw .malformed("it is longer than \(Self.sizeMax) bytes.") }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("it has \(parts.count) parts instead of three.") }
    let header = try Self.object(parts[0], name: "header")
    claims = try Self.object(parts[1], name: "payload")
    guard let name = header["alg"]?.string else { throw .malformed("its header has no alg.") }
    guard let algorithm = TokenAlgorithm(rawValue: name) else {
      throw .unsupportedAlgorithm(String(name.unicodeScalars.prefix(20)))
    }
    // Nothing critical is understood here (RFC 7515 §4.1.11).
    guard header["crit"] == nil else { throw .malformed("its header has critical extensions, and none is known here.") }
    self.algorithm = algorithm
    keyID = header["kid"]?.string.map(KeyID.init)
    mediaType = header["typ"]?.string
    guard let signature = Base64.decode(parts[2]) else { throw .malformed("its signature is not base64url.") }
    guard algorithm == .none || !signature.isEmpty else { throw .badSignature }
    self.signature = signature
    signedBytes = Array(bytes[..<(parts[1].endIndex)])
  }

  /// Whether the signature is the key's, over exactly this text.
  ///
  /// - Throws: ``TokenError/badSignature``; ``TokenError/unsupportedAlgorithm(_:)`` if the key is for another algorithm, or
  ///   the token is unsigned.
  package func check(signature key: VerificationKey) throws(TokenError) {
    guard algorithm == key.algorithm else { throw .unsupportedAlgorithm(algorithm.rawValue) }
    guard key.isValid(signature, for: signedBytes) else { throw .badSignature }
  }

  private static func object(_ part: ArraySlice<UInt8>, name: String) throws(TokenError) -> JSON {
    guard let bytes = Base64.decode(part) else { throw .malformed("its \(name) is not base64url.") }
    guard let json = try? JSONParser.parse(bytes, depthMax: depthMax), let members = json.object else {
      throw .malformed("its \(name) is no JSON object.")
    }
    // Readers disagree about which of two members counts; a token that says a thing twice says nothing.
    guard Set(members.map(\.key)).count == members.count else { throw .malformed("its \(name) repeats a member.") }
    return json
  }
}

extension WebToken {
  /// Whether a test library made the token up, for a user who need not exist (`mockUserToken` of Firebase's JavaScript SDK).
  ///
  /// Such a token is unsigned and of the year 1970, unless the test gives it times of its own; and its header has `type` where
  /// every token that this server issues has `typ`.
  var isMock: Bool { algorithm == .none && (claims["iat"]?.int == 0 || mediaType == nil) }

  /// The text of an unsigned token, as emulators issue it: the last part is empty, its dot is there.
  package static func unsigned(_ claims: JSON) -> String {
    let bytes = signedBytes(header: ["alg": "none", "typ": "JWT"], claims: claims)
    return String(decoding: bytes, as: UTF8.self) + "."
  }

  /// The two parts that a signature is over.
  static func signedBytes(header: JSON, claims: JSON) -> [UInt8] {
    var bytes: [UInt8] = []
    for json in [header, claims] {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: ".")) }
      var writer = JSONWriter()
      writer.write(json)
      bytes.append(contentsOf: Base64.encode(writer.bytes, as: .url).utf8)
    }
    return bytes
  }
}

/// How a token is signed (`alg`). Every other name is refused, `HS256` among them: a public key is never a shared secret.
package enum TokenAlgorithm: String, Sendable, Hashable {
  /// Not at all; only where a mode says so.
  case none
  /// RSA, PKCS #1 v1.5, SHA-256.
  case rs256 = "RS256"
  /// The curve P-256, SHA-256.
  case es256 = "ES256"
}

/// Why a token was not accepted.
package enum TokenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No token at all, or a claim of the wrong shape. The text says what.
  case malformed(String)
  /// Signed in a way that is not accepted here; the name is the token's.
  case unsupportedAlgorithm(String)
  /// Signed with a key that is not, or no longer, published. Nil if the token names none.
  case unknownKey(KeyID?)
  /// The signature does not belong to the text.
  case badSignature
  /// Issued by somebody else.
  case wrongIssuer(String)
  /// Meant for somebody else, or another project.
  case wrongAudience(String)
  /// Its time is over (`TOKEN_EXPIRED` to clients).
  case expired
  /// Its time has not come: issued in the future.
  case notYetValid
  /// The nonce is missing or another (`MISSING_OR_INVALID_NONCE` to clients).
  case wrongNonce
  /// Nobody knows at the moment: the keys of its issuer, whose name this is, cannot be had. Another time it may be good.
  case keysUnavailable(String)

  package var description: String {
    switch self {
    case .malformed(let what): "The token is malformed: \(what)"
    case .unsupportedAlgorithm(let name): "The token is signed with \(name), which is not accepted here."
    case .unknownKey(let key?): "The token is signed with the key \(key), which is not published."
    case .unknownKey(nil): "The token does not name the key that it is signed with."
    case .badSignature: "The token's signature does not fit."
    case .wrongIssuer(let issuer): "The token was issued by \(issuer), which is not accepted here."
    case .wrongAudience(let audience): "The token is meant for \(audience)."
    case .expired: "The token has expired. Get a new one and try again."
    case .notYetValid: "The token is not valid yet. Check the clock of the machine that issued it."
    case .wrongNonce: "The token's nonce is missing, or not the one that was asked for."
    case .keysUnavailable(let issuer):
      "The token cannot be checked now, for the public keys of \(issuer) cannot be fetched. Try again in a minute."
    }
  }
}

/// When a token was issued and when it ends, in seconds since 1970, as claims have it.
package struct TokenTimes: Sendable, Hashable {
  /// How far the clocks of two machines may be apart, in seconds.
  package static let skew: Int64 = 60
  /// Beyond this no time is believed: the year 9999.
  private static let latest: Int64 = 253_402_300_799

  /// `iat`.
  package let issuedAt: Int64
  /// `exp`.
  package let expiresAt: Int64
  private let notBefore: Int64

  /// Reads `iat`, `exp` and, where it is there, `nbf`.
  ///
  /// - Throws: ``TokenError/malformed(_:)``
  package init(_ claims: JSON) throws(TokenError) {
    issuedAt = try Self.time("iat", of: claims)
    expiresAt = try Self.time("exp", of: claims)
    notBefore = claims["nbf"] == nil ? issuedAt : max(issuedAt, try Self.time("nbf", of: claims))
  }

  private static func time(_ name: String, of claims: JSON) throws(TokenError) -> Int64 {
    guard let time = claims[name]?.int, (0...latest).contains(time) else {
      throw .malformed("its claim \(name) is no time in seconds since 1970.")
    }
    return time
  }

  /// Whether the token is valid at a time.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - skew: how far the issuer's clock may be ahead or behind, in seconds; 0 for what was issued here.
  /// - Throws: ``TokenError/expired``, ``TokenError/notYetValid``.
  package func check(at now: Int64, skew: Int64 = 0) throws(TokenError) {
    let second = now / 1000
    guard second < expiresAt + skew else { throw .expired }
    // A clock that is corrected steps back a little: what was issued here a moment ago stays valid.
    guard notBefore <= second + max(skew, Self.skew) else { throw .notYetValid }
  }
}
