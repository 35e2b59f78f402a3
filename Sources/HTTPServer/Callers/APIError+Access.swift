import NIOHTTP1

extension APIError {
  /// Credentials that were not accepted.
  package init(_ refusal: AccessRefusal) {
    if refusal.isTemporary {
      self.init(.serviceUnavailable, "unavailable", refusal.message, headers: [HTTPResponse.Header("Retry-After", "1")])
    } else {
      self.init(.unauthorized, "unauthenticated", refusal.message)
    }
  }
}
