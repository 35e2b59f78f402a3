import HTTPServer
import NIOCore

/// The way from a WebSocket to a session on another event loop: a client that moves from long polling finds its session
/// where its first poll happened to arrive.
///
/// Lives on the WebSocket's loop; ``TransportAcrossLoops`` is its other end.
final class SessionAcrossLoops: SocketReceiver {
  /// Messages that may be on their way over.
  private static let underWayMax = 64

  private let session: SessionReference
  private let eventLoop: any EventLoop
  private var other: TransportAcrossLoops?
  private(set) var transport: (any SocketTransport)?
  private var underWay = 0

  init(session: SessionReference, eventLoop: any EventLoop) {
    self.session = session
    self.eventLoop = eventLoop
  }

  var isFull: Bool { underWay >= Self.underWayMax }

  /// Who the client is, only the session's loop knows.
  var standing: ClientStanding { .stranger }

  func start(on transport: any SocketTransport) {
    self.transport = transport
    let other = TransportAcrossLoops(self, eventLoop: eventLoop)
    self.other = other
    session.run { $0.move(to: other) }
  }

  func receive(_ message: [UInt8], from transport: any SocketTransport) {
    guard let other else { return }
    underWay += 1
    session.run { session in
      session.receive(message, from: other)
      if !session.isFull { other.resume() }
    }
  }

  /// The session has taken everything that was under way.
  func resume() {
    underWay = 0
    transport?.resume()
  }

  func transportIsWritable() {
    guard let other else { return }
    other.isCongested = false
    session.run { $0.pump() }
  }

  /// What the transport says of its client's reading reaches the session with the next message.
  func noteCongestion() {
    other?.isCongested = transport?.isCongested ?? false
  }

  func transportEnded(_ transport: any SocketTransport) {
    guard let other else { return }
    self.transport = nil
    self.other = nil
    session.run { $0.transportEnded(other) }
  }

  func end(_ fault: WebSocketFault) {
    session.run { $0.end(fault) }
  }
}
