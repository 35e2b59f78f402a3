import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// A connection that has become a stream of server-sent events: one listen, until either side ends it.
///
/// Takes the place of `HTTPConnection` behind NIO's decoder. What the client still sends is discarded.
///
/// `@unchecked Sendable`: touched on the connection's event loop only, which is also its listener's executor.
final class EventStream: ChannelInboundHandler, ListenSink, @unchecked Sendable {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  private let streams: EventStreams
  private let request: ListenRequest
  private let caller: Caller
  private let client: ClientAddress
  /// Whether the caller may still read there.
  private let admission: ListenAdmission
  private var context: ChannelHandlerContext?
  private var listener: Listener?
  private var memory: EventTextMemory?
  private var keepAlive: RepeatedTask?
  /// Events that other streams are sent too.
  private var output: SharedOutput?
  /// Bytes that were written while the socket took no more.
  private var outstanding = 0
  /// Accounts for bytes that the client has not read.
  private var outputShare: ByteShare?
  /// How the client reads what the socket does not take at once; nil while it takes everything.
  private var stall: StreamStall?
  /// What comes before the first event; nil once that is written, and nothing is written before it.
  private var opening: StreamOpening?
  private var isEnding = false
  /// Tells the stream when its user's tokens are revoked.
  private var userRegistration: ConnectedUsers.Registration?

  /// - `request`: the listen; its format is plain, or export if the client asked for that.
  init(
    streams: EventStreams, request: ListenRequest, caller: Caller, opening: StreamOpening, admission: ListenAdmission
  ) {
    self.streams = streams
    self.opening = opening
    client = opening.source.client
    self.request = request
    self.caller = caller
    self.admission = admission
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    output = SharedOutput(below: context)
    memory = streams.memory(of: context.eventLoop)
    let listener = streams.hub.attach(self, on: EventLoopExecutor(context.eventLoop))
    self.listener = listener
    // A commit between the check of the request and now may have revoked access.
    guard mayRead() else { return refuse() }
    _ = listener.listen(request)
    noticeDeadPeers(context)
    let stream = NIOLoopBound(self, eventLoop: context.eventLoop)
    let loop = context.eventLoop
    userRegistration = streams.users.add(caller) { _ in loop.execute { stream.value.checkCredential() } }
    keepAlive = context.eventLoop.scheduleRepeatedTask(
      initialDelay: streams.limits.keepAliveInterval, delay: streams.limits.keepAliveInterval
    ) { _ in stream.value.tick() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
    output = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      drained()
    } else {
      stall = StreamStall(at: .now(), left: left)
      holdUnread(context)
    }
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A client that closes its sending side has left, since nothing else reads the stream. A stopping server ends streams;
    // clients reconnect.
    if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
    if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func end() {
    keepAlive?.cancel()
    keepAlive = nil
    outputShare = nil
    if let userRegistration { streams.users.remove(userRegistration) }
    userRegistration = nil
    // Also when the listener is gone already: a review may have looked once more since then.
    admission.end()
    guard let listener else { return }
    self.listener = nil
    listener.close()
    streams.close()
  }
}

// MARK: - Events

extension EventStream {
  func receive(_ event: ListenEvent, for listening: Listening) -> Int {
    guard let context, let output, let memory, !isEnding else { return 0 }
    switch event {
    case .snapshot(let message), .change(let message):
      let text = memory.text(of: message, allocator: context.channel.allocator)
      let bytes = text.buffer.readableBytes
      begin(context)
      // Counted first: the write may report that the socket is full before it returns.
      outstanding += bytes
      output.append(text)
      if stall != nil { holdUnread(context) }
      return bytes
    // A stream has no hash that could be current.
    case .current: return 0
    case .ended(let end): ended(end)
    }
    return 0
  }

  /// Writes what comes before the first event.
  private func begin(_ context: ChannelHandlerContext) {
    guard let opening else { return }
    self.opening = nil
    output?.yield()
    context.write(wrapOutboundOut(opening.head(context.channel.allocator)), promise: nil)
  }

  private func ended(_ end: ListenEnd) {
    switch end {
    case .namespaceForgotten:
      finish(nil, or: APIError(.serviceUnavailable, "unavailable", "The database was deleted; ask again for the new one."))
    case .revoked: finish(EventText.cancel, or: .permissionDenied)
    case .tooLarge: finish(EventText.cancel, or: .tooMuchToRead)
    // Without the event that says it is for good: who loses the connection comes back.
    case .unavailable: finish(nil, or: .notReadable)
    case .failed:
      finish(EventText.cancel, or: APIError(.serviceUnavailable, "unavailable", "The data could not be read; try again."))
    }
  }

