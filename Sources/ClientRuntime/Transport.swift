/// The fields of a request's or an answer's head, in their order.
package typealias HTTPFields = [(name: String, value: String)]

/// An HTTP request, as an app's library sends it.
package struct HTTPRequest: Sendable {
  /// Bytes of body that an answer may have, unless the request says something else.
  package static let bytesMax = 16 << 20

  /// The verb: `GET`, `POST`.
  package var method: String
  /// Where it goes.
  package var server: ServiceAddress
  /// The path and the query, percent-encoded, with the slash at the start.
  package var target: String
  /// Beside `Host`, `Content-Length` and `Content-Type`. A `Host` here replaces the server's own.
  package var headers: HTTPFields
  package var body: [UInt8]?
  /// From the first byte sent to the last one received, in milliseconds; for a stream, to its head.
  package var timeout: Int64
  /// Bytes of body that an answer may have.
  package var responseBytesMax: Int

  /// A request with JSON, or without a body.
  package init(
    _ method: String, _ target: String, at server: ServiceAddress, headers: HTTPFields = [],
    body: [UInt8]? = nil, timeout: Int64 = 30_000, responseBytesMax: Int = Self.bytesMax
  ) {
    self.method = method
    self.server = server
    self.target = target
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.responseBytesMax = responseBytesMax
  }
}

extension HTTPRequest {
  /// Whether its target and its headers can stand in the head of a request.
  ///
  /// - Throws: ``TransportError`` of the code `badAddress`.
  package func checkHead() throws(TransportError) {
    let values = headers.flatMap { [$0.name, $0.value] }
    guard target.utf8.first == UInt8(ascii: "/"), target.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }),
      values.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
    else {
      throw TransportError(.badAddress, "The request holds characters that cannot be sent; check keys and addresses.")
    }
  }
}

/// What a server answered, whatever its status.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: HTTPFields
  package var body: [UInt8]

  package init(status: Int, headers: HTTPFields, body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of the name, whatever its capitals.
  package subscript(header: String) -> String? { headers.first { $0.name.lowercased() == header.lowercased() }?.value }
}

/// One event of a stream (`text/event-stream`, WHATWG HTML, Server-sent events).
package struct StreamEvent: Sendable, Equatable {
  /// Events that wait for their reader.
  package static let waitingMax = 64

  /// `message` where the server names none.
  package var name: String
  package var data: String

  package init(name: String, data: String) {
    self.name = name
    self.data = data
  }
}

/// Cuts a stream into events (WHATWG HTML, Server-sent events): lines, of which an empty one ends an event.
package struct EventStreamReader {
  /// Bytes that one event may have.
  package static let eventBytesMax = 1 << 20

  private var line: [UInt8] = []
  private var afterReturn = false
  private var name = ""
  private var data: [String] = []
  private var count = 0

  package init() {}

  /// The events that end in these bytes.
  ///
  /// - Throws: ``TransportError`` for an event that is too large.
  package mutating func read(_ bytes: some Sequence<UInt8>) throws -> [StreamEvent] {
    var events: [StreamEvent] = []
    for byte in bytes {
      defer { afterReturn = byte == 0x0D }
      if byte == 0x0A && afterReturn { continue }
      guard byte == 0x0A || byte == 0x0D else {
        line.append(byte)
        count += 1
        guard count <= Self.eventBytesMax else {
          throw TransportError(.tooLarge, "One event of the stream is larger than \(Self.eventBytesMax >> 20) MB.")
        }
        continue
      }
      if let event = endLine() { events.append(event) }
    }
    return events
  }

  private mutating func endLine() -> StreamEvent? {
    defer { line = [] }
    guard !line.isEmpty else {
      defer { (name, data, count) = ("", [], 0) }
      return data.isEmpty ? nil : StreamEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
    }
    let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
    var value = line[min(colon + 1, line.count)...]
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    switch String(decoding: line[..<colon], as: UTF8.self) {
    case "event": name = String(decoding: value, as: UTF8.self)
    case "data": data.append(String(decoding: value, as: UTF8.self))
    default: break
    }
    return nil
  }
}

/// HTTP/1.1, by the code that speaks it on this system.
package protocol HTTPTransport: Sendable {
  /// Sends a request and waits for the whole answer.
  ///
  /// - Throws: ``TransportError``, or `CancellationError` when the task ended.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse

  /// Sends a request and gives the events of its answer as they come; the stream ends with the connection. Who reads slowly
  /// misses the oldest of more than ``StreamEvent/waitingMax`` events.
  ///
  /// - Throws: ``TransportError``; also for an answer that is no stream of events.
  func events(_ request: HTTPRequest) async throws -> AsyncThrowingStream<StreamEvent, any Error>
}

/// What happens to a WebSocket. Events come one after the other, in the order in which they happened.
package enum SocketEvent: Sendable {
  /// Bytes of texts that may wait to be dealt with, before a socket reads no further.
  package static let unreadMax = 8 << 20

  /// The server took it: texts may be sent.
  case opened
  /// A text arrived, put together from its parts; at most ``SocketTransport``'s bound.
  case text([UInt8])
  /// It is over, and nothing follows; an error unless this side or the server closed it in order.
  case closed(TransportError?)
}

/// A WebSocket, from the moment at which it was asked for.
package protocol SocketConnection: AnyObject, Sendable {
  /// Sends a text, after those before. Does nothing before the socket is open, or after it is over.
  func send(_ text: [UInt8])
  /// Ends it, in order. `closed` still comes.
  func close()
  /// So many bytes of the texts that came are dealt with. While more than ``SocketEvent/unreadMax`` are not, nothing more is read:
  /// what a server sends faster than this device takes it in waits on the server's side.
  func took(_ bytes: Int)
}

/// WebSockets, by the code that speaks them on this system.
package protocol SocketTransport: Sendable {
  /// Opens a socket. `receive` is called on the transport's own thread, never before this returns, one call at a time; the
  /// last call is `closed`.
  ///
  /// - `target`: path and query, percent-encoded.
  /// - `timeout`: until the socket is open, in milliseconds.
  func open(
    _ server: ServiceAddress, target: String, timeout: Int64, receive: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SocketConnection
}

/// Why there was no answer, or no socket.
package struct TransportError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for programs.
  package enum Code: Sendable, Equatable {
    /// The address is none.
    case badAddress
    /// Nobody listens there, or its name is unknown.
    case unreachable
    /// The connection broke before the answer was complete.
    case disconnected
    case timedOut
    /// The server could not prove who it is.
    case untrusted
    /// The answer is larger than asked for.
    case tooLarge
    /// What answers there speaks something else.
    case badResponse
    /// The server answered the socket's request with this status.
    case refused(status: Int)
  }

  package let code: Code
  /// A sentence for a person: what happened, and what to do.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The sentence.
  package var description: String { message }
}
