/// A client's move from long polling to a WebSocket, while its session goes on (spec: rtdb-protocol §3.11).
///
/// The client tries the new transport with pings, then says `a` on it, `n` as its last word on the old one, and goes on with
/// the new. What comes over the new one before that last word waits. The server says `n` on the old one after its last
/// message there.
final class TransportSwitch {
  let transport: any SocketTransport
  /// Whether the client sends its messages here.
  var isSending = false
  /// What came before the old transport's last message.
  private(set) var early: [SocketMessage] = []
  /// What those weigh.
  private(set) var earlyWeight = 0

  init(_ transport: any SocketTransport) {
    self.transport = transport
  }

  func keep(_ message: SocketMessage) {
    early.append(message)
    if case .request(let request) = message { earlyWeight += request.weight }
  }
}

extension SocketSession {
  /// Begins the move to another transport; of two moves the later counts.
  func move(to transport: any SocketTransport) {
    switch phase {
    case .opening, .open:
      successor?.transport.close(WebSocketFault(.goingAway, "The client has connected again."))
      successor = TransportSwitch(transport)
      transport.send(SocketAnswers.control("a"))
    case .ending, .ended:
      transport.send(SocketAnswers.control("r", host))
      transport.close(WebSocketFault(.goingAway, "The session is over; connect again."))
    }
  }

  /// A message on the new transport.
  func successorSent(_ message: SocketMessage, _ successor: TransportSwitch) {
    switch message {
    case .control("p"): successor.transport.send(SocketAnswers.control("o"))
    case .control("a"): successor.isSending = true
    case .request, .control:
      // The old transport's last messages are on their way in requests of their own.
      guard successor.early.count < limits.requestsMax else {
        return end(WebSocketFault(.policyViolation, "The old transport was never ended."))
      }
      successor.keep(message)
      holdWaiting()
    }
  }

  /// The old transport's last message has come: from now on everything goes over the new one.
  func predecessorEnded() {
    guard let successor, let old = transport else { return }
    old.send(SocketAnswers.control("n"))
    transport = successor.transport
    self.successor = nil
    old.close(WebSocketFault(.goingAway, "The client has moved to another transport."))
    for message in successor.early { take(message) }
  }
}
