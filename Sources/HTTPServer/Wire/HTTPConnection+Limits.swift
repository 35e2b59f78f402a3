import NIOCore
import NIOHTTP1

/// How a connection takes part in the server's ``MemoryBudgets``.
extension HTTPConnection {
  /// Whether a request's data may be held while it is worked on.
  struct WorkShare {
    /// Counts them; nil where there is next to nothing to count.
    let held: ByteShare?
  }

  /// Counts a body that is not whole.
  func holdUnfinished(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    guard let body, body.readableBytes >= ByteShare.step else { return }
    let share = inputShare ?? makeInputShare(client(head.headers), context: context)
    inputShare = share
    if !share.hold(body.readableBytes, as: standing(of: head)) { refuse(Self.memoryIsShort, context: context) }
  }

  /// Counts a head that is not whole.
  func holdHead(_ bytes: Int) {
    guard let context else { return }
    switch phase {
    case .lingering, .closed: return
    case .idle, .receiving, .answering, .sending: break
    }
    let share = inputShare ?? makeInputShare(peer, context: context)
    inputShare = share
    if !share.hold(bytes, as: .unauthenticated) { endUnfinished(context) }
  }

  /// Counts what a client has sent ahead, before its last request was answered.
  func holdAhead(_ context: ChannelHandlerContext) {
    let bytes = pending.reduce(0) { sum, input in
      switch input {
      case .part(.body(let bytes)): sum + bytes.readableBytes
      case .whole(let request): sum + (request.body?.readableBytes ?? 0)
      case .part: sum
      }
    }
    guard bytes >= ByteShare.step else { return }
    let share = inputShare ?? makeInputShare(peer, context: context)
    inputShare = share
    // Whose it is, is known when it is looked at.
    if !share.hold(bytes, as: .unauthenticated) { context.close(promise: nil) }
  }

  /// Counts a whole request until it is answered; nil if it was refused.
  func shareOfWork(_ request: HTTPRequest, context: ChannelHandlerContext) -> WorkShare? {
    defer { inputShare = nil }
    guard let weight = request.body?.withUnsafeReadableBytes(InputWeight.of), weight >= ByteShare.step else {
      return WorkShare(held: nil)
    }
    let share = inputShare ?? makeInputShare(request.client, context: context)
    guard share.hold(weight, as: standing(of: request.decodedHead), isReleasable: false) else {
      refuse(Self.memoryIsShort, context: context)
      return nil
    }
    return WorkShare(held: share)
  }

  /// Counts an answer that the client's socket does not take at once; false if it must not be sent.
  func holdUnread(_ bytes: Int, source: ResponseSource, context: ChannelHandlerContext) -> Bool {
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    let share = memory.output.share(of: source.client) {
      eventLoop.execute { connection.value.giveUpOutput() }
    }
    outputShare = share
    return share.hold(bytes, as: source.standing)
  }

  /// Who sends requests with these headers.
  func client(_ headers: @autoclosure () -> HTTPHeaders) -> ClientAddress {
    configuration.trustedProxies.client(of: peer, headers: headers())
  }

  /// Counts the connection for its client's network, where a trusted proxy says who that is; false if that has too many.
  func claimsNetwork(of client: ClientAddress, context: ChannelHandlerContext) -> Bool {
    guard client != peer else { return true }
    return registry.count(context.channel, for: client)
  }

  private func makeInputShare(_ client: ClientAddress, context: ChannelHandlerContext) -> ByteShare {
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    let number = requestCount
    return memory.input.share(of: client) {
      eventLoop.execute { connection.value.giveUpInput(after: number) }
    }
  }

  /// Asked once for each request that holds much.
  private func standing(of head: HTTPRequestHead) -> ClientStanding {
    if let known = inputStanding { return known }
    let standing = responder.standing(of: head)
    inputStanding = standing
    return standing
  }

  /// Others need the memory more: the request that comes behind `number` others is not read to its end, or, if the one before
  /// it is not answered yet, not at all.
  private func giveUpInput(after number: Int) {
    if let context, requestCount == number, inputShare != nil { endUnfinished(context) }
  }

  private func endUnfinished(_ context: ChannelHandlerContext) {
    switch phase {
    case .idle, .receiving: refuse(Self.memoryIsShort, context: context)
    case .answering, .sending: context.close(promise: nil)
    case .lingering, .closed: break
    }
  }

  private func giveUpOutput() {
    guard let context, case .sending = phase else { return }
    context.close(promise: nil)
  }

  static let memoryIsShort = HTTPResponse.error(
    .serviceUnavailable,
    message: "The server takes in as much as it can at once: try again in a few seconds, or send less at a time."
  ).adding("Retry-After", value: "5")

  static let unknownExpectation = HTTPResponse.error(
    .expectationFailed, message: "The only expectation this server knows is 100-continue.")

  static let unknownCoding = HTTPResponse.error(
    .notImplemented, message: "The only transfer coding this server knows is chunked: send the body as it is.")

  static let hostIsUnclear = HTTPResponse.error(
    .badRequest, message: "It is not clear which host the request is for: send one Host header, and no user in the URL.")

  static let tooManyConnections = HTTPResponse.error(
    .serviceUnavailable, message: "There are as many connections from this network as may be: close some, or try again later."
  ).adding("Retry-After", value: "5")
}

extension HTTPConnection {
  /// Looks at the deadline when it should have come; one timer a connection, moved only when it fires.
  ///
  /// Phases set ``deadline`` with a store, never a timer: a busy connection pays nothing for its timeouts.
  func startTimer(_ context: ChannelHandlerContext) {
    timer?.cancel()
    // A phase may set a nearer deadline than the present one: no sleep is longer than the shortest timeout.
    let limit = NIODeadline.now() + min(configuration.idleTimeout, configuration.exchangeTimeout)
    let next = deadline < limit ? deadline : limit
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(deadline: next) { connection.value.timerFired() }
  }

  /// Time that a client gets beyond the timeout for this many bytes.
  func allowance(for bytes: Int) -> TimeAmount {
    .milliseconds(Int64(bytes) * 1000 / Int64(max(1, configuration.bytesPerSecondMin)))
  }

  private func timerFired() {
    guard let context else { return }
    guard deadline <= .now() else { return startTimer(context) }
    switch phase {
    case .receiving:
      refuse(
        .error(.requestTimeout, message: "The request took too long to arrive: send it faster, or in parts."), context: context)
      startTimer(context)
    case .idle, .sending, .lingering: context.close(promise: nil)
    // An answer takes as long as it takes; the deadline was of the phase before.
    case .answering: startTimer(context)
    case .closed: break
    }
  }
}
