/// Why a socket must be closed by the server, with the code that tells the client (RFC 6455 §7.4.1).
struct WebSocketFault: Error, Hashable {
  enum Code: UInt16 {
    /// The server stops, or the session was taken over.
    case goingAway = 1001
    /// The bytes are no WebSocket frames of a client.
    case protocolError = 1002
    /// Binary data: this protocol is text.
    case unsupportedData = 1003
    /// The text is not what the protocol says.
    case policyViolation = 1008
    case messageTooBig = 1009
    /// The client reads more slowly than the server writes.
    case tryAgainLater = 1013
  }

  let code: Code
  /// For people: what was wrong and what to do. At most 123 bytes reach the client.
  let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}
