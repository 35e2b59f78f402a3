import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// A connection on which one page of the console is told that something has happened: not what, for it reads the windows that
/// it shows again.
///
/// So a message has a few hundred bytes, whatever is committed, and one that a slow client does not take is left out: the next
/// says as much. Touched on the connection's event loop only.
final class LiveStream: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  /// How often the head of the namespace is looked at.
  private static let tick = TimeAmount.milliseconds(200)
  /// Ticks from one look at the figures to the next.
  private static let ticksOfStatistics = 5
  /// Ticks after which a client that takes nothing is given up.
  private static let ticksOfPatience = 150

  private let source: LiveSource
  private let opening: StreamOpening
  private let admission: LiveAdmission
  private var context: ChannelHandlerContext?
  private var timer: RepeatedTask?
  private var ticks = 0
  private var ticksUnwritable = 0
  /// The newest commit that the page was told of; nil before the first message.
  private var revision: Revision?
  private var isOpen = false

  init(source: LiveSource, opening: StreamOpening, admission: LiveAdmission) {
    self.source = source
    self.opening = opening
    self.admission = admission
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    isOpen = true
    context.write(wrapOutboundOut(opening.head(context.channel.allocator)), promise: nil)
    context.flush()
    askForRevision(context)
    let stream = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in stream.value.look() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { finish("The server stops.") }
    if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func end() {
    guard isOpen else { return }
    isOpen = false
    timer?.cancel()
    timer = nil
    admission.close()
  }

  private func look() {
    guard let context, isOpen else { return }
    ticks &+= 1
    guard context.channel.isWritable else {
      ticksUnwritable += 1
      if ticksUnwritable > Self.ticksOfPatience { context.close(promise: nil) }
      return
    }
    ticksUnwritable = 0
    let isTimeForStatistics = ticks.isMultiple(of: Self.ticksOfStatistics)
    if isTimeForStatistics, let reason = source.reasonToEnd { return finish(reason) }
    askForRevision(context)
    if isTimeForStatistics, let revision { send("stats", source.statistics(revision)) }
  }

  /// Looks which commit is the newest, and tells of it once it is durable.
  private func askForRevision(_ context: ChannelHandlerContext) {
    let (stream, eventLoop) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.eventLoop)
    let isThere = source.findRevision { revision in eventLoop.execute { stream.value.tell(revision) } }
    if !isThere { finish("The namespace was deleted.") }
  }

  private func tell(_ now: Revision) {
    guard isOpen, now > revision ?? Revision(-1) else { return }
    if revision == nil { send("hello", source.hello(now)) } else { send("revision", ["revision": .int(now.rawValue)]) }
    revision = now
  }

  private func finish(_ reason: String) {
    guard let context, isOpen else { return }
    send("bye", ["reason": .string(reason)])
    context.close(promise: nil)
  }

  private func send(_ event: StaticString, _ data: JSON) {
    guard let context else { return }
    var writer = JSONWriter(capacity: 512)
    writer.write(data)
    var buffer = context.channel.allocator.buffer(capacity: writer.bytes.count + 32)
    buffer.writeStaticString("event: ")
    buffer.writeStaticString(event)
    buffer.writeStaticString("\ndata: ")
    buffer.writeBytes(writer.bytes)
    buffer.writeStaticString("\n\n")
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }
}

/// What a page of the console is told of.
struct LiveSource: Sendable {
  let services: AdminServices
  /// The namespace's name.
  let name: String
  let namespace: NamespaceID
  let caller: Caller
  /// The session of the page; nil for a client that has sent a token.
  let session: String?

  /// Finds the newest commit.
  ///
  /// - `found`: called when it is durable: at once, or soon on another thread.
  /// - Returns: false where the namespace is gone.
  func findRevision(_ found: @escaping @Sendable (Revision) -> Void) -> Bool {
    let engine = services.database.engine
    let look = try? engine.readAhead { (snapshot) throws(StorageError) -> Revision in
      try snapshot.head(of: namespace).revision
    }
    guard let look, services.database.namespace(named: name) == namespace else { return false }
    engine.whenDurable(look.position) { found(look.result) }
    return true
  }

  /// Why the page may not listen any more; nil while it may.
  var reasonToEnd: String? {
    if services.authenticator.isVoid(caller) { return "The credential was revoked." }
    // A session ends by its own time.
    if let session { return services.sessions?.isOver(session) == true ? "The session is over." : nil }
    return (caller.validUntil ?? .max) <= services.database.clock.now() ? "The credential has ended." : nil
  }

  func hello(_ revision: Revision) -> JSON {
    ["revision": .int(revision.rawValue), "build": .string(services.consoleBuild), "stats": statistics(revision)]
  }

  /// What is true now, and what was counted since the start.
  func statistics(_ revision: Revision) -> JSON {
    let (metrics, now, figures) = (services.metrics, services.database.clock.now(), services.figures)
    let sight = services.watch?.latest
    let dead = sight?.deadLetters.reduce(0) { $0 + $1.count } ?? 0
    let lag = sight?.oldestPending.map { max(0, now - $0) } ?? 0
    let quickest = services.series.lagP95(now: now, bounds: metrics.effectBounds)
    return [
      "time": .int(now), "revision": .int(revision.rawValue), "commits": .int(figures.commits),
      "events": .int(figures.events), "grants": .int(figures.entries),
      "deadLetters": .int(Int64(dead)), "waiting": .int(figures.waiting), "paused": .int(Int64(sight?.paused.count ?? 0)),
      "running": .int(Int64(services.functions?.backlog.running ?? 0)), "listens": .int(figures.listens),
      "sockets": .int(Int64(metrics.sockets.open)), "streams": .int(Int64(metrics.streams.current)),
      "queue": .int(figures.queue), "effectLag": .int(lag), "lagP95Micros": quickest.map { .int($0) } ?? .null,
    ]
  }
}
