import NIOHTTP1

/// How much body the server takes in for a request.
package struct BodyLimit: Sendable {
  /// Bytes of body; of one more nothing is collected.
  package let bytesMax: Int
  /// What is answered to a longer body, at the end of the connection; nil for an answer that names the limit.
  package let refusal: HTTPResponse?

  package init(bytesMax: Int, refusal: HTTPResponse? = nil) {
    self.bytesMax = bytesMax
    self.refusal = refusal
  }

  /// The answer to a longer body.
  var response: HTTPResponse {
    refusal
      ?? .error(
        .payloadTooLarge,
        "The body is larger than \(bytesMax) bytes, the most that one request may carry: send it in parts.")
  }
}
