import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import Synchronization

/// The requests of long-polling clients: `/.lp` (firebase-js-sdk, `BrowserPollConnection.ts`).
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
      return sink.send(.error(.methodNotAllowed, message: "Long polling needs GET only.").adding("Allow", value: "GET"))
    }
    if query["start"] != nil { return start(request, query: query, sink: sink) }
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
      return sink.send(.error(.badRequest, message: "seg, ts and d must be numbered from 0, and seg and ts must be numbers."))
    }
    entry.eventLoop.execute { entry.connection.value.poll(segments, sink: sink) }
  }

  /// Opens a session on the loop of this request.
  private func start(_ request: HTTPRequest, query: QueryString, sink: ResponseSink) {
    let callback = query["cb"] ?? ""
    guard callback.utf8.count <= 20, callback.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return sink.send(.error(.badRequest, message: "cb must be a number."))
    }
    let services = sessions.services
    do throws(WebSocketHandshakeError) {
      let start = try SocketStart(query: query, headers: request.headers, services: services)
      guard let session = sessions.open(start, of: request.client, on: sink.eventLoop) else { throw .init(SocketRoutes.full) }
      let (id, password) = (sessions.makeID(), sessions.makeID())
      let connection = LongPollConnection(
        session: session, limits: sessions.limits, memory: services.memory, metrics: services.metrics.sockets
      ) { [self] in _ = connections.withLock { $0.removeValue(forKey: id) } }
      let entry = Entry(
        password: password, eventLoop: sink.eventLoop,
        connection: NIOLoopBound(connection, eventLoop: sink.eventLoop))
      connections.withLock { $0[id] = entry }
      sink.send(
        .longPoll(LongPollScript.start(callback: callback, id: id, password: password, messages: connection.start())))
    } catch {
      sink.send(error.response)
    }
  }
}

/// The JavaScript and HTML that long-polling clients load (firebase-js-sdk, `BrowserPollConnection.ts`).
enum LongPollScript {
  /// Defines how later answers reach the page, and greets it.
  ///
  /// - `callback`: the page's number for the connection: digits only, checked where it enters.
  static func start(callback: String, id: String, password: String, messages: [[UInt8]]) -> [UInt8] {
    var text = Array(
      """
      function pLPCommand(c,a1,a2,a3,a4){var f=parent.window["pLPCommand\(callback)"];f&&f(c,a1,a2,a3,a4);}
      function pRTLPCB(n,d){var f=parent.window["pRTLPCB\(callback)"];f&&f(n,d);}
      pLPCommand('start','\(id)','\(password)');

      """.utf8)
    text += answer(0, messages: messages, closesAfter: nil)
    return text
  }

  /// Hands messages to the page.
  ///
  /// - `closesAfter`: the number of the last answer, if this is it.
  static func answer(_ number: Int, messages: [[UInt8]], closesAfter: Int?) -> [UInt8] {
    var text = Array("pRTLPCB(\(number),[".utf8)
    for (index, message) in messages.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      append(message, to: &text)
    }
    text += "]);\n".utf8
    if let closesAfter { text += close(after: closesAfter) }
    return text
  }

  /// The connection is over: once the page has had the answer of this number, or now.
  static func close(after last: Int?) -> [UInt8] { Array("pLPCommand('close'\(last.map { ",\($0)" } ?? ""));\n".utf8) }

  /// A frame that says goodbye when its page is left.
  static func farewell(id: String, password: String) -> [UInt8] {
    Array(
      """
      <!DOCTYPE html><html><body><script>
      addEventListener("pagehide",function(){fetch("/.lp?disconn=t&id=\(id)&pw=\(password)",{keepalive:true})});
      </script></body></html>
      """.utf8)
  }

  /// JSON is JavaScript but for two line separators, which older browsers do not take in strings.
  private static func append(_ message: [UInt8], to text: inout [UInt8]) {
    guard message.contains(0xE2) else { return text += message }
    var index = 0
    while index < message.count {
      if message[index] == 0xE2, index + 2 < message.count, message[index + 1] == 0x80, message[index + 2] & 0xFE == 0xA8 {
        text += (message[index + 2] == 0xA8 ? #"\u2028"# : #"\u2029"#).utf8
        index += 3
      } else {
        text.append(message[index])
        index += 1
      }
    }
  }
}

extension HTTPResponse {
  /// A script for a long-polling page.
  static func longPoll(_ script: [UInt8]) -> HTTPResponse { HTTPResponse(.ok, content: .javaScript, body: script) }
}
