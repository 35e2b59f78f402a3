package import ClientRuntime
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// HTTP/1.1 and WebSockets over NIO, with TLS where the address asks for it.
///
/// Connections run on NIO's process-wide threads: there is nothing to shut down. A few are kept between requests.
package final class NIOTransport: HTTPTransport, SocketTransport {
  /// Bytes that one text of a socket may have, all its frames together.
  package static let textBytesMax = 64 << 20
  /// Connections that wait for their next request, at all addresses together.
  static let idleMax = 8

  private let authorities: [[UInt8]]
  /// Bytes of a socket's texts that may wait to be dealt with.
  let unreadMax: Int
  private let tls = Locked<NIOSSLContext?>(nil)
  private let idle = Locked<[(server: ServiceAddress, channel: any Channel, since: NIODeadline)]>([])

  /// - `authorities`: certificates in PEM form that are trusted instead of those of the system, for a server with its own.
  /// - `unreadMax`: bytes of a socket's texts that may wait to be dealt with.
  package init(authorities: [[UInt8]] = [], unreadMax: Int = SocketEvent.unreadMax) {
    self.authorities = authorities
    self.unreadMax = unreadMax
  }

  package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let head = try Self.head(of: request)
    if let kept = takeIdle(for: request.server) {
      do {
        return try await exchange(request, head: head, on: kept)
      } catch let error as TransportError where error.code == .disconnected && request.method == "GET" {
        // The server closed it just then. Only what changes nothing is repeated without being asked to.
      }
    }
    return try await exchange(request, head: head, on: try await connect(to: request.server, timeout: request.timeout))
  }

  package func events(_ request: HTTPRequest) async throws -> AsyncThrowingStream<StreamEvent, any Error> {
    let head = try Self.head(of: request)
    let channel = try await connect(to: request.server, timeout: request.timeout)
    let promise = channel.eventLoop.makePromise(of: AsyncThrowingStream<StreamEvent, any Error>.self)
    return try await waiting(for: request.server, on: channel, timeout: request.timeout) {
      channel.writeAndFlush(HTTPExchange(request: request, head: head, answer: .events(promise))).cascadeFailure(to: promise)
      return promise.futureResult
    }
  }

  private func exchange(_ request: HTTPRequest, head: HTTPRequestHead, on channel: any Channel) async throws -> HTTPResponse {
    let promise = channel.eventLoop.makePromise(of: HTTPExchange.Whole.self)
    let whole = try await waiting(for: request.server, on: channel, timeout: request.timeout) {
      channel.writeAndFlush(HTTPExchange(request: request, head: head, answer: .whole(promise))).cascadeFailure(to: promise)
      return promise.futureResult
    }
    if whole.keepsAlive { keep(channel, for: request.server) } else { channel.close(promise: nil) }
    return whole.response
  }

  /// Waits for an answer; a task that is ended meanwhile closes the connection, and so does a failure.
  private func waiting<Value: Sendable>(
    for server: ServiceAddress, on channel: any Channel, timeout: Int64, _ start: () -> EventLoopFuture<Value>
  ) async throws -> Value {
    do {
      return try await withTaskCancellationHandler {
        try await start().get()
      } onCancel: {
        channel.close(promise: nil)
      }
    } catch {
      channel.close(promise: nil)
      try Task.checkCancellation()
      throw TransportError(error, server: server, timeout: timeout)
    }
  }

  private func connect(to server: ServiceAddress, timeout: Int64) async throws -> any Channel {
    let connected: (channel: any Channel, handshake: EventLoopFuture<Void>?)
    do {
      let context = server.isSecure ? try tlsContext() : nil
      connected = try await Self.bootstrap(timeout: timeout).connect(host: server.host, port: server.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let handshake = try Self.addTLS(context, host: server.host, timeout: timeout, to: channel)
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          try channel.pipeline.syncOperations.addHandler(HTTPExchangeHandler())
          return (channel, handshake)
        }
      }
    } catch {
      throw TransportError(error, server: server, timeout: timeout)
    }
    return try await waiting(for: server, on: connected.channel, timeout: timeout) {
      connected.handshake?.map { connected.channel } ?? connected.channel.eventLoop.makeSucceededFuture(connected.channel)
    }
  }

  static func bootstrap(
    timeout: Int64, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) -> ClientBootstrap {
    ClientBootstrap(group: group)
      .connectTimeout(.milliseconds(min(max(timeout, 1), 1 << 40)))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
  }

  /// Puts TLS at the front of a pipeline; the future tells when it stands. Nil where plain text is spoken.
  static func addTLS(
    _ context: NIOSSLContext?, host: String, timeout: Int64, to channel: any Channel
  ) throws -> EventLoopFuture<Void>? {
    guard let context else { return nil }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    let handler: NIOSSLClientHandler
    do {
      handler = try NIOSSLClientHandler(context: context, serverHostname: host)
    } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI {
      handler = try NIOSSLClientHandler(context: context, serverHostname: nil)
    }
    try channel.pipeline.syncOperations.addHandler(handler)
    try channel.pipeline.syncOperations.addHandler(HandshakeWaiter(promise, timeout: .milliseconds(timeout)))
    return promise.futureResult
  }

  /// The certificates are read once, when TLS is first spoken.
  func tlsContext() throws -> NIOSSLContext {
    try tls.withLock { context in
      if let context { return context }
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      if !authorities.isEmpty {
        configuration.trustRoots = .certificates(try authorities.flatMap { try NIOSSLCertificate.fromPEMBytes($0) })
      }
      let made = try NIOSSLContext(configuration: configuration)
      context = made
      return made
    }
  }

  private static func head(of request: HTTPRequest) throws -> HTTPRequestHead {
    try request.checkHead()
    var headers: HTTPHeaders = ["Host": request.server.authority, "Accept": "*/*"]
    if let body = request.body {
      headers.add(name: "Content-Type", value: "application/json")
      headers.add(name: "Content-Length", value: String(body.count))
    }
    for (name, value) in request.headers { headers.replaceOrAdd(name: name, value: value) }
    return HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: request.target, headers: headers)
  }

  private func takeIdle(for server: ServiceAddress) -> (any Channel)? {
    idle.withLock { idle in
      // A server keeps a connection for a minute or more; younger ones are safe to use.
      let old = idle.filter { !$0.channel.isActive || .now() - $0.since > .seconds(20) }
      for connection in old { connection.channel.close(promise: nil) }
      idle.removeAll { connection in old.contains { $0.channel === connection.channel } }
      return idle.lastIndex { $0.server == server }.map { idle.remove(at: $0).channel }
    }
  }

  private func keep(_ channel: any Channel, for server: ServiceAddress) {
    let isKept = idle.withLock { idle in
      guard idle.count < Self.idleMax, channel.isActive else { return false }
      idle.append((server, channel, .now()))
      return true
    }
    if !isKept { channel.close(promise: nil) }
  }
}

