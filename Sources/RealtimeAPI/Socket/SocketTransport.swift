/// What carries a session's messages: a WebSocket, or a chain of polls. Used on the session's event loop only.
protocol SocketTransport: AnyObject {
  /// Whether the client has more waiting for it than it takes: it gets no further answers made until it has read.
  var isCongested: Bool { get }
  /// Sends one message; after the transport's end it goes nowhere.
  func send(_ message: [UInt8])
  /// Sends a message that others get too.
  ///
  /// - Returns: the bytes that wait to be written.
  func send(_ message: SharedMessage) -> Int
  /// Flushes what was sent.
  ///
  /// - Parameter done: called once it has left, perhaps at once, on any thread; never after the transport's end.
  func flush(then done: @escaping @Sendable () -> Void)
  /// Ends the transport, and tells the client why as far as it can be told.
  func close(_ fault: WebSocketFault)
  /// The session can take requests again, after ``SocketSession/isFull`` was true.
  func resume()
}
