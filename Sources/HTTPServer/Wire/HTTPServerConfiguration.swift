package import NIOCore

/// How the server listens, and how much it takes from one client.
package struct HTTPServerConfiguration: Sendable {
  /// The address to listen on.
  package var host: String
  /// 0 lets the system choose; ``HTTPServer/bind()`` tells which it was.
  package var port: Int
  /// How many event loops serve the connections.
  package var threadCount: Int
  /// Connections that may wait to be accepted.
  package var backlog: Int
  /// Connections open at once; one more is closed unanswered.
  package var connectionsMax: Int
  /// Connections open at once from one network (``ClientAddress/household``); one more is closed unanswered. Nil for as many
  /// as there may be altogether.
  package var connectionsPerNetworkMax: Int?
  /// Requests that one connection may make before it is closed, so that clients spread again behind a balancer.
  package var requestsPerConnectionMax: Int
  /// Bytes of body that a request may have. Larger than the 16 MB that a commit may change, for JSON is wordier.
  package var bodyBytesMax: Int
  /// Bytes of one header line, and of all together.
  package var headerBytesMax: Int
  /// How long a connection may stand between two requests; also the time for a request's headers to arrive.
  package var idleTimeout: TimeAmount
  /// How long a request's body, or the reading of its answer, may take; a client that moves ``bytesPerSecondMin`` gets
  /// more.
  package var exchangeTimeout: TimeAmount
  /// The speed that is granted to slow clients beyond the timeout.
  package var bytesPerSecondMin: Int
  /// How long requests in flight may go on once the server stops.
  package var drainTimeout: TimeAmount
  /// Whose `X-Forwarded-For` is believed.
  package var trustedProxies = TrustedProxies()
  /// What the server proves itself with; nil for plain HTTP.
  package var tls: TLSIdentity?
  /// How long a client may take to agree on a TLS connection.
  package var handshakeTimeout = TimeAmount.seconds(10)

  package init(
    host: String = "127.0.0.1", port: Int = 9000, threadCount: Int = System.coreCount, backlog: Int = 1024,
    connectionsMax: Int = 100_000, requestsPerConnectionMax: Int = 10_000_000, bodyBytesMax: Int = 17 << 20,
    headerBytesMax: Int = 32 << 10, idleTimeout: TimeAmount = .seconds(75), exchangeTimeout: TimeAmount = .seconds(30),
    bytesPerSecondMin: Int = 16 << 10, drainTimeout: TimeAmount = .seconds(10)
  ) {
    self.host = host
    self.port = port
    self.threadCount = threadCount
    self.backlog = backlog
    self.connectionsMax = connectionsMax
    self.requestsPerConnectionMax = requestsPerConnectionMax
    self.bodyBytesMax = bodyBytesMax
    self.headerBytesMax = headerBytesMax
    self.idleTimeout = idleTimeout
    self.exchangeTimeout = exchangeTimeout
    self.bytesPerSecondMin = bytesPerSecondMin
    self.drainTimeout = drainTimeout
  }
}
