/// Why credentials were not accepted (spec: rtdb-protocol §2, 401).
public struct AccessRefusal: Error, Sendable, Hashable {
  /// What the client is told.
  public let message: String
  /// Whether the same credentials may be good in a moment: what they are judged by is not at hand.
  public let isTemporary: Bool

  public init(_ message: String, isTemporary: Bool = false) {
    self.message = message
    self.isTemporary = isTemporary
  }

  /// The administrator of development, spoken for by a page or a host that may be anybody's.
  public static let foreignOwner = AccessRefusal(
    "\"owner\" is not believed from this page or host: use localhost or an address, or start the server with --allow-host NAME."
  )

  /// A token that is no token.
  public static let malformedToken = AccessRefusal("Could not parse auth token.")
}
