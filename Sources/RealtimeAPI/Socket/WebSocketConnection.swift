import CoreMetrics
import HTTPServer
import NIOCore
import NIOWebSocket

/// A session's WebSocket: the last handler of its channel, behind NIO's frame decoder and encoder.
///
/// Bounded on both sides. While the session has as many requests as it may, or the client does not read its answers, nothing is
/// read from the client, so its own socket fills; pushes are bounded by the hub. One timer finds dead peers: a silent client is
/// pinged, a client that does not answer is closed, and so is one that does not read for too long.
final class WebSocketConnection: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = Never
  typealias OutboundOut = WebSocketFrame

  let session: any SocketReceiver
  let client: ClientAddress
  let limits: SocketLimits
  let memory: MemoryBudgets
  private let metrics: SocketMetrics
  private let encoder = WebSocketFrameEncoder()
  private lazy var decoder = ClientFrameDecoder(messageBytesMax: limits.messageBytesMax) { [unowned self] in demand }
  private var fragments = FragmentAssembler()
  private var assembler: MessageAssembler
  private var context: ChannelHandlerContext?
  /// Below the decoder and the encoder.
  private var wire: ChannelHandlerContext?
  /// Frames that others are sent too; enters the pipeline where they are bytes already.
  private var output: SharedOutput?
  /// Accounts for incomplete messages.
  private var inputShare: ByteShare?
  /// Accounts for bytes that the client has not read.
  private var outputShare: ByteShare?
  private var timer: Scheduled<Void>?
  private var lastHeard = NIODeadline.now()
  /// When a client that does not read what waits for it is given up.
  private var readingDeadline: NIODeadline?
  private var isReadHeld = false
  /// What the last ping said, while its answer is still to be sent.
  private var pong: [UInt8]?
  private var isFlushQueued = false
  /// Whether a close frame was sent: nothing is sent after it, and nothing taken.
  private var isClosing = false

  init(
    session: any SocketReceiver, client: ClientAddress, limits: SocketLimits, memory: MemoryBudgets, metrics: SocketMetrics
  ) {
    self.session = session
    self.client = client
    self.memory = memory
    self.limits = limits
    self.metrics = metrics
    assembler = MessageAssembler(bytesMax: limits.messageBytesMax)
  }

  /// The handlers of a WebSocket, in the order in which it is to be added.
  var handlers: [any ChannelHandler] { [encoder, ByteToMessageHandler(decoder), self] }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    wire = try? context.pipeline.syncOperations.context(handler: encoder)
    output = wire.map(SharedOutput.init(below:))
    // Most of thousands of sockets are idle: none of them keeps a large receive buffer.
    _ = try? context.channel.syncOptions?.setOption(
      .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 512, maximum: 64 << 10))
    _ = try? context.channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    startTimer(context, in: limits.pingInterval)
    session.start(on: self)
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    do throws(WebSocketError) {
      try take(unwrapInboundIn(data), context)
    } catch {
      session.end(error)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // Also where a frame has not come to its end: a large one may take its time.
    lastHeard = .now()
    holdUnfinished(context)
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if isFull, !isClosing { isReadHeld = true } else { context.read() }
  }

  /// Whether nothing is read for now: the session has enough to do, wherever it lives, or the client does not read.
  private var isFull: Bool { session.isFull || isCongested }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      readingDeadline = nil
      output?.noteDrained()
      outputShare = nil
      session.transportIsWritable()
      resume()
    } else {
      let allowance = Int64(output?.waitingBytes ?? 0) * 1000 / Int64(max(1, limits.bytesPerSecondMin))
      readingDeadline = .now() + limits.silenceMax + .milliseconds(allowance)
      holdUnread(context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After a refused frame further input is ignored: the close frame is on its way.
    if isClosing, case .some(.dataReceivedInErrorState) = error as? ByteToMessageDecoderError { return }
    guard let error = error as? WebSocketError else { return context.close(promise: nil) }
    session.end(error)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { session.end(WebSocketError(.goingAway, "The server stops; connect again.")) }
    // A WebSocket has no use for half a connection.
    if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func end() {
    guard context != nil else { return }
    context = nil
    wire = nil
    output = nil
    inputShare = nil
    outputShare = nil
    timer?.cancel()
    session.transportEnded(self)
  }
}

// MARK: - From the client

extension WebSocketConnection {
  /// Whether the session takes another frame.
  private var demand: ClientFrameDecoder.Demand {
    if isClosing || context == nil { return .ended }
    return isFull ? .paused : .open
  }

  private func take(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) throws(WebSocketError) {
    guard let event = try fragments.take(frame) else { return }
    metrics.framesReceived.increment()
    switch event {
    case .text(let text):
      if case .message(let message) = try assembler.take(text) { session.receive(message, from: self) }
    case .ping(let payload):
      // One answer a turn: only the last ping needs one (RFC 6455 §5.5.3).
      let isDue = pong != nil
      pong = payload
      if !isDue { later { $0.sendPong() } }
    case .pong: break
    case .close(let code):
      sendClose(code ?? 1000, reason: "", context: context)
      context.close(promise: nil)
    }
  }

  private func sendPong() {
    guard let payload = pong.take(), let context, !isClosing else { return }
    queue(WebSocketFrame(fin: true, opcode: .pong, data: ByteBuffer(bytes: payload)), context: context)
  }

  func resume() {
    guard let context, !isFull else { return }
    if decoder.heldBytes > 0, !decoder.isDecoding {
      // Nothing arrived; the decoder parses again what it holds.
      wire?.fireChannelRead(NIOAny(ByteBuffer()))
      holdUnfinished(context)
    }
    if isReadHeld, !isFull {
      isReadHeld = false
      context.read()
    }
  }
}

// MARK: - To the client

extension WebSocketConnection: SocketTransport {
  var isCongested: Bool { output?.isCongested == true }

  func send(_ message: [UInt8]) {
    guard let context, !isClosing else { return }
    guard let pieces = MessagePieces.cut(message) else { return endForSize() }
    metrics.framesSent.increment(by: MessagePieces.frameCount(message))
    if pieces.count > 1 { queue(.text("\(pieces.count)".utf8), context: context) }
    for piece in pieces { queue(.text(message[piece]), context: context) }
  }

  func send(_ message: SharedMessage) -> Int {
    guard let context, let output, !isClosing else { return 0 }
    guard let frames = message.frames else {
      endForSize()
      return 0
    }
    metrics.framesSent.increment(by: message.frameCount)
    output.append(frames)
    if output.isCongested { holdUnread(context) }
    return frames.buffer.readableBytes
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    guard let output else { return }
    if output.flush() { done() } else { output.whenSent(done) }
  }

  private func endForSize() {
    later { $0.session.end(WebSocketError(.messageTooBig, "The data are larger than a message can be: ask for less at once.")) }
  }

  /// Runs `body` in a turn of its own: the session may be in the middle of a `send`.
  private func later(_ body: @escaping @Sendable (WebSocketConnection) -> Void) {
    guard let context else { return }
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { body(connection.value) }
  }

  func close(_ error: WebSocketError) {
    guard let context, !isClosing else { return }
    sendClose(error.code.rawValue, reason: error.reason, context: context)
    // Closing a socket with unread bytes would make the system send a reset, which overtakes the close frame.
    context.close(mode: .output, promise: nil)
    timer?.cancel()
    startTimer(context, in: .seconds(2))
    context.read()
  }

  private func sendClose(_ code: UInt16, reason: String, context: ChannelHandlerContext) {
    guard !isClosing else { return }
    sendPong()
    isClosing = true
    fragments = FragmentAssembler()
    assembler = MessageAssembler(bytesMax: limits.messageBytesMax)
    dropUndecoded()
    inputShare = nil
    output?.yield()
    context.writeAndFlush(wrapOutboundOut(.close(code, reason)), promise: nil)
  }

  /// Nothing more is taken: a frame that has not come to its end need not be kept until the client has closed.
  private func dropUndecoded() {
    // While it decodes, it drops the rest by itself.
    if decoder.heldBytes > 0, !decoder.isDecoding { wire?.fireChannelRead(NIOAny(ByteBuffer())) }
  }

  /// Writes now and flushes when the loop has done what else is due, so that answers that come together leave together.
  private func queue(_ frame: WebSocketFrame, context: ChannelHandlerContext) {
    output?.yield()
    context.write(wrapOutboundOut(frame), promise: nil)
    if !context.channel.isWritable { holdUnread(context) }
    guard !isFlushQueued else { return }
    isFlushQueued = true
    later { connection in
      connection.isFlushQueued = false
      connection.context?.flush()
    }
  }
}

// MARK: - Time

extension WebSocketConnection {
  private func startTimer(_ context: ChannelHandlerContext, in delay: TimeAmount) {
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: delay) { connection.value.timerFired() }
  }

  private func timerFired() {
    guard let context else { return }
    if isClosing { return context.close(promise: nil) }
    if let readingDeadline, readingDeadline <= .now() {
      // A close frame would wait behind everything else.
      metrics.slowReaders.increment()
      return context.close(promise: nil)
    }
    // A client that is not read from cannot be heard, and one that still reads what came before a ping cannot answer it.
    if isReadHeld || readingDeadline != nil { lastHeard = .now() }
    let silence = NIODeadline.now() - lastHeard
    if silence >= limits.silenceMax { return context.close(promise: nil) }
    if silence >= limits.pingInterval { queue(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()), context: context) }
    let next = silence >= limits.pingInterval ? limits.silenceMax - silence : limits.pingInterval - silence
    startTimer(context, in: min(next, limits.pingInterval))
  }
}

