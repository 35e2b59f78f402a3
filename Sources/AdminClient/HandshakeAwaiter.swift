import NIOCore
import NIOTLS

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
      handler.end(.failure(HTTPExchange.Failure.timedOut))
      context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { end(.failure(HTTPExchange.Failure.disconnected)) }

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
    end(.failure(HTTPExchange.Failure.disconnected))
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
