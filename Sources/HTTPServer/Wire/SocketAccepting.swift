package import NIOCore
package import NIOHTTP1

/// Who takes a connection over when its request asks to speak another protocol on it.
package protocol SocketAccepting: Sendable {
  /// Judges a complete request with an `Upgrade` header, on the connection's event loop.
  ///
  /// - Parameter client: who asks, as far as the connection and trusted proxies tell.
  func accept(_ head: HTTPRequestHead, on channel: any Channel, from client: ClientAddress) -> SocketAcceptance
  /// Ends every connection that was taken over; done once nothing of them is left to do.
  func stop(on eventLoop: any EventLoop) -> EventLoopFuture<Void>
}

/// What becomes of a request for an upgrade.
package enum SocketAcceptance {
  /// It is a request like any other: the router answers it.
  case ignored
  /// Answered instead of accepted.
  case refused(HTTPResponse)
  /// `answer` is written, then `successor` takes the place of the HTTP handlers.
  case accepted(answer: ByteBuffer, successor: any ChannelHandler)
}
