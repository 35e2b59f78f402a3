/// Why credentials were not accepted (spec: rtdb-protocol §2, 401).
package struct AccessRefusal: Error, Sendable, Hashable {
  /// What the client is told.
  package let message: String
  /// Whether the same credentials may be good in a moment: what they are judged by is not at hand.
  package let isTemporary: Bool

  package init(_ message: String, isTemporary: Bool = false) {
    self.message = message
    self.isTemporary = isTemporary
  }

  /// The administrator of development, spoken for by a page or a host that may be anybody's.
  package static let foreignOwner = AccessRefusal(
    "\"owner\" is not believed from this page or host: use localhost or an address, or start the server with --allow-host NAME."
  )

  /// A token whose time is over, or that was made void.
  package static let expiredToken = AccessRefusal("Auth token is expired")

  /// A token that is no token.
  package static let malformedToken = AccessRefusal("Could not parse auth token.")
}
