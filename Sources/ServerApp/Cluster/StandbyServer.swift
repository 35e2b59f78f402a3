import HTTPServer
import NIOCore
import NIOPosix
import ServerConfiguration
import StorageCore
import Synchronization

/// What clients meet on a node that follows: their bytes are handed on to the node that leads, whatever they are, and its bytes back.
///
/// Requests, event streams and sockets alike, with TLS or without: nothing is read on the way. While nobody leads, a request is
/// answered with 503, and the client comes back.
final class StandbyServer: Sendable {
  /// Connections that are handed on at one time.
  private static let connectionsMax = 10_000
  /// How long a client that cannot be handed on is listened to, in seconds.
  private static let silenceSeconds: Int64 = 5
  /// How long the leading node may take to accept a connection, in seconds.
  private static let connectSeconds: Int64 = 2

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let connections: Connections

  /// The clients that are handed on.
  private final class Connections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// False if there are too many.
    func add(_ channel: any Channel) -> Bool {
      let isAdded = channels.withLock { channels in
        guard channels.count < StandbyServer.connectionsMax else { return false }
        channels[ObjectIdentifier(channel)] = channel
        return true
      }
      if isAdded {
        channel.closeFuture.whenComplete { [self] _ in
          channels.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
        }
      }
      return isAdded
    }

    func closeAll() {
      for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
    }
  }

  /// Where clients are handed on to.
  struct Route: Sendable {
    /// Where the node that leads is reached, as `host:port`; nil while none does.
    let leader: @Sendable () -> String?
    /// Tells that node whose connection it is.
    let seal: @Sendable () -> ConnectionSeal?
    let clock: any WallClock
  }

  /// Listens.
  static func start(host: String, port: Int, route: Route) async throws -> StandbyServer {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let connections = Connections()
    do {
      let channel = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.autoRead, value: false)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { client in
          client.eventLoop.makeCompletedFuture {
            guard connections.add(client) else { throw ChannelError.operationUnsupported }
            try client.pipeline.syncOperations.addHandler(HandOver(route))
          }
        }
        .bind(host: host, port: port).get()
      return StandbyServer(group: group, channel: channel, connections: connections)
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  private init(group: MultiThreadedEventLoopGroup, channel: any Channel, connections: Connections) {
    self.group = group
    self.channel = channel
    self.connections = connections
  }

  /// Ends the connections that were handed on: another node leads, and the one that led may be silent.
  func drop() { connections.closeAll() }

  /// The port that was bound.
  var port: Int? { channel.localAddress?.port }

  /// Ends it, with every connection: clients come back, to the server that this node then is.
  func stop() async {
    try? await channel.close()
    try? await group.shutdownGracefully()
  }

  /// What a client gets that cannot be handed on.
  fileprivate static let refusal: String = {
    let body = #"{"error":"No node leads at this moment; nothing was done. Try again in a moment."}"#
    return
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\nRetry-After: 1\r\nConnection: close\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }()

  /// Connects a client with the node that leads.
  private final class HandOver: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let route: Route

    init(_ route: Route) { self.route = route }

    func channelActive(context: ChannelHandlerContext) {
      let client = context.channel
      guard let leader = route.leader().flatMap(PortAddress.init), let seal = route.seal() else { return refuse(client) }
      let line = seal.line(for: client.remoteAddress?.ipAddress ?? "0.0.0.0", at: route.clock.now())
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      ClientBootstrap(group: context.eventLoop)
        .connectTimeout(.seconds(StandbyServer.connectSeconds))
        .channelOption(.autoRead, value: false)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .connect(host: leader.host, port: leader.port)
        .whenComplete { result in
          switch result {
          case .success(let server): handler.value.join(client, to: server, saying: line)
          case .failure: handler.value.refuse(client)
          }
        }
    }

    private func join(_ client: any Channel, to server: any Channel, saying line: String) {
      do {
        let operations = client.pipeline.syncOperations
        _ = operations.removeHandler(self)
        try operations.addHandler(Splice(to: server))
        try server.pipeline.syncOperations.addHandler(Splice(to: client))
      } catch {
        server.close(promise: nil)
        return client.close(promise: nil)
      }
      server.writeAndFlush(server.allocator.buffer(string: line), promise: nil)
      for channel in [client, server] { try? channel.syncOptions?.setOption(.autoRead, value: true) }
    }

    private func refuse(_ client: any Channel) {
      // What the client says is read first: an unread request would reset the connection, and take the answer with it.
      client.read()
      // One that says nothing is not waited for.
      client.eventLoop.scheduleTask(in: .seconds(StandbyServer.silenceSeconds)) { client.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let answer = context.channel.allocator.buffer(string: StandbyServer.refusal)
      let channel = context.channel
      context.writeAndFlush(wrapOutboundOut(answer)).whenComplete { _ in channel.close(promise: nil) }
    }
  }

  /// Writes to another channel what comes in on this one, no faster than that takes it.
  private final class Splice: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      other.write(unwrapInboundIn(data), promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      other.flush()
      if !other.isWritable { try? context.channel.syncOptions?.setOption(.autoRead, value: false) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      guard context.channel.isWritable else { return }
      try? other.syncOptions?.setOption(.autoRead, value: true)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if let event = event as? ChannelEvent, event == .inputClosed { other.close(mode: .output, promise: nil) }
      context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
      // Behind what waits to be written.
      let other = other
      let late = other.eventLoop.scheduleTask(in: .seconds(StandbyServer.silenceSeconds)) { other.close(promise: nil) }
      other.writeAndFlush(ByteBuffer()).whenComplete { _ in
        late.cancel()
        other.close(promise: nil)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