  func flush() {
    guard let context, let output else { return }
    memory?.didFlush()
    if output.flush() || context.channel.isWritable { drained() }
  }

  func mayContinue(_ listening: Listening) -> Bool {
    guard !mayRead() else { return true }
    guard admission.isUnavailable else { return false }
    finish(nil, or: .notReadable)
    return true
  }

  private func refuse() {
    if admission.isUnavailable { return finish(nil, or: .notReadable) }
    finish(EventText.cancel, or: .permissionDenied)
  }

  /// Judges the stream, now and whenever what its rules looked at changes.
  private func mayRead() -> Bool {
    guard let eventLoop = context?.eventLoop else { return false }
    let stream = NIOLoopBound(self, eventLoop: eventLoop)
    return admission.admits(caller) { eventLoop.execute { stream.value.review() } }
  }

  private func review() {
    guard let listener, !mayRead() else { return }
    listener.close()
    refuse()
  }

  /// Written bytes have left, or wait in the socket's own bounded buffer.
  private func drained() {
    stall = nil
    output?.noteDrained()
    outputShare = nil
    let bytes = outstanding
    outstanding = 0
    if bytes > 0 { listener?.didWrite(bytes) }
  }

  /// Counts what the client does not read. What other streams are sent too counts once.
  private func holdUnread(_ context: ChannelHandlerContext) {
    let stream = NIOLoopBound(self, eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    let share =
      outputShare
      ?? streams.output.share(of: client) { eventLoop.execute { stream.value.context?.close(promise: nil) } }
    outputShare = share
    if !share.hold(output?.countedBytes ?? 0, as: caller.standing) { context.close(promise: nil) }
  }

  /// Bytes of what is outstanding that the system has taken: while the socket is full this grows as the client reads.
  private var left: Int {
    outstanding - (output?.waitingBytes ?? 0)
  }

  /// Sends a last event and closes; a stream that has not begun is refused.
  private func finish(_ text: ByteBuffer?, or error: APIError) {
    guard let context, !isEnding else { return }
    isEnding = true
    let channel = context.channel
    var last = text
    if let opening {
      self.opening = nil
      last = opening.refusal(error.treeResponse, channel.allocator)
    }
    guard let last else { return context.close(promise: nil) }
    output?.yield()
    context.writeAndFlush(wrapOutboundOut(last)).whenComplete { _ in channel.close(promise: nil) }
  }

  private func tick() {
    guard let context, !isEnding else { return }
    if let isOver = stall?.isOver(after: streams.limits.stallTimeout, at: .now(), left: left) {
      if isOver { context.close(promise: nil) }
      return
    }
    if checkCredential() { return }
    guard opening == nil else { return }
    output?.yield()
    context.writeAndFlush(wrapOutboundOut(EventText.keepAlive), promise: nil)
  }

  /// Ends the stream if its credential has; true if so.
  @discardableResult
  private func checkCredential() -> Bool {
    guard !isEnding else { return true }
    let isOver = caller.validUntil.map { $0 <= streams.clock.now() } ?? false
    guard isOver || streams.authenticator.isVoid(caller) else { return false }
    finish(EventText.credentialExpired, or: APIError(AccessError.expiredToken))
    return true
  }

  /// A peer that vanished acknowledges nothing: the system closes the socket after the stall timeout.
  private func noticeDeadPeers(_ context: ChannelHandlerContext) {
    #if os(Linux)
      let userTimeout = NIOBSDSocket.Option(rawValue: 18)
      let milliseconds = streams.limits.stallTimeout.nanoseconds / 1_000_000
      context.channel.setOption(
        ChannelOptions.Types.SocketOption(level: .tcp, name: userTimeout), value: numericCast(milliseconds)
      ).whenFailure { _ in }
    #endif
  }
}

/// Whether a client still reads while more waits for it than its socket takes.
///
/// A large snapshot is one write, and the socket counts as full until nearly all of it has left: a client that reads slowly
/// must not be taken for one that reads nothing. Pure.
struct StreamStall {
  /// When something had left for the last time, as far as it was looked at.
  private var since: NIODeadline
  /// How much had left by then.
  private var left: Int

  init(at now: NIODeadline, left: Int) {
    since = now
    self.left = left
  }

  /// Whether no byte has left for this long.
  ///
  /// - `left`: bytes that have left by now.
  mutating func isOver(after limit: TimeAmount, at now: NIODeadline, left: Int) -> Bool {
    guard left <= self.left else {
      self.left = left
      since = now
      return false
    }
    return since + limit <= now
  }
}
