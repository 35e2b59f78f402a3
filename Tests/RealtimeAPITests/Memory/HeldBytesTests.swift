import HTTPServer
import NIOCore
import NIOEmbedded
import ServerTestSupport
import Testing

@testable import RealtimeAPI

/// What sockets hold of frames that do not end, byte by byte: their event loops do nothing but what a test has them do.
struct HeldBytesTests {
  /// A session that takes everything, and ends when it is told to.
  private final class Session: SocketReceiver {
    private(set) var ending: WebSocketError?
    private weak var transport: (any SocketTransport)?

    var isFull: Bool { false }
    var standing: ClientStanding { .unauthenticated }

    func start(on transport: any SocketTransport) { self.transport = transport }
    func receive(_ message: [UInt8], from transport: any SocketTransport) {}
    func transportIsWritable() {}
    func transportEnded(_ transport: any SocketTransport) {}

    func end(_ error: WebSocketError) {
      guard ending == nil else { return }
      ending = error
      transport?.close(error)
    }
  }

  /// A client that does not close when the server does.
  private final class Lingering: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
    }
  }

  private struct Peer {
    let channel = EmbeddedChannel()
    let session = Session()
    let connection: WebSocketConnection

    init(_ address: String, _ memory: MemoryBudgets) throws {
      connection = WebSocketConnection(
        session: session, client: try #require(ClientAddress(parsing: address)), limits: SocketLimits(), memory: memory,
        metrics: HTTPMetrics().sockets)
      let lingering: any ChannelHandler = Lingering()
      try channel.pipeline.syncOperations.addHandlers([lingering] + connection.handlers)
    }

    /// Nothing that was sent comes in any more once the client was told to go.
    func send(_ bytes: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }
  }

  private static let piece = [UInt8](repeating: 0, count: ByteShare.step)

  /// The header of a frame of 16,000,000 bytes.
  private static let header: [UInt8] = [0x81, 0xFF, 0, 0, 0, 0, 0, 0xF4, 0x24, 0, 0, 0, 0, 0]

  /// How messages begin that do not end, in a frame, in fragments and in pieces, and what goes on with them.
  private static let endless: [(first: [UInt8], next: [UInt8])] = [
    (header, piece),
    (ClientFrameTests.frame(0x01, []), ClientFrameTests.frame(0x00, piece)),
    (ClientFrameTests.text("99"), ClientFrameTests.frame(0x81, piece)),
  ]

  @Test("Sixty sockets with frames, fragments and pieces that do not end hold what may be held, however late their loops are")
  func bound() throws {
    let memory = MemoryBudgets(inputBytesMax: 1 << 20)
    let peers = try (0..<60).map { try Peer("10.0.0.\($0 % 5)", memory) }
    defer { for peer in peers { _ = try? peer.channel.finish() } }
    var most = 0
    for round in 0..<20 {
      for (number, peer) in peers.enumerated() {
        let (first, next) = Self.endless[number % 3]
        try peer.send(round == 0 ? first + next : next)
        most = max(most, peers.reduce(0) { $0 + $1.connection.heldBytes })
      }
    }
    // Less than a step of each is not counted.
    #expect(most <= memory.input.strangersBytesMax + peers.count * ByteShare.step)
    #expect(most > memory.input.bytesMax && memory.input.refusals.current > 0)
    for peer in peers { peer.channel.embeddedEventLoop.run() }
    let ended = peers.filter { $0.session.ending?.code == .tryAgainLater }
    #expect(ended.count > 40 && ended.allSatisfy { $0.connection.heldBytes == 0 })
    let held = peers.reduce(0) { $0 + $1.connection.heldBytes }
    #expect(memory.input.used <= memory.input.bytesMax && held < memory.input.used + peers.count * ByteShare.step)
    for peer in peers { try peer.send(Self.piece) }
    #expect(ended.allSatisfy { $0.connection.heldBytes == 0 }, "what comes behind the close frame is not kept either")
  }

  @Test("Who is given up for the sake of others holds nothing from the moment at which its event loop comes to it")
  func dropped() throws {
    let memory = MemoryBudgets(inputBytesMax: 1 << 20)
    let (first, second) = (try Peer("10.0.0.1", memory), try Peer("10.0.0.2", memory))
    defer { for peer in [first, second] { _ = try? peer.channel.finish() } }
    for peer in [first, second] { try peer.send(Self.header) }
    for _ in 0..<40 { try first.send(Self.piece) }
    for _ in 0..<30 { try second.send(Self.piece) }
    #expect(first.session.ending == nil && first.connection.heldBytes == 40 * ByteShare.step)
    #expect(memory.input.used == 70 * ByteShare.step, "it counts until it has let go")
    first.channel.embeddedEventLoop.run()
    #expect(first.session.ending?.code == .tryAgainLater && first.connection.heldBytes == 0)
    #expect(second.session.ending == nil && memory.input.used == 30 * ByteShare.step)
  }
}
