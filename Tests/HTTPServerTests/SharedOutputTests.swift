import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import HTTPServer

/// What goes to many connections, over real sockets whose buffers are small: most calls are taken in part, or not at all.
struct SharedOutputTests {
  @Test(
    "What many are sent and what one is sent arrive whole, in the order in which they were written",
    arguments: [1, 2, 3, 4, 5] as [UInt64])
  func order(seed: UInt64) async throws {
    let wires = try await Wires.connected(1)
    var random = SplitMix64(seed: seed)
    var expected: [UInt8] = []
    for _ in 0..<300 {
      let choice = Int.random(in: 0..<10, using: &random)
      switch choice {
      // The last of them is more than is gathered.
      case 0..<6:
        let bytes = Self.bytes(choice == 5 ? 20_000 : Int.random(in: 1...2000, using: &random), using: &random)
        expected += bytes
        try await wires.run { $0[0].output.append(SharedBytes(ByteBuffer(bytes: bytes))) }
      case 6:
        let bytes = Self.bytes(Int.random(in: 1...300, using: &random), using: &random)
        expected += bytes
        let isFlushed = Bool.random(using: &random)
        try await wires.run { served in
          served[0].output.yield()
          served[0].context.write(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
          if isFlushed { served[0].context.flush() }
        }
      case 7: try await wires.run { [client = wires.clients[0]] _ in client.read() }
      default: try await wires.run { _ = $0[0].output.flush() }
      }
    }
    try await wires.run { _ = $0[0].output.flush() }
    #expect(try await wires.received(expected.count, by: 0) == expected)
    try await wires.close()
  }

  @Test("Whether all has left is said as it is, and what waits is told of once it has left")
  func leaving() async throws {
    let wires = try await Wires.connected(1)
    let hasLeft = try await wires.run { served in
      served[0].output.append(SharedBytes(ByteBuffer(string: "short")))
      return served[0].output.flush() && served[0].output.waitingBytes == 0
    }
    #expect(hasLeft)
    let sent = wires.eventLoop.makePromise(of: Void.self)
    let waits = try await wires.run { served in
      served[0].output.append(SharedBytes(ByteBuffer(repeating: 7, count: 8 << 20)))
      let hasLeft = served[0].output.flush()
      served[0].output.whenSent { sent.succeed() }
      return !hasLeft && served[0].output.waitingBytes > 0
    }
    #expect(waits)
    #expect(try await wires.received(5 + 8 << 20, by: 0).count == 5 + 8 << 20)
    try await sent.futureResult.get()
    #expect(try await wires.run { $0[0].output.flush() })
    try await wires.close()
  }

  @Test("Bytes that several have not read count for one of them; who has read them, or got others, counts for nobody")
  func counting() async throws {
    let wires = try await Wires.connected(3)
    let found = try await wires.run { served in
      var found: [[Int]] = []
      let small = SharedBytes(ByteBuffer(string: "what all have read"))
      for one in served {
        one.output.append(small)
        _ = one.output.flush()
      }
      let large = SharedBytes(ByteBuffer(repeating: 2, count: 8 << 20))
      for one in served {
        one.output.append(large)
        _ = one.output.flush()
        found.append([one.output.waitingBytes, one.output.countedBytes])
      }
      return found
    }
    #expect(found.allSatisfy { $0[0] > 0 })
    #expect(found[0][1] == found[0][0])
    #expect(found[1][1] == 0 && found[2][1] == 0)
    try await wires.close()
  }

  @Test("A connection that its client has ended ends, and the program does not")
  func ended() async throws {
    let wires = try await Wires.connected(1)
    try await wires.clients[0].close()
    let closed = try await wires.run { $0[0].context.channel.closeFuture }
    // The first calls may still be taken: the client's system answers them with a reset.
    for _ in 0..<1000 {
      try await wires.run { served in
        guard served[0].context.channel.isActive else { return }
        served[0].output.append(SharedBytes(ByteBuffer(string: "is anybody there?")))
        _ = served[0].output.flush()
      }
    }
    try await closed.get()
    try await wires.close()
  }

  private static func bytes(_ count: Int, using random: inout SplitMix64) -> [UInt8] {
    let first = UInt8.random(in: 0...255, using: &random)
    return (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
  }
}

/// Connections of one event loop, with clients that read when they are told to.
private final class Wires: Sendable {
  /// The server's end of a connection.
  struct Served {
    let output: SharedOutput
    let context: ChannelHandlerContext
  }

  let eventLoop: any EventLoop
  let clients: [any Channel]
  private let served: NIOLoopBound<ServedList>
  private let collectors: NIOLoopBound<[Collector]>
  private let server: any Channel

  private init(
    eventLoop: any EventLoop, server: any Channel, clients: [any Channel], served: NIOLoopBound<ServedList>,
    collectors: NIOLoopBound<[Collector]>
  ) {
    self.eventLoop = eventLoop
    self.server = server
    self.clients = clients
    self.served = served
    self.collectors = collectors
  }

  static func connected(_ count: Int) async throws -> Wires {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let complete = eventLoop.makePromise(of: Void.self)
    let served = try await eventLoop.submit { NIOLoopBound(ServedList(count, complete: complete), eventLoop: eventLoop) }.get()
    let server = try await ServerBootstrap(group: eventLoop)
      .childChannelOption(.socketOption(.so_sndbuf), value: 8192)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(served.value.handler()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let address = try #require(server.localAddress)
    let collectors = try await eventLoop.submit {
      NIOLoopBound((0..<count).map { _ in Collector() }, eventLoop: eventLoop)
    }.get()
    var clients: [any Channel] = []
    for index in 0..<count {
      clients.append(
        try await ClientBootstrap(group: eventLoop)
          .channelOption(.socketOption(.so_rcvbuf), value: 8192)
          .channelOption(.autoRead, value: false)
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(collectors.value[index]) }
          }
          .connect(to: address).get())
    }
    try await complete.futureResult.get()
    return Wires(eventLoop: eventLoop, server: server, clients: clients, served: served, collectors: collectors)
  }

  /// Does something on the event loop with the server's ends, in the order of the clients.
  func run<Found: Sendable>(_ body: @escaping @Sendable ([Served]) -> Found) async throws -> Found {
    try await eventLoop.submit { [served] in body(served.value.all) }.get()
  }

  /// What a client has received, once it is so much.
  func received(_ count: Int, by client: Int) async throws -> [UInt8] {
    try await eventLoop.flatSubmit { [eventLoop, collectors, clients] in
      clients[client].setOption(.autoRead, value: true).flatMap {
        collectors.value[client].reach(count, on: eventLoop)
      }
    }.get()
  }

  func close() async throws {
    for client in clients where client.isActive { try await client.close() }
    try await server.close()
  }
}

private final class ServedList {
  private(set) var all: [Wires.Served] = []
  private let count: Int
  private let complete: EventLoopPromise<Void>

  init(_ count: Int, complete: EventLoopPromise<Void>) {
    self.count = count
    self.complete = complete
  }

  func handler() -> ServedHandler { ServedHandler(list: self) }

  func add(_ context: ChannelHandlerContext) {
    all.append(Wires.Served(output: SharedOutput(below: context), context: context))
    if all.count == count { complete.succeed() }
  }
}

private final class ServedHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let list: ServedList

  init(list: ServedList) {
    self.list = list
  }

  func channelActive(context: ChannelHandlerContext) { list.add(context) }
}

private final class Collector: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private var bytes: [UInt8] = []
  private var wanted: (count: Int, promise: EventLoopPromise<[UInt8]>)?

  func reach(_ count: Int, on eventLoop: any EventLoop) -> EventLoopFuture<[UInt8]> {
    let promise = eventLoop.makePromise(of: [UInt8].self)
    wanted = (count, promise)
    look()
    return promise.futureResult
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += unwrapInboundIn(data).readableBytesView
    look()
  }

  func channelInactive(context: ChannelHandlerContext) { wanted?.promise.succeed(bytes) }

  private func look() {
    guard let wanted, bytes.count >= wanted.count else { return }
    self.wanted = nil
    wanted.promise.succeed(bytes)
  }
}
