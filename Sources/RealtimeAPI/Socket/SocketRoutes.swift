import APISupport
import Crypto
package import HTTPServer
package import NIOCore
package import NIOHTTP1
import TextFormats
import TreeModel

/// Where realtime clients come in: `/.ws` as a WebSocket, `/.lp` by long polling.
package final class SocketRoutes: SocketAccepting, RequestSurface {
  let sessions: SocketSessions
  let services: RealtimeServices
  private let polls: LongPollRoutes

  /// - `pace`: how fast clients may write; nil for as fast as they can.
  package init(services: RealtimeServices, limits: SocketLimits = SocketLimits(), pace: SocketPace? = nil) {
    self.services = services
    sessions = SocketSessions(services: services, limits: limits, pace: pace)
    polls = LongPollRoutes(sessions: sessions)
  }

  package func accept(_ head: HTTPRequestHead, on channel: any Channel, from client: ClientAddress) -> SocketAcceptance {
    guard WebSocketHandshake.isAsked(by: head), let target = RequestTarget(head.uri), target.path.elementsEqual("/.ws".utf8)
    else { return .ignored }
    do throws(WebSocketHandshakeError) {
      let answer = try WebSocketHandshake.answer(to: head)
      let start = try SocketStart(query: target.query, headers: head.headers, services: services)
      let receiver = try receiver(start, of: client, on: channel.eventLoop)
      let connection = WebSocketConnection(
        session: receiver, client: client, limits: sessions.limits, memory: services.memory,
        metrics: services.metrics.sockets)
      return .accepted(answer: answer, successors: connection.handlers)
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
      .error(
        .upgradeRequired, message: "This is where WebSockets connect: send Upgrade: websocket. A proxy may have removed it."
      )
      .adding("Upgrade", value: "websocket"))
    return true
  }

  /// A new session, or the way to the one that the client carries on with.
  private func receiver(_ start: SocketStart, of client: ClientAddress, on eventLoop: any EventLoop)
    throws(WebSocketHandshakeError) -> any SocketReceiver
  {
    guard let id = start.session else {
      guard let session = sessions.open(start, of: client, on: eventLoop) else { throw .init(Self.full) }
      return session
    }
    guard let session = sessions.find(id) else {
      throw .init(.error(.notFound, message: "This session is over: connect again without s."))
    }
    return CrossLoopSession(session: session, eventLoop: eventLoop)
  }

  static let full = HTTPResponse.error(
    .serviceUnavailable, message: "There are as many clients as this server takes: try again later.")

  package func stop(on eventLoop: any EventLoop) -> EventLoopFuture<Void> { sessions.stop(on: eventLoop) }
}

/// The HTTP half of a WebSocket's beginning (RFC 6455 §4.2).
enum WebSocketHandshake {
  private static let magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// Whether a request asks for a WebSocket at all: other protocols may be offered in `Upgrade`, and ignored.
  static func isAsked(by head: HTTPRequestHead) -> Bool {
    head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
  }

  /// The bytes that turn the connection into a WebSocket.
  ///
  /// - Throws: the answer to a request that cannot be accepted.
  static func answer(to head: HTTPRequestHead) throws(WebSocketHandshakeError) -> ByteBuffer {
    guard head.method == .GET, head.version == .http1_1 else {
      throw WebSocketHandshakeError(.error(.badRequest, message: "A WebSocket begins with a GET of HTTP/1.1."))
    }
    guard head.headers[canonicalForm: "connection"].contains(where: { $0.lowercased() == "upgrade" }) else {
      throw WebSocketHandshakeError(
        .error(.badRequest, message: "A WebSocket needs the header Connection: Upgrade. A proxy may have removed it."))
    }
    guard head.headers.first(name: "sec-websocket-version") == "13" else {
      throw WebSocketHandshakeError(
        .error(.upgradeRequired, message: "This server speaks version 13 of WebSocket.").adding(
          "Sec-WebSocket-Version", value: "13"))
    }
    guard let key = head.headers.first(name: "sec-websocket-key"), isKey(key) else {
      throw WebSocketHandshakeError(.error(.badRequest, message: "Sec-WebSocket-Key must be 16 bytes in base64."))
    }
    let accept = Base64.encode(Insecure.SHA1.hash(data: Array((key + magic).utf8)), as: .standard)
    return ByteBuffer(
      string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(accept)\r\n\r\n")
  }

  private static func isKey(_ key: String) -> Bool {
    key.utf8.count == 24 && Base64.decode(key.utf8)?.count == 16
  }
}

/// A request that is answered instead of accepted.
struct WebSocketHandshakeError: Error {
  let response: HTTPResponse

  init(_ response: HTTPResponse) {
    self.response = response
  }
}
