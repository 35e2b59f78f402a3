import NIOCore
import NIOHTTP1

/// Sends one request after the other and collects each answer whole.
final class HTTPExchangeHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundIn = HTTPExchange
  typealias OutboundOut = HTTPClientRequestPart

  private var current: HTTPExchange?
  private var timer: Scheduled<Void>?
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let exchange = unwrapOutboundIn(data)
    precondition(current == nil, "A connection carries one exchange at a time.")
    current = exchange
    body = []
    head = nil
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: exchange.request.timeout) {
      let (handler, context) = bound.value
      handler.fail(HTTPExchange.Failure.timedOut, context)
    }
    context.write(wrapOutboundOut(.head(exchange.request.head)), promise: nil)
    if let body = exchange.request.body {
      context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: body)))), promise: nil)
    }
    context.write(wrapOutboundOut(.end(nil)), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      // 1xx only announces the answer (RFC 9110 §15.2).
      if head.status.code >= 200 { self.head = head }
    case .body(let part):
      guard let current else { return }
      guard body.count + part.readableBytes <= current.request.responseBytesMax else {
        return fail(HTTPExchange.Failure.tooLarge(limit: current.request.responseBytesMax), context)
      }
      body.append(contentsOf: part.readableBytesView)
    case .end:
      guard head != nil else { return }
      finish()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(HTTPExchange.Failure.disconnected, context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error, context)
  }

  private func finish() {
    guard let exchange = current, let head else { return }
    reset()
    exchange.promise.succeed(
      AdminResponse(status: Int(head.status.code), headers: head.headers, body: body, keepsAlive: head.isKeepAlive))
    body = []
  }

  private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
    let exchange = current
    reset()
    exchange?.promise.fail(error)
    context.close(promise: nil)
  }

  private func reset() {
    timer?.cancel()
    timer = nil
    current = nil
    head = nil
  }
}
