/// The receiving end of a connection: an event stream, a socket.
///
/// Everything is called on the sink's ``DeliveryLane``, and must not block.
public protocol ListenSink: AnyObject, Sendable {
  /// Writes an event towards the client, without flushing.
  ///
  /// - Returns: how many bytes now wait to be written; the transport reports them with ``Listener/didWrite(_:)`` once they
  ///   have left. 0 if it does not count this event.
  func receive(_ event: ListenEvent, for listening: Listening) -> Int
  /// Called once after the last of a row of events.
  func flush()
  /// Whether the client may still listen there; asked after ``ListenerHub/review()``.
  func mayContinue(_ listening: Listening) -> Bool
}

extension ListenSink {
  public func mayContinue(_ listening: Listening) -> Bool { true }
}
