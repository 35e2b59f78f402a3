import APISupport
package import HTTPServer
package import NIOCore
package import NIOHTTP1

/// Where realtime clients come in: `/.ws` as a WebSocket, `/.lp` by long polling.
package final class SocketDoor: SocketAccepting, RequestSurface {
  let sessions: SocketSessions
  private let services: RealtimeServices
  private let polls: LongPollRoutes

  /// - Parameter pace: how fast clients may write; nil for as fast as they can.
  package init(services: RealtimeServices, limits: SocketLimits = SocketLimits(), pace: SocketPace? = nil) {
    self.services = services
    sessions = SocketSessions(services: services, limits: limits, pace: pace)
    polls = LongPollRoutes(sessions: sessions)
  }

  package func accept(_ head: HTTPRequestHead, on channel: any Channel, from client: ClientAddress) -> SocketAcceptance {
    guard WebSocketHandshake.isAsked(by: head), let target = RequestTarget(head.uri), target.path.elementsEqual("/.ws".utf8)
    else { return .ignored }
    do throws(WebSocketHandshake.Refusal) {
      let answer = try WebSocketHandshake.answer(to: head)
      let start = try SocketStart(query: target.query, headers: head.headers, services: services)
      let receiver = try receiver(start, of: client, on: channel.eventLoop)
      return .accepted(
        answer: answer,
        successor: WebSocketConnection(
          session: receiver, client: client, limits: sessions.limits, memory: services.memory,
          metrics: services.metrics.sockets))
    } catch {
      return .refused(error.response)
    }
  }

  /// Answers requests for the socket's own paths.
  ///
  /// - Returns: false if the path is not one of them.
  package func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) -> Bool {
    guard target.path.count == 4, target.path.starts(with: "/.".utf8) else { return false }
    if target.path.elementsEqual("/.lp".utf8) {
      polls.respond(to: request, target.query, sink: sink)
      return true
    }
    guard target.path.elementsEqual("/.ws".utf8) else { return false }
    sink.send(
      .error(.upgradeRequired, "This is where WebSockets connect: send Upgrade: websocket. A proxy may have removed it.")
        .adding("Upgrade", "websocket"))
    return true
  }

  /// A new session, or the way to the one that the client carries on with.
  private func receiver(_ start: SocketStart, of client: ClientAddress, on eventLoop: any EventLoop)
    throws(WebSocketHandshake.Refusal) -> any SocketReceiver
  {
    guard let id = start.session else {
      guard let session = sessions.open(start, of: client, on: eventLoop) else { throw .init(Self.full) }
      return session
    }
    guard let session = sessions.find(id) else {
      throw .init(.error(.notFound, "This session is over: connect again without s."))
    }
    return SessionAcrossLoops(session: session, eventLoop: eventLoop)
  }

  static let full = HTTPResponse.error(.serviceUnavailable, "There are as many clients as this server takes: try again later.")

  package func stop(on eventLoop: any EventLoop) -> EventLoopFuture<Void> { sessions.stop(on: eventLoop) }
}