extension TransportError {
  /// What NIO failed with, as a sentence.
  init(_ error: any Error, server: ServiceAddress, timeout: Int64) {
    switch error {
    case let error as TransportError: self = error
    case is NIOConnectionError, is SocketAddressError:
      self.init(.unreachable, "No server answers at \(server). Is the address right, and is this device online?")
    case let error as ChannelError where error.isTimeout:
      self.init(.timedOut, "\(server) did not answer within \(timeout / 1000) seconds.")
    case is ChannelError, is IOError:
      self.init(.disconnected, "The connection to \(server) broke before the answer was complete.")
    case let error as NIOSSLError where error.isAboutProtocol: fallthrough
    case is BoringSSLError:
      self.init(.untrusted, "\(server) speaks no TLS that this app understands; is it http, not https?")
    case is NIOSSLError, is NIOSSLExtraError:
      self.init(
        .untrusted,
        "\(server) could not prove who it is: its certificate is not for that name, has ended, or is vouched for by nobody whom "
          + "this device trusts. Nothing was sent.")
    default:
      self.init(.badResponse, "What \(server) answered is no HTTP; is that a Doubloon server?")
    }
  }
}

extension NIOSSLError {
  /// Whether what came was no TLS, rather than a certificate that does not count.
  fileprivate var isAboutProtocol: Bool {
    if case .handshakeFailed(let reason) = self { !"\(reason)".contains("CERTIFICATE_VERIFY_FAILED") } else { false }
  }
}

extension ChannelError {
  fileprivate var isTimeout: Bool { if case .connectTimeout = self { true } else { false } }
}
