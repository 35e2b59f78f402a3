import NIOCore
import NIOPosix

/// A client that sends whatever bytes a test wants and reads answers one by one.
package struct RawConnection {
  private let channel: any Channel
  private let reading: NIOLoopBound<RawReading>

  package static func connect(to port: Int) async throws -> RawConnection {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let reading = RawReading()
          try channel.pipeline.syncOperations.addHandler(reading)
          return RawConnection(channel: channel, reading: NIOLoopBound(reading, eventLoop: channel.eventLoop))
        }
      }
  }

  package func send(_ text: String) async throws {
    try await channel.writeAndFlush(ByteBuffer(string: text))
  }

  /// Sends without caring whether the server still listens.
  package func sendLoosely(_ text: String) {
    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
  }

  /// The next answer; nil once the server has closed.
  package func next(isHead: Bool = false) async throws -> RawResponse? {
    try await channel.eventLoop.flatSubmit { [reading, eventLoop = channel.eventLoop] in
      let promise = eventLoop.makePromise(of: RawResponse?.self)
      reading.value.wait(isHead: isHead, promise)
      return promise.futureResult
    }.get()
  }

  /// Tells the server that nothing more will come.
  package func finishSending() async throws { try await channel.close(mode: .output) }

  package func close() async throws { try await channel.close() }
}

/// Collects what comes and gives it to who waits.
final class RawReading: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var bytes: [UInt8] = []
  private var waiters: [(isHead: Bool, promise: EventLoopPromise<RawResponse?>)] = []
  private var isClosed = false

  func wait(isHead: Bool, _ promise: EventLoopPromise<RawResponse?>) {
    waiters.append((isHead, promise))
    serve()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += unwrapInboundIn(data).readableBytesView
    serve()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      isClosed = true
      serve()
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosed = true
    serve()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func serve() {
    while let waiter = waiters.first {
      if let response = RawResponse.take(from: &bytes, isHead: waiter.isHead) {
        waiters.removeFirst().promise.succeed(response)
      } else if isClosed {
        waiters.removeFirst().promise.succeed(nil)
      } else {
        return
      }
    }
  }
}
