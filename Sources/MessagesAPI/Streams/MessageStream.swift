import HTTPServer
import Messages
import NIOCore
import NIOHTTP1
import StorageCore
import TreeModel

/// A connection on which one app is told that a message waits: it fetches then, for the message comes with the fetch.
///
/// What a slow client does not take is left out: its next fetch says as much. Touched on the connection's event loop only.
final class MessageStream: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  /// How often the stream says that it is alive.
  private static let keepAlive = TimeAmount.seconds(30)

  private let source: MessageStreamSource
  private let opening: StreamOpening
  private var context: ChannelHandlerContext?
  private var timer: RepeatedTask?
  private var number: Int?
  /// Beats at which the client took nothing.
  private var beatsUnwritable = 0

  init(source: MessageStreamSource, opening: StreamOpening) {
    self.source = source
    self.opening = opening
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let (stream, eventLoop) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.eventLoop)
    number = source.messages.hub.join(source.instance, uid: source.caller.uid, at: source.messages.clock.now()) { signal in
      eventLoop.execute { stream.value.tell(signal) }
    }
    context.write(wrapOutboundOut(opening.head(context.channel.allocator)), promise: nil)
    send("keep-alive", content: .null)
    timer = eventLoop.scheduleRepeatedTask(initialDelay: Self.keepAlive, delay: Self.keepAlive) { _ in stream.value.beat() }
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
    if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
    if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func end() {
    guard let number else { return }
    self.number = nil
    timer?.cancel()
    timer = nil
    source.messages.hub.leave(source.instance, number: number)
    StreamAdmission.all.close()
  }

  private func tell(_ signal: MessageSignal) {
    guard number != nil, let context else { return }
    switch signal {
    case .trigger(let event): send("trigger", content: event.clientJSON)
    case .refresh: send("refresh", content: .null)
    case .replaced:
      send("replaced", content: .null)
      context.close(promise: nil)
    }
  }

  private func beat() {
    guard number != nil, let context else { return }
    guard context.channel.isWritable else {
      beatsUnwritable += 1
      if beatsUnwritable > 2 { context.close(promise: nil) }
      return
    }
    beatsUnwritable = 0
    // The app signs in again, and listens again.
    if source.isOver { return context.close(promise: nil) }
    send("keep-alive", content: .null)
  }

  private func send(_ event: StaticString, content: JSON) {
    guard let context, context.channel.isWritable else { return }
    var writer = JSONWriter(capacity: 256)
    writer.write(content)
    var buffer = context.channel.allocator.buffer(capacity: writer.bytes.count + 32)
    buffer.writeStaticString("event: ")
    buffer.writeStaticString(event)
    buffer.writeStaticString("\ndata: ")
    buffer.writeBytes(writer.bytes)
    buffer.writeStaticString("\n\n")
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }
}
