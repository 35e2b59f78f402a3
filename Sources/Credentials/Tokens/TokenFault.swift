/// Why a token was not accepted.
public enum TokenFault: Error, Sendable, Hashable, CustomStringConvertible {
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

  public var description: String {
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
