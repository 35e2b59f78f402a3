package import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A client of one event stream: reads the head, then event after event.
package struct EventClient: Sendable {
  package let channel: any Channel
  private let reading: NIOLoopBound<EventReading>

  /// Asks for a stream; what comes is read with ``next()``.
  ///
  /// - Parameter reads: whether it reads at all: one that does not is a slow client.
  package static func open(_ path: String, port: Int, headers: String = "", reads: Bool = true) async throws -> EventClient {
    let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: reads)
      .channelOption(.allowRemoteHalfClosure, value: false)
      .channelOption(.socketOption(.so_rcvbuf), value: reads ? 1 << 18 : 4096)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let reading = EventReading()
          try channel.pipeline.syncOperations.addHandler(reading)
          return EventClient(channel: channel, reading: NIOLoopBound(reading, eventLoop: channel.eventLoop))
        }
      }
    let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\(headers)\r\n"
    try await client.channel.writeAndFlush(ByteBuffer(string: request))
    return client
  }

  /// The head, then each event without its last line break; nil once the server has closed.
  package func next() async throws -> String? {
    try await channel.eventLoop.flatSubmit { [reading, eventLoop = channel.eventLoop] in
      let promise = eventLoop.makePromise(of: String?.self)
      reading.value.wait(promise)
      return promise.futureResult
    }.get()
  }

  /// How much has come and was not taken.
  package func bytesRead() async throws -> Int {
    try await channel.eventLoop.submit { [reading] in reading.value.bytes.count }.get()
  }

  /// The next event's lines as `put {"path":"/","data":1}`, signs of life aside: they come whenever a machine is slow.
  package func event() async throws -> String? {
    while let event = try await anyEvent() {
      if event != "keep-alive null" { return event }
    }
    return nil
  }

  /// The next event, a sign of life too.
  package func anyEvent() async throws -> String? {
    guard let text = try await next() else { return nil }
    let lines = text.split(separator: "\n")
    guard lines.count == 2, lines[0].hasPrefix("event: "), lines[1].hasPrefix("data: ") else { return "not an event: \(text)" }
    return "\(lines[0].dropFirst(7)) \(lines[1].dropFirst(6))"
  }

  package func close() async throws { try await channel.close() }
}

/// Cuts what comes at empty lines.
final class EventReading: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private(set) var bytes: [UInt8] = []
  private var searched = 0
  private var waiters: [EventLoopPromise<String?>] = []
  private var isClosed = false

  func wait(_ promise: EventLoopPromise<String?>) {
    waiters.append(promise)
    serve()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += unwrapInboundIn(data).readableBytesView
    serve()
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosed = true
    serve()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func serve() {
    while !waiters.isEmpty {
      if let end = emptyLine() {
        waiters.removeFirst().succeed(String(decoding: bytes[..<end.start], as: UTF8.self))
        bytes.removeFirst(end.next)
        searched = 0
      } else if isClosed {
        waiters.removeFirst().succeed(nil)
      } else {
        return
      }
    }
  }

  /// Where the first empty line is: `\n\n`, or `\r\n\r\n` behind the head. By `memchr`, for some events are large.
  private func emptyLine() -> (start: Int, next: Int)? {
    bytes.withUnsafeBytes { bytes in
      while searched < bytes.count {
        guard let base = bytes.baseAddress, let found = memchr(base + searched, 10, bytes.count - searched) else { break }
        let at = base.distance(to: UnsafeRawPointer(found))
        if at > 0, bytes[at - 1] == 10 { return (at - 1, at + 1) }
        if at > 2, bytes[at - 1] == 13, bytes[at - 2] == 10 { return (at - 3, at + 1) }
        searched = at + 1
      }
      return nil
    }
  }
}
