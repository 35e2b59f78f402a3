public import TreeModel

/// Claims that an admin gives an account, or a custom token carries: what is allowed.
public enum ReservedClaims {
  /// Names that only the server sets (spec: auth-protocol §3.1).
  public static let names: Set<String> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat", "iss", "jti", "nbf",
    "nonce", "sub",
  ]
  /// The longest text of an account's claims, in characters.
  public static let textMax = 1000

  /// The first reserved name that the object uses; nil if it uses none.
  public static func first(in claims: JSON) -> String? {
    claims.object?.first { names.contains($0.key) }?.key
  }

  /// Reads the text of an account's claims (`customAttributes`). An empty text is the empty object.
  ///
  /// - Throws: ``ClaimsFault`` with what clients are told.
  public static func claims(of text: String) throws(ClaimsFault) -> JSON {
    if text.isEmpty { return .object([]) }
    guard text.utf16.count <= textMax else { throw .tooLarge }
    guard let claims = try? JSONParser.parse(text, depthMax: WebToken.depthMax), claims.object != nil else { throw .invalid }
    if let name = first(in: claims) { throw .forbidden(name) }
    return claims
  }
}
