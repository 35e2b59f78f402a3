package import NIOCore
package import NIOHTTP1
package import TreeModel

/// What tells one client of events (`text/event-stream`). Called on the connection's event loop only.
package protocol EventStreamSource: AnyObject {
  /// How often ``beat()`` is called.
  static var interval: TimeAmount { get }
  /// At so many beats in a row a client may take nothing; then it is given up.
  static var beatsOfPatience: Int { get }

  /// The head of the answer has left: events may follow.
  func begin(_ connection: EventConnection)
  /// It is time to look whether there is something to tell. Not called while the client takes nothing.
  func beat()
  /// The server stops: a last event may be sent before the connection is closed.
  func serverStops()
  /// The connection is over. Called once, after ``begin(_:)``.
  func end()
}

/// A connection on which a client is told of events, until one of the two ends it.
///
/// Nothing waits for a client that takes nothing: what cannot be sent now is left out, so a source tells of nothing that its next
/// event does not make up for. Touched on the connection's event loop only.
package final class EventConnection: ChannelInboundHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias OutboundOut = ByteBuffer

  private let source: any EventStreamSource
  private let opening: StreamOpening
  private let admission: any StreamCounting
  private var context: ChannelHandlerContext?
  private var timer: RepeatedTask?
  private var beatsUnwritable = 0
  private var isOpen = false

  /// - `admission`: where the stream was counted; it is counted out at its end.
  package init(_ source: any EventStreamSource, opening: StreamOpening, admission: any StreamCounting) {
    self.source = source
    self.opening = opening
    self.admission = admission
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    isOpen = true
    context.writeAndFlush(wrapOutboundOut(opening.head(context.channel.allocator)), promise: nil)
    source.begin(self)
    guard isOpen else { return }
    let (connection, interval) = (NIOLoopBound(self, eventLoop: context.eventLoop), type(of: source).interval)
    timer = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in connection.value.beat() }
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
  }

  package func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  /// A client has nothing more to say.
  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  package func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      if isOpen { source.serverStops() }
      context.close(promise: nil)
    }
    if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  /// Where a source is called, and must call the connection. Only while the connection is there.
  package var eventLoop: any EventLoop {
    guard let context else { preconditionFailure("A source asks its connection only while it is there.") }
    return context.eventLoop
  }

  /// Sends an event.
  ///
  /// - `id`: what the client names when it comes back (`Last-Event-ID`).
  /// - Returns: false if the client takes nothing now, or has gone.
  @discardableResult
  package func send(_ event: StaticString, _ content: JSON, id: Int64? = nil) -> Bool {
    guard isOpen, let context, context.channel.isWritable else { return false }
    var writer = JSONWriter(capacity: 256)
    writer.write(content)
    var buffer = context.channel.allocator.buffer(capacity: writer.bytes.count + 32)
    buffer.writeStaticString("event: ")
    buffer.writeStaticString(event)
    buffer.writeStaticString("\ndata: ")
    buffer.writeBytes(writer.bytes)
    if let id { buffer.writeString("\nid: \(id)") }
    buffer.writeStaticString("\n\n")
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    return true
  }

  /// Closes the connection, behind what was sent.
  package func close() { context?.close(promise: nil) }

  private func beat() {
    guard isOpen, let context else { return }
    guard context.channel.isWritable else {
      beatsUnwritable += 1
      if beatsUnwritable > type(of: source).beatsOfPatience { context.close(promise: nil) }
      return
    }
    beatsUnwritable = 0
    source.beat()
  }

  private func end() {
    guard isOpen else { return }
    isOpen = false
    timer?.cancel()
    timer = nil
    source.end()
    admission.close()
  }
}
