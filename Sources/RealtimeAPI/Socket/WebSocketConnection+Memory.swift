import HTTPServer
import NIOCore

/// How a WebSocket takes part in the server's ``MemoryBudgets``.
extension WebSocketConnection {
  private static let memoryIsShort = WebSocketFault(
    .tryAgainLater, "The server takes in as much as it can at once: connect again, or send less at a time.")

  /// Counts the frames and pieces that are not whole.
  func holdUnfinished(_ context: ChannelHandlerContext) throws(WebSocketFault) {
    let bytes = reader.heldBytes + assembler.heldBytes
    guard bytes >= ByteShare.step else {
      if inputShare != nil { inputShare = nil }
      return
    }
    let share = inputShare ?? share(of: memory.input, context) { $0.session.end(Self.memoryIsShort) }
    inputShare = share
    if !share.hold(bytes, as: session.standing) { throw Self.memoryIsShort }
  }

  /// Counts what the client does not read. What others are sent too counts once.
  func holdUnread(_ context: ChannelHandlerContext) {
    let bytes = waitingBytes(context) - sharedBytes
    let share = outputShare ?? share(of: memory.output, context) { $0.closeUnread() }
    outputShare = share
    if !share.hold(max(0, bytes), as: session.standing) { closeUnread() }
  }

  /// A close frame would wait behind everything else.
  private func closeUnread() {
    guard let context else { return }
    outputShare = nil
    context.close(promise: nil)
  }

  private func share(
    of budget: ByteBudget, _ context: ChannelHandlerContext,
    giveUp: @escaping @Sendable (WebSocketConnection) -> Void
  ) -> ByteShare {
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    return budget.share(of: client) { eventLoop.execute { giveUp(connection.value) } }
  }
}
