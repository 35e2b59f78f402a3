/// Why claims of an account were not accepted.
public enum ClaimsFault: Error, Sendable, Hashable {
  /// More than 1000 characters.
  case tooLarge
  /// No JSON object.
  case invalid
  /// A name that only the server sets.
  case forbidden(String)

  /// What clients are told (spec: auth-protocol §2.2).
  public var wireMessage: String {
    switch self {
    case .tooLarge: "CLAIMS_TOO_LARGE"
    case .invalid: "INVALID_CLAIMS"
    case .forbidden(let name): "FORBIDDEN_CLAIM : \(name)"
    }
  }
}
