import NIOCore
import NIOHTTP1
import StorageCore

/// One client's connection: collects requests, has them answered one after the other, writes the answers.
///
/// Stands right behind NIO's request decoder, and gets common requests whole from the ``RequestReader`` before it. A client
/// that sends ahead (pipelining) has its later requests wait in `pending`, and while any wait nothing more is read, so memory
/// stays bounded. The ordinary client, which waits for its answer, never causes that switch of the selector.
///
/// A socket or an event stream takes over by replacing this handler once its upgrade request is complete: the decoder
/// stops at an upgrade by itself.
final class HTTPConnection: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = ByteBuffer

  /// What the connection is doing.
  enum Phase {
    /// Between two requests.
    case idle
    /// A head has arrived, the body has not ended.
    case receiving(HTTPRequestHead, BodyLimit)
    /// The request is with the responder.
    case answering(ResponseFraming)
    /// The answer is larger than the socket takes at once.
    case sending
    /// The last answer is written; what still arrives is thrown away until the client closes.
    case lingering
    case closed
  }

  /// What a client sends, as it arrives here.
  enum Input {
    /// From NIO's decoder.
    case part(HTTPServerRequestPart)
    /// From the reader.
    case whole(HTTPRequest)
  }

  let configuration: HTTPServerConfiguration
  let responder: any RequestResponder
  let sockets: (any SocketAccepting)?
  private let metrics: HTTPMetrics
  private let clock: any WallClock
  let memory: MemoryBudgets
  let registry: ConnectionRegistry

  var context: ChannelHandlerContext?
  var phase = Phase.idle
  /// When the present phase has lasted too long.
  var deadline = NIODeadline.distantFuture
  var timer: Scheduled<Void>?
  private(set) var body: ByteBuffer?
  /// Counts the body while it is not whole; then the request's sink has it.
  var inputShare: ByteShare?
  /// What the credentials of the request that it counts have shown; nil until they are looked at.
  var inputStanding: ClientStanding?
  /// Counts an answer that the client has not read.
  var outputShare: ByteShare?
  private var bodyBytes = 0
  private(set) var requestCount = 0
  /// What its requests are called; set before the first.
  var place = RequestID.Place()
  /// What the client calls the request that is being answered; nil for nearly every one.
  private(set) var givenID: String?
  /// When the request that is being answered was whole.
  private var beganAt = NIODeadline.uptimeNanoseconds(0)
  private(set) var pending = CircularBuffer<Input>()
  /// How far NIO's decoder has got.
  var decoding = DecodingProgress()
  /// What is wrong with the bytes behind the pending requests.
  private var parserError: HTTPResponse?
  private var isReadHeld = false
  /// Whether the server stops: the next answer is the last.
  private var isClosing = false
  /// Whether the client sends nothing more: what it has sent is still answered.
  private var isInputClosed = false
  private var isDraining = false
  private var date = DateHeader()
  let presence = ClientPresence()
  /// Who the connection is with; another node says so of those that it hands on.
  var peer = ClientAddress.unknown

  init(
    configuration: HTTPServerConfiguration, responder: any RequestResponder, sockets: (any SocketAccepting)? = nil,
    metrics: HTTPMetrics, clock: any WallClock, memory: MemoryBudgets, registry: ConnectionRegistry
  ) {
    self.configuration = configuration
    self.responder = responder
    self.sockets = sockets
    self.metrics = metrics
    self.clock = clock
    self.memory = memory
    self.registry = registry
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    peer = ClientAddress(context.channel.remoteAddress)
    enterIdle()
    startTimer(context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    leave()
    self.context = nil
    phase = .closed
  }

  func channelInactive(context: ChannelHandlerContext) {
    phase = .closed
    pending.removeAll()
    leave()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    decoding.note(part)
    receive(.part(part), context: context)
  }

  /// Takes a common request, which did not come through NIO's decoder.
  func receive(_ request: HTTPRequest) {
    if let context { receive(.whole(request), context: context) }
  }

  /// Whether the connection is still one of HTTP requests: not a socket or a stream.
  var isInPlace: Bool { context != nil }

  private func receive(_ input: Input, context: ChannelHandlerContext) {
    switch phase {
    case .idle, .receiving: take(input, context: context)
    case .answering, .sending: pending.append(input)
    case .lingering, .closed: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    switch phase {
    // A body that came whole with its head was never unfinished.
    case .receiving(let head, _): holdUnfinished(head, context: context)
    case .answering, .sending: holdAhead(context)
    case .idle, .lingering, .closed: break
    }
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if pending.isEmpty { context.read() } else { isReadHeld = true }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    decoding.hasFailed = true
    guard let response = Self.response(to: error) else { return context.close(promise: nil) }
    switch phase {
    case .idle, .receiving: refuse(response, context: context)
    case .answering, .sending: parserError = response
    case .lingering, .closed: break
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      isClosing = true
      if case .idle = phase { context.close(promise: nil) }
    }
    if case .some(.inputClosed) = event as? ChannelEvent { inputClosed(context) }
    context.fireUserInboundEventTriggered(event)
  }

  /// The client sends nothing more, but may still wait for an answer.
  private func inputClosed(_ context: ChannelHandlerContext) {
    switch phase {
    case .answering, .sending: isInputClosed = true
    case .idle, .receiving, .lingering, .closed: context.close(promise: nil)
    }
  }

  func enterIdle() {
    phase = .idle
    deadline = .now() + configuration.idleTimeout
  }
}

// MARK: - Requests

extension HTTPConnection {
  private func take(_ input: Input, context: ChannelHandlerContext) {
    switch input {
    case .whole(let request):
      inputStanding = nil
      respond(to: request, context: context)
    case .part(.head(let head)): begin(head, context: context)
    case .part(.body(var bytes)):
      guard case .receiving(_, let limit) = phase else { return }
      let count = bytes.readableBytes
      bodyBytes += count
      guard bodyBytes <= limit.bytesMax else { return refuse(limit.response, context: context) }
      if body == nil { body = bytes } else { body?.writeBuffer(&bytes) }
      deadline = deadline + allowance(for: count)
    case .part(.end):
      guard case .receiving(let head, _) = phase else { return }
      dispatch(head, context: context)
    }
  }

  private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    var head = head
    let isMeantForOne = head.settleHost()
    (body, bodyBytes, inputStanding) = (nil, 0, nil)
    let limit = responder.bodyLimit(for: head) ?? BodyLimit(bytesMax: configuration.bodyBytesMax)
    phase = .receiving(head, limit)
    deadline = .now() + configuration.exchangeTimeout
    guard isMeantForOne, !head.hasCodingBelowChunks else {
      return refuse(isMeantForOne ? Self.unknownCoding : Self.hostIsUnclear, context: context)
    }
    if let length = head.headers.first(name: "content-length").flatMap({ Int($0) }), length > limit.bytesMax {
      return refuse(limit.response, context: context)
    }
    guard let expectation = head.headers.first(name: "expect") else { return }
    guard expectation.lowercased() == "100-continue" else { return refuse(Self.unknownExpectation, context: context) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
  }

  /// A request that NIO's decoder has read to its end.
  private func dispatch(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    let asksForUpgrade = head.headers.contains(name: "upgrade")
    if asksForUpgrade, takesUpgrade(head, from: client(head.headers), context: context) { return }
    var request = HTTPRequest(
      method: head.method == .HEAD ? .GET : head.method, uri: head.uri, headers: head.headers, body: body)
    request.isHead = head.method == .HEAD
    // After a request that asks for an upgrade the decoder reads no further one, so this must be the last.
    respond(to: request, isHTTP10: head.version.minor == 0, keepsAlive: head.isKeepAlive && !asksForUpgrade, context: context)
  }

  private func respond(
    to request: HTTPRequest, isHTTP10: Bool = false, keepsAlive: Bool = true, context: ChannelHandlerContext
  ) {
    var request = request
    request.client = client(request.headers)
    guard let share = shareOfWork(request, context: context) else { return }
    requestCount += 1
    place.request = requestCount
    request.id.place = place
    givenID = request.id.mayBeNamed ? request.givenID : nil
    beganAt = .now()
    phase = .answering(
      ResponseFraming(
        isHead: request.isHead, isHTTP10: isHTTP10,
        keepsAlive: keepsAlive && requestCount < configuration.requestsPerConnectionMax))
    deadline = .distantFuture
    body = nil
    responder.respond(
      to: request,
      sink: ResponseSink(
        connection: self, number: requestCount, eventLoop: context.eventLoop, client: request.client, work: share.held))
  }

  /// The client has gone.
  private func leave() {
    presence.leave()
    timer?.cancel()
    letGo()
  }

  /// Forgets a body that will not be asked for.
  func letGo() {
    body = nil
    inputShare = nil
    outputShare = nil
  }

  /// Answers a request that will not be read to its end.
  func refuse(_ response: HTTPResponse, context: ChannelHandlerContext) {
    var isHead = false
    if case .receiving(let head, _) = phase { isHead = head.method == .HEAD }
    phase = .answering(ResponseFraming(isHead: isHead, isHTTP10: false, keepsAlive: false))
    pending.removeAll()
    letGo()
    requestCount += 1
    (givenID, beganAt) = (nil, .now())
    answer(response, to: requestCount, of: ResponseSource(client: peer))
  }
}

// MARK: - Answers

extension HTTPConnection {
  /// Bytes of an answer beyond which the next request waits until the socket took them.
  private static let eagerBytesMax = 64 << 10

  /// Writes the answer to request `number`; a second one, and one for a closed connection, is dropped.
  func answer(_ response: HTTPResponse, to number: Int, of source: ResponseSource) {
    guard number == requestCount, case .answering(let asked) = phase, let context else { return }
    metrics.count(response.status, of: source.routeClass)
    metrics.note(.now() - beganAt, of: source.routeClass)
    let response = identified(response, of: source.routeClass)
    let framing = ResponseFraming(
      isHead: asked.isHead, isHTTP10: asked.isHTTP10,
      keepsAlive: asked.keepsAlive && !isClosing && !response.closesConnection)
    date.set(clock.now())
    var buffer = context.channel.allocator.buffer(capacity: response.body.count + 320)
    response.write(to: &buffer, framing: framing, date: date)
    let count = buffer.readableBytes
    if count <= Self.eagerBytesMax, context.channel.isWritable {
      context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
      didSend(keepsAlive: framing.keepsAlive)
      return
    }
    phase = .sending
    deadline = .now() + configuration.exchangeTimeout + allowance(for: count)
    guard holdUnread(count, source: source, context: context) else { return context.close(promise: nil) }
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { result in
      if case .success = result, case .sending = self.phase { self.didSend(keepsAlive: framing.keepsAlive) }
    }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: sent)
  }

  /// Answers request `number` with a stream that takes this handler's place, and never gives the connection back.
  func stream(
    to number: Int, limitedBy streams: any StreamCounting, of source: ResponseSource,
    make: (StreamOpening) -> any ChannelHandler
  ) {
    guard number == requestCount, case .answering(let asked) = phase, let context else { return }
    guard !isClosing, !isInputClosed, streams.open() else {
      let refusal = HTTPResponse.error(
        .serviceUnavailable, message: "There are too many streams, or the server stops; try again later.")
      return answer(refusal, to: number, of: source)
    }
    guard claimsNetwork(of: source.client, context: context) else {
      streams.close()
      return answer(Self.tooManyConnections, to: number, of: source)
    }
    date.set(clock.now())
    let opening = StreamOpening(source: source, isHTTP10: asked.isHTTP10, date: date, metrics: metrics)
    guard !asked.isHead else {
      streams.close()
      context.writeAndFlush(wrapOutboundOut(opening.head(context.channel.allocator)), promise: nil)
      return linger(context)
    }
    let pipeline = context.pipeline.syncOperations
    do {
      try pipeline.addHandler(make(opening), position: .after(self))
    } catch {
      streams.close()
      return context.close(promise: nil)
    }
    if isReadHeld { context.read() }
    pipeline.removeHandler(context: context, promise: nil)
  }

  private func didSend(keepsAlive: Bool) {
    guard let context else { return }
    outputShare = nil
    guard keepsAlive else { return linger(context) }
    enterIdle()
    // Answers that come at once must not nest: the loop below goes on with the requests that wait.
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    while isTaking, let input = pending.popFirst() { take(input, context: context) }
    guard isTaking else { return }
    if let parserError {
      self.parserError = nil
      return refuse(parserError, context: context)
    }
    if isClosing || isInputClosed, case .idle = phase { return context.close(promise: nil) }
    if isReadHeld {
      isReadHeld = false
      context.read()
    }
  }

  /// Whether the next part of a request can be looked at.
  private var isTaking: Bool {
    switch phase {
    case .idle, .receiving: true
    case .answering, .sending, .lingering, .closed: false
    }
  }

  /// Ends the connection so that the client still reads the last answer.
  ///
  /// Closing a socket with unread bytes makes the system send a reset, which overtakes the answer (RFC 9112 §9.6): so only
  /// our direction is closed at first.
  private func linger(_ context: ChannelHandlerContext) {
    phase = .lingering
    deadline = .now() + .seconds(2)
    pending.removeAll()
    startTimer(context)
    context.close(mode: .output, promise: nil)
    if isReadHeld {
      isReadHeld = false
      context.read()
    }
  }
}
