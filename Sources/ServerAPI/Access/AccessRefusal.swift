/// Why credentials were not accepted (spec: rtdb-protocol §2, 401).
public struct AccessRefusal: Error, Sendable, Hashable {
  /// What the client is told.
  public let message: String

  public init(_ message: String) {
    self.message = message
  }

  /// A token that is no token.
  public static let malformedToken = AccessRefusal("Could not parse auth token.")
}
