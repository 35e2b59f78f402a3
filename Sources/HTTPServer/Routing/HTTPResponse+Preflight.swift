import NIOHTTP1

extension HTTPResponse {
  /// The answer to what browsers ask before they send a request from another origin.
  package static let preflight = preflight(allowing: "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS")

  /// The same where only some methods are there.
  package static func preflight(allowing methods: String) -> HTTPResponse {
    .empty(
      .ok,
      headers: [
        Header("Allow", methods),
        Header("Access-Control-Allow-Methods", methods),
        Header(
          "Access-Control-Allow-Headers",
          "Authorization, Content-Type, X-Firebase-ETag, If-Match, If-None-Match, X-HTTP-Method-Override, "
            + "Idempotency-Key, X-Doubloon-Wait, X-Request-ID"
        ),
        Header("Access-Control-Expose-Headers", "ETag, Idempotency-Replayed, X-Doubloon-Effects"),
        Header("Access-Control-Max-Age", "86400"),
      ])
  }
}
