import HTTPServer

/// What a transport hands its messages to: a session, or the way to one that lives on another event loop. Used on the
/// transport's event loop only.
protocol SocketReceiver: AnyObject {
  /// Whether the transport should read no more for now; ``SocketTransport/resume()`` ends that.
  var isFull: Bool { get }
  /// What the client's credentials have shown.
  var standing: ClientStanding { get }
  /// The transport is ready to send.
  func start(on transport: any SocketTransport)
  /// Takes a message of the client.
  func receive(_ message: [UInt8], from transport: any SocketTransport)
  /// The client has read what waited for it.
  func transportIsWritable()
  /// The transport is gone.
  func transportEnded(_ transport: any SocketTransport)
  /// What came over the transport cannot be trusted any more, or the server stops: the session ends.
  func end(_ fault: WebSocketFault)
}

extension SocketSession: SocketReceiver {
  var standing: ClientStanding { caller.standing }
  func transportIsWritable() { pump() }
  func end(_ fault: WebSocketFault) { end(fault, then: nil) }
}
