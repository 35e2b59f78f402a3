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
/// Bare NIO, without a web framework: one write has 45 µs of CPU, and a framework's async channel, task hops and header
/// conversion cost 10 of them. Requests are decoded, routed and answered on the connection's event loop; what waits for the
/// disk comes back by a completion that hops to that loop.
package final class HTTPServer: Service {
  private let configuration: HTTPServerConfiguration
  private let responder: any RequestResponder
  private let sockets: (any SocketAccepting)?
  private let metrics: HTTPMetrics
  private let clock: any WallClock
  private let logger: Logger
  private let memory: MemoryBudgets
  private let registry: ConnectionRegistry
  private let numbers: ConnectionNumbers
  private let listening = Mutex<Listening?>(nil)

  /// What exists once the server listens: its threads, and the socket that accepts.
  private struct Listening {
    let group: MultiThreadedEventLoopGroup
    let channel: any Channel
  }

  /// - `responder`: who answers; usually a ``RequestRouter``.
  /// - `sockets`: takes over connections that ask for a WebSocket; nil: no one does.
  /// - `memory`: how much clients may leave unfinished; sockets share it.
  /// - `metrics`: counts what was answered.
  /// - `clock`: for the `Date` header.
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
    numbers = ConnectionNumbers(at: clock.now())
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
      metrics.connectionsRefused.add()
      throw HTTPServerError("There are as many connections, altogether or from \(peer), as there may be.")
    }
    metrics.connections.add()
    channel.closeFuture.whenComplete { [metrics] _ in metrics.connections.add(-1) }
    let connection = HTTPConnection(
      configuration: configuration, responder: responder, sockets: sockets, metrics: metrics, clock: clock,
      memory: memory, registry: registry)
    connection.place = numbers.next()
    if let seal = configuration.seal {
      try channel.pipeline.syncOperations.addHandler(
        ForwardedReader(seal, now: { [clock] in clock.now() }) { [registry] client in
          connection.peer = client
          return registry.count(channel, for: client)
        })
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
      RequestReader(connection: connection), ByteToMessageHandler(decoder), connection)
  }
}

/// How the server listens, and how much it takes from one client.
package struct HTTPServerConfiguration: Sendable {
  /// The address to listen on.
  package var host: String
  /// 0 lets the system choose; ``HTTPServer/bind()`` tells which it was.
  package var port: Int
  /// How many event loops serve the connections.
  package var threadCount: Int
  /// What other nodes seal the connections with that they hand on; nil: none is taken.
  package var seal: ConnectionSeal?
  /// Connections that may wait to be accepted.
  package var backlog = 1024
  /// Connections open at once; one more is closed unanswered.
  package var connectionsMax: Int
  /// Connections open at once from one network (``ClientAddress/clientNetwork``); one more is closed unanswered. Nil for as many
  /// as there may be altogether.
  package var connectionsPerNetworkMax: Int?
  /// Requests that one connection may make before it is closed, so that clients spread again behind a balancer.
  package var requestsPerConnectionMax = 10_000_000
  /// Bytes of body that a request may have. Larger than the 16 MB that a commit may change, for JSON is wordier.
  package var bodyBytesMax = 17 << 20
  /// Bytes of one header line, and of all together.
  package var headerBytesMax = 32 << 10
  /// How long a connection may be idle between two requests; also the time for a request's headers to arrive.
  package var idleTimeout: TimeAmount = .seconds(75)
  /// How long a request's body, or the reading of its answer, may take; a client that moves ``bytesPerSecondMin`` gets
  /// more.
  package var exchangeTimeout: TimeAmount = .seconds(30)
  /// The speed that is granted to slow clients beyond the timeout.
  package var bytesPerSecondMin = 16 << 10
  /// How long requests in flight may go on once the server stops.
  package var drainTimeout: TimeAmount = .seconds(10)
  /// The proxies whose `X-Forwarded-For` is trusted.
  package var trustedProxies = TrustedProxies()
  /// The server's certificates; nil for plain HTTP.
  package var tls: TLSIdentity?
  /// How long a client may take to agree on a TLS connection.
  package var handshakeTimeout = TimeAmount.seconds(10)

  package init(
    host: String = "127.0.0.1", port: Int = 9000, threadCount: Int = System.coreCount, connectionsMax: Int = 100_000
  ) {
    self.host = host
    self.port = port
    self.threadCount = threadCount
    self.connectionsMax = connectionsMax
  }
}

/// Why the server does not serve.
package struct HTTPServerError: Error, Sendable, CustomStringConvertible {
  /// What happened, and what to do.
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension HTTPServerError {
  /// What keeps a server from listening, in a sentence that fits the cause.
  init(binding error: any Error, host: String, port: Int) {
    let why: String
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE:
      why = "another program listens there. Stop it, or choose another port (--port, or \"listen\" in the configuration)."
    case EACCES, EPERM:
      why =
        "this user may not open that port. Choose one from 1024 on, or give the program the capability CAP_NET_BIND_SERVICE, as "
        + "Examples/doubloon.service does."
    case EADDRNOTAVAIL:
      why = "this machine has no such address. Name one of its own, 127.0.0.1 for itself alone, or 0.0.0.0 for all it has."
    case nil where error is SocketAddressError:
      why = "no address is known for that name. Name an address of this machine, or localhost."
    default: why = "\(error)."
    }
    self.init("Cannot listen on \(host):\(port): \(why)")
  }
}
