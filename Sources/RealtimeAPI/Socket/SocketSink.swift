import NIOCore
import TreeDatabase

/// The receiving end of a session, as the hub holds it.
final class SocketSink: ListenSink {
  private let session: NIOLoopBound<SocketSession>

  init(_ session: SocketSession) {
    self.session = NIOLoopBound(session, eventLoop: session.eventLoop)
  }

  func receive(_ event: ListenEvent, for listening: Listening) -> Int { session.value.receive(event, for: listening) }

  func mayContinue(_ listening: Listening) -> Bool { session.value.mayContinue(listening) }

  func flush() { session.value.flushPushes() }
}
