package import ClientRuntime
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

extension NIOTransport {
  package func open(
    _ server: ServiceAddress, target: String, timeout: Int64, receive: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SocketConnection {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let socket = NIOSocket(loop: loop, unreadMax: unreadMax, receive: receive)
    // On the loop, and so never before this returns.
    loop.execute {
      do {
        let context = server.isSecure ? try self.tlsContext() : nil
        self.connect(socket, to: server, target: target, timeout: timeout, context: context)
      } catch {
        socket.end(TransportError(error, server: server, timeout: timeout))
      }
    }
    return socket
  }

  private func connect(
    _ socket: NIOSocket, to server: ServiceAddress, target: String, timeout: Int64, context: NIOSSLContext?
  ) {
    let late = socket.loop.scheduleTask(in: .milliseconds(timeout)) {
      socket.end(TransportError(.timedOut, "\(server) opened no socket within \(timeout / 1000) seconds."))
    }
    Self.bootstrap(timeout: timeout, group: socket.loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try Self.addTLS(context, host: server.host, timeout: timeout, to: channel)?.whenFailure { error in
          socket.end(TransportError(error, server: server, timeout: timeout))
        }
        let upgrader = NIOWebSocketClientUpgrader(
          maxFrameSize: 1 << 24,
          upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandlers(
                NIOWebSocketFrameAggregator(
                  minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1 << 16, maxAccumulatedFrameSize: Self.textBytesMax),
                SocketHandler(socket: socket, server: server))
            }
          })
        let refusal = RefusalHandler(socket: socket, server: server, target: target)
        // The server's first words may come together with its consent.
        try channel.pipeline.syncOperations.addHTTPClientHandlers(
          leftOverBytesStrategy: .forwardBytes,
          withClientUpgrade: (
            upgraders: [upgrader],
            completionHandler: { context in
              late.cancel()
              context.pipeline.removeHandler(name: RefusalHandler.name, promise: nil)
            }
          ))
        try channel.pipeline.syncOperations.addHandler(refusal, name: RefusalHandler.name)
      }
    }.connect(host: server.host, port: server.port).whenComplete { result in
      switch result {
      case .success(let channel):
        channel.closeFuture.whenComplete { _ in
          late.cancel()
          socket.end(TransportError(ChannelError.eof, server: server, timeout: timeout))
        }
        socket.attach(channel)
      case .failure(let error):
        late.cancel()
        socket.end(TransportError(error, server: server, timeout: timeout))
      }
    }
  }
}

/// A WebSocket on one event loop: everything but `send` and `close` happens there.
package final class NIOSocket: SocketConnection {
  let loop: any EventLoop
  private let unreadMax: Int
  private let receive: @Sendable (SocketEvent) -> Void
  private let state = Locked(State())

  private struct State {
    var channel: (any Channel)?
    var isOpen = false
    var isOver = false
    /// Bytes of texts that nobody has dealt with.
    var unread = 0
    var isPaused = false
  }

  init(loop: any EventLoop, unreadMax: Int, receive: @escaping @Sendable (SocketEvent) -> Void) {
    self.loop = loop
    self.unreadMax = unreadMax
    self.receive = receive
  }

  package func send(_ text: [UInt8]) {
    guard let channel = state.withLock({ $0.isOpen && !$0.isOver ? $0.channel : nil }) else { return }
    let data = channel.allocator.buffer(bytes: text)
    channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: data), promise: nil)
  }

  package func close() {
    loop.execute {
      if let channel = self.state.withLock({ $0.isOpen ? $0.channel : nil }) {
        var code = channel.allocator.buffer(capacity: 2)
        code.write(webSocketErrorCode: .normalClosure)
        channel.writeAndFlush(
          WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: code), promise: nil)
      }
      self.end(nil)
    }
  }

  func attach(_ channel: any Channel) {
    let isOver = state.withLock { state in
      state.channel = channel
      return state.isOver
    }
    if isOver { channel.close(promise: nil) }
  }

  func opened(_ channel: any Channel) {
    let isNew = state.withLock { state in
      guard !state.isOver, !state.isOpen else { return false }
      (state.channel, state.isOpen) = (channel, true)
      return true
    }
    if isNew { receive(.opened) }
  }

  func received(_ text: [UInt8]) {
    let (isOver, paused) = state.withLock { [unreadMax] state in
      state.unread += text.count
      let pauses = state.unread > unreadMax && !state.isPaused
      if pauses { state.isPaused = true }
      return (state.isOver, pauses ? state.channel : nil)
    }
    paused?.setOption(.autoRead, value: false).whenFailure { _ in }
    if !isOver { receive(.text(text)) }
  }

  package func took(_ bytes: Int) {
    let resumed = state.withLock { [unreadMax] state -> (any Channel)? in
      state.unread -= bytes
      guard state.isPaused, state.unread <= unreadMax / 2 else { return nil }
      state.isPaused = false
      return state.channel
    }
    resumed?.setOption(.autoRead, value: true).whenFailure { _ in }
  }

  /// The first ending counts. The connection is closed.
  func end(_ error: TransportError?) {
    let (isFirst, channel) = state.withLock { state in
      defer { state.isOver = true }
      return (!state.isOver, state.channel)
    }
    channel?.close(promise: nil)
    if isFirst { receive(.closed(error)) }
  }
}

/// Frames of an open socket.
private final class SocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let socket: NIOSocket
  private let server: ServiceAddress

  init(socket: NIOSocket, server: ServiceAddress) {
    self.socket = socket
    self.server = server
  }

  func handlerAdded(context: ChannelHandlerContext) { socket.opened(context.channel) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text, .binary: socket.received(Array(frame.unmaskedData.readableBytesView))
    case .ping:
      // A server that asks and does not listen gets no pile of answers.
      guard context.channel.isWritable else { return }
      let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .connectionClose:
      let answer = WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
      socket.end(nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    socket.end(
      error is NIOWebSocketFrameAggregator.Error
        ? TransportError(.tooLarge, "\(server) sent a text that is too large, or in parts that do not fit.")
        : TransportError(error, server: server, timeout: 0))
  }
}

/// Sends the request of the socket, and reads the answer of a server that refuses it.
private final class RefusalHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  static let name = "refusal"

  private let socket: NIOSocket
  private let server: ServiceAddress
  private let target: String

  init(socket: NIOSocket, server: ServiceAddress, target: String) {
    self.socket = socket
    self.server = server
    self.target = target
  }

  func channelActive(context: ChannelHandlerContext) {
    let headers: HTTPHeaders = ["Host": server.authority, "Content-Length": "0"]
    context.write(wrapOutboundOut(.head(.init(version: .http1_1, method: .GET, uri: target, headers: headers))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data), head.status.code >= 200 else { return }
    let status = Int(head.status.code)
    socket.end(
      TransportError(.refused(status: status), "\(server) opens no socket here (status \(status)); is that a Doubloon server?"))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    socket.end(TransportError(error, server: server, timeout: 0))
  }
}
