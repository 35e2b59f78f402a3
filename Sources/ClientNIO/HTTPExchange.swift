import ClientRuntime
import NIOCore
import NIOHTTP1
import NIOTLS

/// One request on its way, and where its answer goes.
struct HTTPExchange: Sendable {
  /// A whole answer, and whether the connection may be used again.
  struct Whole: Sendable {
    let response: HTTPResponse
    let keepsAlive: Bool
  }

  /// Who waits: for all of it, or for the events in it.
  enum Answer: Sendable {
    case whole(EventLoopPromise<Whole>)
    case events(EventLoopPromise<AsyncThrowingStream<StreamEvent, any Error>>)

    func fail(_ error: any Error) {
      switch self {
      case .whole(let promise): promise.fail(error)
      case .events(let promise): promise.fail(error)
      }
    }
  }

  let request: HTTPRequest
  let head: HTTPRequestHead
  let answer: Answer
}

/// Sends one request after the other, and collects each answer or hands out its events.
final class HTTPExchangeHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundIn = HTTPExchange
  typealias OutboundOut = HTTPClientRequestPart

  private var current: HTTPExchange?
  private var timer: Scheduled<Void>?
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []
  private var stream: (reader: EventStreamReader, continuation: AsyncThrowingStream<StreamEvent, any Error>.Continuation)?

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let exchange = unwrapOutboundIn(data)
    guard current == nil, stream == nil else {
      promise?.fail(ChannelError.operationUnsupported)
      return
    }
    (current, head, body) = (exchange, nil, [])
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let (server, timeout) = (exchange.request.server, exchange.request.timeout)
    timer = context.eventLoop.scheduleTask(in: .milliseconds(timeout)) {
      let (handler, context) = bound.value
      let message = "\(server) did not answer within \(timeout / 1000) seconds."
      handler.fail(TransportError(.timedOut, message), context: context)
    }
    context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
    if let body = exchange.request.body {
      context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: body)))), promise: nil)
    }
    context.write(wrapOutboundOut(.end(nil)), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      // 1xx only announces the answer (RFC 9110 §15.2).
      guard head.status.code >= 200 else { return }
      self.head = head
      startEvents(head, context: context)
    case .body(let part):
      if stream != nil { return passOn(part, context: context) }
      guard let current else { return }
      guard body.count + part.readableBytes <= current.request.responseBytesMax else {
        let message = "The answer of \(current.request.server) is larger than \(current.request.responseBytesMax) bytes."
        return fail(TransportError(.tooLarge, message), context: context)
      }
      body.append(contentsOf: part.readableBytesView)
    case .end:
      guard let head else { return }
      finish(head, context: context)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(ChannelError.eof, context: context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error, context: context) }

  /// A stream of events is handed out with its head; anything else is collected, to say what it was.
  private func startEvents(_ head: HTTPResponseHead, context: ChannelHandlerContext) {
    guard case .events(let promise)? = current?.answer, head.status == .ok,
      head.headers.first(name: "content-type")?.hasPrefix("text/event-stream") == true
    else { return }
    reset()
    let (events, continuation) = AsyncThrowingStream<StreamEvent, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(StreamEvent.waitingMax))
    let channel = context.channel
    continuation.onTermination = { _ in channel.close(promise: nil) }
    stream = (EventStreamReader(), continuation)
    promise.succeed(events)
  }

  private func passOn(_ part: ByteBuffer, context: ChannelHandlerContext) {
    do {
      for event in try stream?.reader.read(part.readableBytesView) ?? [] { stream?.continuation.yield(event) }
    } catch {
      fail(error, context: context)
    }
  }

  private func finish(_ head: HTTPResponseHead, context: ChannelHandlerContext) {
    if stream != nil { return fail(ChannelError.eof, context: context) }
    guard let exchange = current else { return }
    let bytes = body
    reset()
    switch exchange.answer {
    case .whole(let promise):
      let response = HTTPResponse(
        status: Int(head.status.code), headers: head.headers.map { (name: $0.name, value: $0.value) }, body: bytes)
      promise.succeed(HTTPExchange.Whole(response: response, keepsAlive: head.isKeepAlive))
    case .events(let promise):
      let status = Int(head.status.code)
      let text = String(decoding: bytes.prefix(200), as: UTF8.self)
      promise.fail(
        status == 200
          ? TransportError(.badResponse, "\(exchange.request.server) answered with no stream of events.")
          : TransportError(.refused(status: status), "\(exchange.request.server) refused the stream: \(text)"))
      context.close(promise: nil)
    }
  }

  private func fail(_ error: any Error, context: ChannelHandlerContext) {
    let (exchange, stream) = (current, stream)
    reset()
    self.stream = nil
    exchange?.answer.fail(error)
    if let exchange = stream?.continuation { exchange.finish(throwing: error as? TransportError) }
    context.close(promise: nil)
  }

  private func reset() {
    timer?.cancel()
    (timer, current, head, body) = (nil, nil, nil, [])
  }
}

/// Tells when a TLS connection stands, or why it does not; then it goes.
final class HandshakeWaiter: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let promise: EventLoopPromise<Void>
  private let timeout: TimeAmount
  private var timer: Scheduled<Void>?

  init(_ promise: EventLoopPromise<Void>, timeout: TimeAmount) {
    self.promise = promise
    self.timeout = timeout
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: timeout) {
      let (handler, context) = bound.value
      handler.end(.failure(TransportError(.timedOut, "The server began no TLS in time; is it http, not https?")))
      context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { end(.failure(ChannelError.eof)) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.handshakeCompleted) = event as? TLSUserEvent {
      end(.success(()))
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(.failure(error))
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(.failure(ChannelError.eof))
    context.fireChannelInactive()
  }

  /// The first ending counts.
  private func end(_ result: Result<Void, any Error>) {
    guard let timer else { return }
    timer.cancel()
    self.timer = nil
    promise.completeWith(result)
  }
}
