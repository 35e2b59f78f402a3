package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle
package import StorageCore
import Synchronization

/// The one port: accepts connections and hands their requests to a ``RequestResponder``.
///
/// Bare NIO, without a web framework: one write has 45 µs of CPU (design §12), and a framework's async channel, task hops
/// and header conversion cost 10 of them. Requests are decoded, routed and answered on the connection's event loop; what
/// waits for the disk comes back by a completion that hops to that loop.
package final class HTTPServer: Service {
  private let configuration: HTTPServerConfiguration
  private let responder: any RequestResponder
  private let sockets: (any SocketAccepting)?
  private let metrics: HTTPMetrics
  private let clock: any WallClock
  private let logger: Logger
  private let memory: MemoryBudgets
  private let registry: ConnectionRegistry
  private let listening = Mutex<Listening?>(nil)

  /// What exists once the server listens: its threads, and the socket that accepts.
  private struct Listening {
    let group: MultiThreadedEventLoopGroup
    let channel: any Channel
  }

  /// - Parameters:
  ///   - responder: who answers; usually a ``RequestRouter``.
  ///   - sockets: who takes over connections that ask for a WebSocket; nil: nobody.
  ///   - memory: how much clients may leave unfinished; sockets share it.
  ///   - metrics: counts what was answered.
  ///   - clock: for the `Date` header.
  package init(
    configuration: HTTPServerConfiguration, responder: any RequestResponder, sockets: (any SocketAccepting)? = nil,
    memory: MemoryBudgets = MemoryBudgets(), metrics: HTTPMetrics, clock: any WallClock, logger: Logger
  ) {
    self.configuration = configuration
    self.responder = responder
    self.sockets = sockets
    self.metrics = metrics
    self.clock = clock
    self.logger = logger
    self.memory = memory
    registry = ConnectionRegistry(
      connectionsMax: configuration.connectionsMax, perNetworkMax: configuration.connectionsPerNetworkMax)
  }

  /// Where the server listens; nil before ``bind()``.
  package var address: SocketAddress? { listening.withLock { $0?.channel.localAddress } }

  /// Starts to listen, unless it does already, and says where: with port 0 the system chose.
  @discardableResult
  package func bind() async throws -> SocketAddress {
    if let address { return address }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.threadCount))
    do {
      let channel = try await bootstrap(group).bind(host: configuration.host, port: configuration.port).get()
      guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
      listening.withLock { $0 = Listening(group: group, channel: channel) }
      logger.info("listening", metadata: ["address": "\(address)"])
      return address
    } catch {
      try? await group.shutdownGracefully()
      throw HTTPServerError(binding: error, host: configuration.host, port: configuration.port)
    }
  }

  /// Serves until the service group shuts down: then no connection is accepted any more, requests in flight are answered
  /// (for ``HTTPServerConfiguration/drainTimeout`` at most), and the threads end.
  package func run() async throws {
    try await bind()
    guard let listening = listening.withLock(\.self) else { return }
    try await withTaskCancellationOrGracefulShutdownHandler {
      try await listening.channel.closeFuture.get()
    } onCancelOrGracefulShutdown: {
      listening.channel.close(promise: nil)
    }
    // NIO's futures do not mind a cancelled task, so what was opened is closed in any case.
    let eventLoop = listening.group.any()
    try await sockets?.stop(on: eventLoop).get()
    try await registry.stop(on: eventLoop, timeout: configuration.drainTimeout)
    try await listening.group.shutdownGracefully()
    logger.info("stopped listening")
  }

  private func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: Int32(configuration.backlog))
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.configure(channel) }
      }
  }

  private func configure(_ channel: any Channel) throws {
    // Everybody comes from the proxy's address: whose the connection is it says later.
    let peer = ClientAddress(channel.remoteAddress)
    guard registry.add(channel, of: configuration.trustedProxies.isTrusted(peer) ? nil : peer) else {
      throw HTTPServerError("There are as many connections, altogether or from \(peer), as there may be.")
    }
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = configuration.headerBytesMax
    limits.maxHeaderListSize = configuration.headerBytesMax
    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
    if let tls = configuration.tls {
      try channel.pipeline.syncOperations.addHandlers(
        NIOSSLServerHandler(context: tls.context), HandshakeDeadline(configuration.handshakeTimeout))
    }
    try channel.pipeline.syncOperations.addHandlers(
      ByteToMessageHandler(decoder),
      HTTPConnection(
        configuration: configuration, responder: responder, sockets: sockets, metrics: metrics, clock: clock,
        memory: memory, registry: registry))
  }
}
