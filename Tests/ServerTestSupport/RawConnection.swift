import NIOCore
import NIOPosix
package import Testing
package import TreeModel

/// A client that sends whatever bytes a test wants and reads answers one by one.
package struct RawConnection {
  private let channel: any Channel
  private let reading: NIOLoopBound<RawReading>

  package static func connect(to port: Int) async throws -> RawConnection {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let reading = RawReading()
          try channel.pipeline.syncOperations.addHandler(reading)
          return RawConnection(channel: channel, reading: NIOLoopBound(reading, eventLoop: channel.eventLoop))
        }
      }
  }

  package func send(_ text: String) async throws {
    try await channel.writeAndFlush(ByteBuffer(string: text))
  }

  /// Sends without caring whether the server still listens.
  package func sendLoosely(_ text: String) {
    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
  }

  /// The next answer; nil once the server has closed.
  package func next(isHead: Bool = false) async throws -> RawResponse? {
    try await channel.eventLoop.flatSubmit { [reading, eventLoop = channel.eventLoop] in
      let promise = eventLoop.makePromise(of: RawResponse?.self)
      reading.value.wait(isHead: isHead, promise)
      return promise.futureResult
    }.get()
  }

  /// Tells the server that nothing more will come.
  package func finishSending() async throws { try await channel.close(mode: .output) }

  package func close() async throws { try await channel.close() }
}

/// Collects what comes and gives it to who waits.
final class RawReading: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var bytes: [UInt8] = []
  private var waiters: [(isHead: Bool, promise: EventLoopPromise<RawResponse?>)] = []
  private var isClosed = false

  func wait(isHead: Bool, _ promise: EventLoopPromise<RawResponse?>) {
    waiters.append((isHead, promise))
    serve()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += unwrapInboundIn(data).readableBytesView
    serve()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      isClosed = true
      serve()
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosed = true
    serve()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func serve() {
    while let waiter = waiters.first {
      if let response = RawResponse.take(from: &bytes, isHead: waiter.isHead) {
        waiters.removeFirst().promise.succeed(response)
      } else if isClosed {
        waiters.removeFirst().promise.succeed(nil)
      } else {
        return
      }
    }
  }
}

/// An answer as it stood on the wire.
package struct RawResponse: Sendable {
  package let status: Int
  /// Names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: String

  package init(status: Int, headers: [(name: String, value: String)], body: String) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

  package var json: JSON? { try? JSONParser.parse(body) }

  /// What stands under `error`.
  package var error: String? { json?["error"]?.string }

  /// Reads one answer from the beginning of `bytes` and takes it off; nil if it is not complete.
  static func take(from bytes: inout [UInt8], isHead: Bool) -> RawResponse? {
    guard let end = headEnd(bytes) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else { return nil }
    let headers = lines.dropFirst().map { line -> (name: String, value: String) in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (parts[0].lowercased(), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
    }
    if !isHead, headers.contains(where: { $0 == ("transfer-encoding", "chunked") }) {
      guard let (body, count) = pieces(bytes[(end + 4)...]) else { return nil }
      bytes.removeFirst(end + 4 + count)
      return RawResponse(status: status, headers: headers, body: String(decoding: body, as: UTF8.self))
    }
    let length = isHead ? 0 : headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
    guard bytes.count >= end + 4 + length else { return nil }
    let body = String(decoding: bytes[(end + 4)..<(end + 4 + length)], as: UTF8.self)
    bytes.removeFirst(end + 4 + length)
    return RawResponse(status: status, headers: headers, body: body)
  }

  /// The body of an answer that is sent in pieces, and how many bytes they take; nil if the last is not there.
  private static func pieces(_ bytes: ArraySlice<UInt8>) -> (body: [UInt8], count: Int)? {
    var body: [UInt8] = []
    var rest = bytes
    while let line = rest.firstIndex(of: 13), let count = Int(String(decoding: rest[..<line], as: UTF8.self), radix: 16) {
      rest = rest[(line + 1)...].dropFirst()
      guard rest.count >= count + 2 else { return nil }
      body += rest.prefix(count)
      rest = rest.dropFirst(count + 2)
      if count == 0 { return (body, bytes.count - rest.count) }
    }
    return nil
  }

  private static func headEnd(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first { bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
  }
}

/// One row of a table test: a request, and what the answer must be.
package struct ExchangeRow: Sendable {
  package let method: String
  package let path: String
  package var body: String?
  package var headers: [String: String] = [:]
  package var status = 200
  /// The exact body; nil if it does not matter.
  var expected: String?
  /// Headers that the answer must have; an empty value: must not have.
  var expectedHeaders: [String: String] = [:]

  package init(
    _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:], status: Int = 200,
    is expected: String? = nil, having expectedHeaders: [String: String] = [:]
  ) {
    self.method = method
    self.path = path
    self.body = body
    self.headers = headers
    self.status = status
    self.expected = expected
    self.expectedHeaders = expectedHeaders
  }

  func check(on server: APIServer, sourceLocation: SourceLocation) async throws {
    let response = try await server.send(method, path, body, headers: headers)
    #expect(response.status == status, "\(method) \(path): \(response.body)", sourceLocation: sourceLocation)
    if let expected {
      #expect(response.body == expected, "\(method) \(path)", sourceLocation: sourceLocation)
    }
    for (name, value) in expectedHeaders {
      let found = response[name] ?? ""
      #expect(found == value, "\(method) \(path): \(name)", sourceLocation: sourceLocation)
    }
  }
}

extension APIServer {
  /// Sends the rows one after the other.
  package func expect(_ rows: ExchangeRow..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
    for row in rows { try await row.check(on: self, sourceLocation: sourceLocation) }
  }

  /// The error body of the Firebase surfaces.
  package static func error(_ text: String) -> String { "{\"error\":\"\(text)\"}" }
}

/// Looks again and again until it is so, two minutes at most; between two looks others have their turn.
package func becomes(_ condition: () async throws -> Bool) async throws -> Bool {
  let end = NIODeadline.now() + .seconds(120)
  while NIODeadline.now() < end {
    if try await condition() { return true }
    try await MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: .milliseconds(5)) {}.futureResult.get()
  }
  return false
}
