import NIOCore
import Synchronization

/// A WebSocket, as a session on another event loop sees it.
final class TransportAcrossLoops: SocketTransport, Sendable {
  private let eventLoop: any EventLoop
  private let socket: NIOLoopBound<SessionAcrossLoops>
  private let congested = Atomic<Bool>(false)

  init(_ socket: SessionAcrossLoops, eventLoop: any EventLoop) {
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

  func close(_ fault: WebSocketFault) {
    eventLoop.execute { [socket] in socket.value.transport?.close(fault) }
  }

  func resume() {
    eventLoop.execute { [socket] in socket.value.resume() }
  }
}
