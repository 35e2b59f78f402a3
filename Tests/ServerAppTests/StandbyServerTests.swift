import HTTPServer
import NIOCore
import NIOPosix
import ServerTestSupport
import StorageCore
import Synchronization
import Testing

@testable import ServerApp

/// What clients meet on a node that follows.
@Suite struct StandbyServerTests {
  private static let seal = ConnectionSeal(secret: Array("of all nodes".utf8))
  private static let request = "GET / HTTP/1.1\r\nHost: game\r\n\r\n"

  /// Remembers the first bytes of each connection, and answers.
  private final class Leader: Sendable {
    let channel: any Channel
    let received: Received

    final class Received: Sendable {
      private let texts = Mutex<[String]>([])
      var all: [String] { texts.withLock(\.self) }
      func note(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private final class Answering: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer
      typealias OutboundOut = ByteBuffer

      private let received: Received
      private let body: String
      private var text = ""

      init(_ received: Received, body: String) { (self.received, self.body) = (received, body) }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        text += String(buffer: unwrapInboundIn(data))
        guard text.hasSuffix("\r\n\r\n") else { return }
        received.note(text)
        text = ""
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer))).whenSuccess { [body] in
          // What is behind a long answer is the end.
          if body.utf8.count > 2 { channel.close(promise: nil) }
        }
      }
    }

    init(body: String = "hi") async throws {
      let received = Received()
      self.received = received
      channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Answering(received, body: body))
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    }

    var address: String { "127.0.0.1:\(channel.localAddress?.port ?? 0)" }
  }

  private static func start(_ leader: @escaping @Sendable () -> String?) async throws -> StandbyServer {
    try await StandbyServer.start(
      host: "127.0.0.1", port: 0,
      route: StandbyServer.Route(leader: leader, seal: { seal }, clock: AdjustableClock(frozenAt: 5000)))
  }

  @Test("bytes go to the node that leads behind a line that says whose they are, and its bytes come back")
  func handsOn() async throws {
    let leader = try await Leader()
    let standby = try await Self.start { leader.address }
    let client = try await RawConnection.connect(to: try #require(standby.port))
    for _ in 0..<3 {
      try await client.send(Self.request)
      #expect(try await client.next()?.status == 200)
    }
    let line = Self.seal.line(for: "127.0.0.1", at: 5000)
    #expect(leader.received.all == [line + Self.request, Self.request, Self.request])
    standby.drop()
    #expect(try await client.next() == nil, "who was handed on to a node that leads no more comes back")
    await standby.stop()
    try await leader.channel.close()
  }

  @Test("an answer that is longer than what waits at one time arrives whole, though its sender ends the connection")
  func long() async throws {
    let leader = try await Leader(body: String(repeating: "coins ", count: 1 << 20))
    let standby = try await Self.start { leader.address }
    let client = try await RawConnection.connect(to: try #require(standby.port))
    try await client.send(Self.request)
    let answer = try #require(try await client.next())
    #expect(answer.status == 200 && answer.body.utf8.count == 6 << 20)
    #expect(try await client.next() == nil)
    await standby.stop()
    try await leader.channel.close()
  }

  @Test("while nobody leads, or who leads is not there, a request is answered with 503 and a time")
  func refuses() async throws {
    let gone = try await Leader()
    try await gone.channel.close()
    for address in [nil, gone.address, "nonsense", "127.0.0.1:x"] {
      let standby = try await Self.start { address }
      let client = try await RawConnection.connect(to: try #require(standby.port))
      try await client.send(Self.request)
      let answer = try #require(try await client.next())
      #expect(answer.status == 503 && answer["retry-after"] == "1", "\(address ?? "nobody")")
      #expect(answer.error?.contains("No node leads") == true)
      #expect(try await client.next() == nil)
      await standby.stop()
    }
  }
}
