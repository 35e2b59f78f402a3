import NIOCore
import NIOHTTP1

extension HTTPConnection {
  /// Hands the connection over if the request asks for that and is accepted.
  ///
  /// - Returns: whether the request is settled.
  func takesUpgrade(_ head: HTTPRequestHead, from client: ClientAddress, context: ChannelHandlerContext) -> Bool {
    guard claimsNetwork(of: client, context: context) else {
      refuse(Self.tooManyConnections, context: context)
      return true
    }
    switch sockets?.accept(head, on: context.channel, from: client) ?? .ignored {
    case .ignored: return false
    case .refused(let response):
      refuse(response, context: context)
      return true
    case .accepted(let answer, let successors):
      context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
      let pipeline = context.pipeline.syncOperations
      do {
        let reader = try pipeline.context(handlerType: RequestReader.self)
        let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        // One by one: each finds those before it in place.
        var last: any ChannelHandler = self
        for successor in successors {
          try pipeline.addHandler(successor, position: .after(last))
          last = successor
        }
        pipeline.removeHandler(self, promise: nil)
        // The decoder stopped behind this request; what it has read beyond goes to the successor.
        pipeline.removeHandler(context: reader, promise: nil)
        pipeline.removeHandler(context: decoder, promise: nil)
      } catch {
        context.close(promise: nil)
      }
      return true
    }
  }
}
