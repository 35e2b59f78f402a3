import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import Synchronization

/// The requests of long-polling clients: `/.lp` (spec: rtdb-protocol §3.11).
final class LongPollRoutes: Sendable {
  private struct Entry: Sendable {
    let password: String
    let eventLoop: any EventLoop
    let connection: NIOLoopBound<LongPollConnection>
  }

  private let sessions: SocketSessions
  private let connections = Mutex<[String: Entry]>([:])

  init(sessions: SocketSessions) {
    self.sessions = sessions
  }

  func respond(to request: HTTPRequest, _ query: QueryString, sink: ResponseSink) {
    guard request.method == .GET else {
      return sink.send(.error(.methodNotAllowed, "Long polling needs GET only.").adding("Allow", "GET"))
    }
    if query["start"] != nil { return start(request, query, sink) }
    guard let id = query["id"], let password = query["pw"],
      let entry = connections.withLock({ $0[id] }), entry.password == password
    else {
      // The page closes and connects again.
      return sink.send(.longPoll(LongPollScript.close(after: nil)))
    }
    if query["dframe"] != nil {
      return sink.send(HTTPResponse(.ok, content: .html, body: LongPollScript.farewell(id: id, password: password)))
    }
    if query["disconn"] != nil {
      entry.eventLoop.execute { entry.connection.value.leave() }
      return sink.send(.empty(.noContent))
    }
    guard let segments = LongPollSegments.segments(in: query) else {
      return sink.send(.error(.badRequest, "seg, ts and d must be numbered from 0, and seg and ts must be numbers."))
    }
    entry.eventLoop.execute { entry.connection.value.poll(segments, sink) }
  }

  /// Opens a session on the loop of this request.
  private func start(_ request: HTTPRequest, _ query: QueryString, _ sink: ResponseSink) {
    let callback = query["cb"] ?? ""
    guard callback.utf8.count <= 20, callback.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return sink.send(.error(.badRequest, "cb must be a number."))
    }
    let services = sessions.services
    do throws(WebSocketHandshake.Refusal) {
      let start = try SocketStart(query: query, headers: request.headers, services: services)
      guard let session = sessions.open(start, of: request.client, on: sink.eventLoop) else { throw .init(SocketDoor.full) }
      let (id, password) = (sessions.makeID(), sessions.makeID())
      let connection = LongPollConnection(
        session: session, limits: sessions.limits, memory: services.memory, metrics: services.metrics.sockets
      ) { [self] in _ = connections.withLock { $0.removeValue(forKey: id) } }
      let entry = Entry(
        password: password, eventLoop: sink.eventLoop,
        connection: NIOLoopBound(connection, eventLoop: sink.eventLoop))
      connections.withLock { $0[id] = entry }
      sink.send(
        .longPoll(LongPollScript.start(callback: callback, id: id, password: password, connection.start())))
    } catch {
      sink.send(error.response)
    }
  }
}
