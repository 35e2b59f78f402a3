/// How a token is signed (`alg`). Every other name is refused, `HS256` among them: a public key is never a shared secret.
public enum TokenAlgorithm: String, Sendable, Hashable {
  /// Not at all; only where a mode says so.
  case none
  /// RSA, PKCS #1 v1.5, SHA-256.
  case rs256 = "RS256"
  /// The curve P-256, SHA-256.
  case es256 = "ES256"
}
