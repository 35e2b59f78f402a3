import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// One request on its way, and where its answer goes.
struct HTTPExchange: Sendable {
  /// What is sent, and how much may come back.
  struct Request: Sendable {
    let head: HTTPRequestHead
    let body: [UInt8]?
    let timeout: TimeAmount
    let responseBytesMax: Int
  }

  /// Why an exchange ended without an answer.
  enum ExchangeError: Error, Sendable {
    case timedOut
    case tooLarge(limit: Int)
    case disconnected
  }

  let request: Request
  let promise: EventLoopPromise<AdminResponse>
}

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
      handler.fail(HTTPExchange.ExchangeError.timedOut, context: context)
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
        return fail(HTTPExchange.ExchangeError.tooLarge(limit: current.request.responseBytesMax), context: context)
      }
      body.append(contentsOf: part.readableBytesView)
    case .end:
      guard head != nil else { return }
      finish()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(HTTPExchange.ExchangeError.disconnected, context: context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error, context: context)
  }

  private func finish() {
    guard let exchange = current, let head else { return }
    reset()
    exchange.promise.succeed(
      AdminResponse(status: Int(head.status.code), headers: head.headers, body: body, keepsAlive: head.isKeepAlive))
    body = []
  }

  private func fail(_ error: any Error, context: ChannelHandlerContext) {
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

/// Tells when a client's TLS connection stands, or why it does not; then it goes.
final class HandshakeAwaiter: ChannelInboundHandler, RemovableChannelHandler {
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
      handler.end(.failure(HTTPExchange.ExchangeError.timedOut))
      context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { end(.failure(HTTPExchange.ExchangeError.disconnected)) }

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
    end(.failure(HTTPExchange.ExchangeError.disconnected))
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

/// Connections that wait for their next request, the youngest last.
struct IdleConnections {
  private struct Connection {
    let channel: any Channel
    let since: NIODeadline
  }

  /// The server closes a connection that stands for 75 seconds; one that is much younger is safe to use.
  static let ageMax = TimeAmount.seconds(20)

  private var connections: [Connection] = []
  private let countMax: Int

  init(countMax: Int) {
    self.countMax = countMax
  }

  /// The connection that was used last, if it is young enough; older ones are closed.
  mutating func take(now: NIODeadline) -> (any Channel)? {
    while let last = connections.popLast() {
      if last.channel.isActive, now - last.since < Self.ageMax { return last.channel }
      last.channel.close(promise: nil)
    }
    return nil
  }

  /// Keeps a connection; false if there are enough already, or it is closed.
  mutating func keep(_ channel: any Channel, now: NIODeadline) -> Bool {
    guard connections.count < countMax, channel.isActive else { return false }
    connections.append(Connection(channel: channel, since: now))
    return true
  }

  /// Hands out all of them.
  mutating func takeAll() -> [any Channel] {
    defer { connections = [] }
    return connections.map(\.channel)
  }
}

extension NIOSSLClientHandler {
  /// A client of the host, whose certificate must be for it. Names are told to the server; an address is only verified.
  convenience init(context: NIOSSLContext, host: String) throws {
    do {
      try self.init(context: context, serverHostname: host)
    } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI {
      try self.init(context: context, serverHostname: nil)
    }
  }
}