// MARK: - Memory

extension WebSocketConnection {
  private static let memoryIsShort = WebSocketError(
    .tryAgainLater, "The server takes in as much as it can at once: connect again, or send less at a time.")

  /// Bytes of frames and pieces that are not whole.
  var heldBytes: Int { decoder.heldBytes + fragments.heldBytes + assembler.heldBytes }

  /// Counts the frames and pieces that are not whole.
  private func holdUnfinished(_ context: ChannelHandlerContext) {
    guard !isClosing, self.context != nil else { return }
    let bytes = heldBytes
    guard bytes >= ByteShare.step else {
      if inputShare != nil { inputShare = nil }
      return
    }
    let share = inputShare ?? share(of: memory.input, context: context) { $0.endForMemory() }
    inputShare = share
    if !share.hold(bytes, as: session.standing) { endForMemory() }
  }

  /// The bytes are let go here and now, also where the session lives on another event loop.
  private func endForMemory() {
    session.end(Self.memoryIsShort)
    close(Self.memoryIsShort)
  }

  /// Counts what the client does not read. What others are sent too counts once.
  private func holdUnread(_ context: ChannelHandlerContext) {
    let bytes = output?.countedBytes ?? 0
    let share = outputShare ?? share(of: memory.output, context: context) { $0.closeUnread() }
    outputShare = share
    if !share.hold(bytes, as: session.standing) { later { $0.closeUnread() } }
  }

  /// A close frame would wait behind everything else.
  private func closeUnread() {
    guard let context else { return }
    outputShare = nil
    context.close(promise: nil)
  }

  private func share(
    of budget: ByteBudget, context: ChannelHandlerContext,
    giveUp: @escaping @Sendable (WebSocketConnection) -> Void
  ) -> ByteShare {
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    return budget.share(of: client) { eventLoop.execute { giveUp(connection.value) } }
  }
}
