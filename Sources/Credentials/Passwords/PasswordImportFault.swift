/// Why password hashes from elsewhere could not be taken over.
public enum PasswordImportFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// Accounts with hashes, and no word about how they were made.
  case missingAlgorithm
  /// An algorithm that nobody knows.
  case unknownAlgorithm(String)
  /// A parameter that is missing, or out of range. The text says which.
  case badParameter(String)
  /// A hash or salt that is no base64, or not of the algorithm's size.
  case badHash

  public var description: String {
    switch self {
    case .missingAlgorithm: "MISSING_HASH_ALGORITHM"
    case .unknownAlgorithm(let name): "INVALID_HASH_ALGORITHM : \(name)"
    case .badParameter(let what): "INVALID_HASH_PARAMETERS : \(what)"
    case .badHash: "INVALID_PASSWORD_HASH : The hash or its salt is no base64, or not of the algorithm's size."
    }
  }
}
