import NIOCore

/// Stands at the end of the channel and hands each reply to who waits for it.
///
/// One waits at a time. A reply that nobody waits for is kept if it is the only one, such as the greeting, or the word of a
/// server that is about to hang up; more are a fault.
final class SMTPReplyHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// Why there is no reply.
  enum Failure: Error {
    case closed
    case timedOut
    case unexpected
  }

  private var parser = SMTPReplyParser()
  private var early: SMTPReply?
  private var waiting: EventLoopPromise<SMTPReply>?
  private var timer: Scheduled<Void>?
  private var failure: (any Error)?

  /// The next reply, on the channel's loop.
  func next(within timeout: TimeAmount, on channel: any Channel) -> EventLoopFuture<SMTPReply> {
    let promise = channel.eventLoop.makePromise(of: SMTPReply.self)
    if let failure {
      promise.fail(failure)
    } else if let reply = early {
      early = nil
      promise.succeed(reply)
    } else {
      waiting = promise
      let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
      timer = channel.eventLoop.scheduleTask(in: timeout) {
        bound.value.fail(Failure.timedOut)
        channel.close(promise: nil)
      }
    }
    return promise.futureResult
  }

  /// Whether the server said something that nobody has asked for yet: what comes before TLS is not trusted behind it.
  var isAhead: Bool { early != nil || parser.isInside }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    do {
      for reply in try parser.take(unwrapInboundIn(data).readableBytesView) {
        if let promise = waiting {
          waiting = nil
          timer?.cancel()
          promise.succeed(reply)
        } else {
          guard early == nil else { throw Failure.unexpected }
          early = reply
        }
      }
    } catch {
      fail(error)
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(Failure.closed)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error)
    context.close(promise: nil)
  }

  private func fail(_ error: any Error) {
    if failure == nil { failure = error }
    timer?.cancel()
    let promise = waiting
    waiting = nil
    promise?.fail(error)
  }
}
