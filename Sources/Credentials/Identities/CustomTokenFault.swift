/// Why a custom token was not accepted.
public enum CustomTokenFault: Error, Sendable, Hashable {
  /// Malformed, forged, expired, or meant for something else; the text says which.
  case invalid(String)
  /// It names no user.
  case missingIdentifier
  /// It claims what only the server may.
  case forbiddenClaim(String)

  /// What clients are told (spec: auth-protocol §2.3).
  public var wireMessage: String {
    switch self {
    case .invalid(let why): "INVALID_CUSTOM_TOKEN : \(why)"
    case .missingIdentifier: "MISSING_IDENTIFIER"
    case .forbiddenClaim(let name): "FORBIDDEN_CLAIM : \(name)"
    }
  }
}
