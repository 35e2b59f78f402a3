import HTTPServer
import NIOCore
import Synchronization

/// What carries a session's messages: a WebSocket, or a chain of polls. Used on the session's event loop only.
///
/// A transport that cannot go on tells its session in a later turn of the loop, never from within `send`: the
/// session is in the middle of something then, and goes on with it when `send` returns.
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
  func close(_ error: WebSocketError)
  /// The session can take requests again, after ``SocketSession/isFull`` was true.
  func resume()
}

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
  func end(_ error: WebSocketError)
}

/// The way from a WebSocket to a session on another event loop: a client that moves from long polling finds its session
/// where its first poll happened to arrive.
///
/// Lives on the WebSocket's loop; ``CrossLoopTransport`` is its other end.
final class CrossLoopSession: SocketReceiver {
  /// Messages that may be on their way over.
  private static let underWayMax = 64

  private let session: SessionReference
  private let eventLoop: any EventLoop
  private var other: CrossLoopTransport?
  private(set) var transport: (any SocketTransport)?
  private var underWay = 0

  init(session: SessionReference, eventLoop: any EventLoop) {
    self.session = session
    self.eventLoop = eventLoop
  }

  var isFull: Bool { underWay >= Self.underWayMax }

  /// Who the client is, only the session's loop knows.
  var standing: ClientStanding { .unauthenticated }

  func start(on transport: any SocketTransport) {
    self.transport = transport
    let other = CrossLoopTransport(self, eventLoop: eventLoop)
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

  func end(_ error: WebSocketError) {
    session.run { $0.end(error) }
  }
}

/// A WebSocket, as a session on another event loop sees it.
final class CrossLoopTransport: SocketTransport, Sendable {
  private let eventLoop: any EventLoop
  private let socket: NIOLoopBound<CrossLoopSession>
  private let congested = Atomic<Bool>(false)

  init(_ socket: CrossLoopSession, eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    self.socket = NIOLoopBound(socket, eventLoop: eventLoop)
  }

  var isCongested: Bool {
    get { congested.load(ordering: .relaxed) }
    set { congested.store(newValue, ordering: .relaxed) }
  }

  func send(_ message: [UInt8]) {
    eventLoop.execute { [socket] in
      socket.value.transport?.send(message)
      socket.value.noteCongestion()
    }
  }

  func send(_ message: SharedMessage) -> Int {
    send(message.bytes)
    return message.bytes.count
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    eventLoop.execute { [socket] in socket.value.transport?.flush(then: done) }
  }

  func close(_ error: WebSocketError) {
    eventLoop.execute { [socket] in socket.value.transport?.close(error) }
  }

  func resume() {
    eventLoop.execute { [socket] in socket.value.resume() }
  }
}
