import NIOCore

/// A session, as other threads hold it: they can only ask its event loop to do something with it.
struct SessionReference: Sendable {
  let eventLoop: any EventLoop
  private let session: NIOLoopBound<SocketSession>

  init(_ session: SocketSession) {
    eventLoop = session.eventLoop
    self.session = NIOLoopBound(session, eventLoop: session.eventLoop)
  }

  /// Runs `body` with the session on its loop: at once if that is where the call is made.
  func run(_ body: @escaping @Sendable (SocketSession) -> Void) {
    if eventLoop.inEventLoop { body(session.value) } else { eventLoop.execute { body(session.value) } }
  }
}
