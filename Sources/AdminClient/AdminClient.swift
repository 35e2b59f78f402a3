package import Credentials
package import NIOCore
package import NIOHTTP1
import NIOPosix
import NIOSSL
import StorageCore
import Synchronization
import TextFormats
package import TreeModel

/// Talks to a running server: one HTTP/1.1 request a call, over connections that are kept for the next one.
///
/// What the commands, the test kit and tests use. Every call is bounded in time and in the size of its answer. Connections
/// run on NIO's process-wide threads, so there is nothing to shut down but ``close()``.
package final class AdminClient: Sendable {
  /// Timeouts, and bounds of size.
  package struct Limits: Sendable {
    /// How long a connection may take to be made.
    package var connectTimeout: TimeAmount
    /// How long one request may take, from the first byte sent to the last byte of the answer.
    package var requestTimeout: TimeAmount
    /// Bytes of body that an answer may have.
    package var responseBytesMax: Int
    /// Connections that are kept open between requests; 0 closes each after its answer.
    package var idleConnectionsMax: Int
    /// Whether a request of any method is sent once more where the server had closed a kept connection: only where it does no
    /// harm if both arrive. Otherwise reads are.
    package var repeatsWrites = false

    /// Limits that fit a server on the same machine.
    package init(
      connectTimeout: TimeAmount = .seconds(5), requestTimeout: TimeAmount = .seconds(60),
      responseBytesMax: Int = 64 << 20, idleConnectionsMax: Int = 4
    ) {
      self.connectTimeout = connectTimeout
      self.requestTimeout = requestTimeout
      self.responseBytesMax = responseBytesMax
      self.idleConnectionsMax = idleConnectionsMax
    }
  }

  /// Where requests go.
  package let address: ServerAddress
  /// Timeouts, and bounds of size.
  package let limits: Limits
  private let token: String?
  /// Nil where plain HTTP is spoken.
  private let tls: NIOSSLContext?
  private let idle: Mutex<IdleConnections>
  private let defaultTree = Mutex<String?>(nil)

  /// - `server`: such as `http://127.0.0.1:9000`.
  /// - `token`: sent as `Authorization: Bearer …` with every request; nil sends none.
  /// - `authority`: a file of certificates in PEM form that vouch for the server's; nil for those that the system trusts.
  /// - Throws: ``AdminClientError`` if the address, or the file, cannot be read.
  package init(server: String, token: String?, authority: String? = nil, limits: Limits = Limits()) throws {
    address = try ServerAddress(server)
    tls = address.isTLS ? try Self.makeContext(authority) : nil
    if let token, !Self.isHeaderValue(token) {
      throw AdminClientError(.badRequest, "The key holds characters that cannot be sent; it must be one line of ASCII text.")
    }
    self.token = token
    self.limits = limits
    idle = Mutex(IdleConnections(countMax: limits.idleConnectionsMax))
  }

  /// Sends one request and waits for the whole answer, whatever its status.
  ///
  /// - `path`: percent-encoded, with its leading slash, without a query.
  /// - `query`: not encoded yet.
  /// - `timeout`: instead of ``Limits/requestTimeout``.
  /// - `responseBytesMax`: instead of ``Limits/responseBytesMax``.
  package func send(
    _ method: HTTPMethod, _ path: String, query: [QueryItem] = [], headers: HTTPHeaders = [:], body: [UInt8]? = nil,
    timeout: TimeAmount? = nil, responseBytesMax: Int? = nil
  ) async throws -> AdminResponse {
    guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
      throw AdminClientError(.badRequest, "\"\(path)\" is no path of a request; it must be percent-encoded.")
    }
    let query = naming(query, of: path)
    let request = HTTPExchange.Request(
      head: head(method, uri: path + QueryItem.encoded(query), headers: headers, bodyCount: body?.count), body: body,
      timeout: timeout ?? limits.requestTimeout, responseBytesMax: responseBytesMax ?? limits.responseBytesMax)
    // The server may close a kept connection at the moment it is used. Writes are not repeated then, unless it was said that
    // they may be: the first may have been applied.
    let reusable = idle.withLock { $0.take(now: .now()) }
    if let reusable {
      do {
        return try await exchange(request, on: reusable)
      } catch let error as AdminClientError where error.code == .disconnected && (method == .GET || limits.repeatsWrites) {
        // On a connection of its own, once.
      }
    }
    return try await exchange(request, on: try await connect())
  }

  /// From now on requests for a place in a tree that name no tree mean this one. A server takes the tree from the first label of
  /// its own host's name otherwise: that of `https://game.example.com` would be `game`.
  package func mean(tree: String) { defaultTree.withLock { $0 = tree } }

  private func naming(_ query: [QueryItem], of path: String) -> [QueryItem] {
    guard path.utf8.suffix(5).elementsEqual(".json".utf8), !query.contains(where: { $0.name == "ns" }),
      let tree = defaultTree.withLock(\.self)
    else { return query }
    return query + [QueryItem("ns", tree)]
  }

  /// Closes the connections that were kept; the client may still be used.
  package func close() async {
    for channel in idle.withLock({ $0.takeAll() }) {
      try? await channel.close().get()
    }
  }

  private func exchange(_ request: HTTPExchange.Request, on channel: any Channel) async throws -> AdminResponse {
    do {
      let promise = channel.eventLoop.makePromise(of: AdminResponse.self)
      channel.writeAndFlush(HTTPExchange(request: request, promise: promise)).cascadeFailure(to: promise)
      let response = try await promise.futureResult.get()
      let isKept = response.keepsAlive && idle.withLock { $0.keep(channel, now: .now()) }
      if !isKept { channel.close(promise: nil) }
      return response
    } catch {
      channel.close(promise: nil)
      throw AdminClientError(exchange: error, with: address, after: request.timeout)
    }
  }

  private func connect() async throws -> any Channel {
    let (tls, host, timeout) = (tls, address.host, limits.connectTimeout)
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(limits.connectTimeout)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
    let connected: (channel: any Channel, handshake: EventLoopFuture<Void>?)
    do {
      connected = try await bootstrap.connect(host: address.host, port: address.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          var handshake: EventLoopPromise<Void>?
          if let tls {
            let promise = channel.eventLoop.makePromise(of: Void.self)
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, host: host))
            try pipeline.addHandler(HandshakeAwaiter(promise, timeout: timeout))
            handshake = promise
          }
          try pipeline.addHTTPClientHandlers()
          try pipeline.addHandler(HTTPExchangeHandler())
          return (channel, handshake?.futureResult)
        }
      }
    } catch let error as NIOConnectionError {
      throw AdminClientError(.unreachable, "No server answers at \(address).", cause: error)
    } catch {
      throw AdminClientError(.unreachable, "No server answers at \(address): \(error).", cause: error)
    }
    do {
      try await connected.handshake?.get()
      return connected.channel
    } catch {
      connected.channel.close(promise: nil)
      throw AdminClientError(exchange: error, with: address, after: timeout)
    }
  }

  private func head(_ method: HTTPMethod, uri: String, headers: HTTPHeaders, bodyCount: Int?) -> HTTPRequestHead {
    var all: HTTPHeaders = ["Host": address.authority]
    if let token { all.add(name: "Authorization", value: "Bearer \(token)") }
    if let bodyCount {
      all.add(name: "Content-Type", value: "application/json")
      all.add(name: "Content-Length", value: String(bodyCount))
    }
    if limits.idleConnectionsMax == 0 { all.add(name: "Connection", value: "close") }
    for (name, value) in headers { all.replaceOrAdd(name: name, value: value) }
    return HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: all)
  }

  private static func makeContext(_ authority: String?) throws -> NIOSSLContext {
    do {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      if let authority { configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority)) }
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw AdminClientError(
        .badAddress, "\(authority ?? "The system's certificates") cannot be read as certificates in PEM form.", cause: error)
    }
  }

  private static func isHeaderValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
  }
}

extension AdminClient {
  /// Asks for a JSON value.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func get(_ path: String, query: [QueryItem] = [], timeout: TimeAmount? = nil) async throws -> JSON {
    try await send(.GET, path, query: query, timeout: timeout).checked().json()
  }

  /// Posts a JSON value and reads the answer as one.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func post(
    _ path: String, _ body: JSON = .object([]), query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws -> JSON {
    try await exchange(.POST, at: path, body: body, query: query, headers: headers, timeout: timeout)
  }

  /// Puts a JSON value and reads the answer as one.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func put(
    _ path: String, _ body: JSON, query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws -> JSON {
    try await exchange(.PUT, at: path, body: body, query: query, headers: headers, timeout: timeout)
  }

  /// Patches with a JSON object and reads the answer as a value.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func patch(
    _ path: String, _ body: JSON, query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws -> JSON {
    try await exchange(.PATCH, at: path, body: body, query: query, headers: headers, timeout: timeout)
  }

  /// Deletes, and reads the answer as a value.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func delete(
    _ path: String, query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws -> JSON {
    try await send(.DELETE, path, query: query, headers: headers, timeout: timeout).checked().json()
  }

  private func exchange(
    _ method: HTTPMethod, at path: String, body: JSON, query: [QueryItem], headers: HTTPHeaders, timeout: TimeAmount?
  ) async throws -> JSON {
    var writer = JSONWriter()
    writer.write(body)
    return try await send(method, path, query: query, headers: headers, body: writer.bytes, timeout: timeout).checked().json()
  }

  /// Where the database's REST surface has a path: percent-encoded, with `.json`.
  ///
  /// - Parameter path: `/users/bob` as people write it; a last segment `.priority` addresses the node's priority.
  package static func treePath(_ path: String) -> String {
    let segments = path.split(separator: "/").map { PercentEncoding.encode($0) }
    return "/" + segments.joined(separator: "/") + ".json"
  }
}

extension AdminClient {
  /// Buys an access token with a service account's key. To be asked of a client without a token.
  ///
  /// - `now`: milliseconds since 1970, by a clock that is nearly the server's.
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func accessToken(for account: ServiceAccountKey, at now: Int64) async throws -> String {
    let assertion: String
    do {
      assertion = try account.assertion(at: now)
    } catch {
      throw AdminClientError(.badRequest, "The key of \(account.name) cannot sign: \(error)")
    }
    let grant = PercentEncoding.encode(ServiceAccountAssertion.grantType)
    let response = try await send(
      .POST, "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8))
    let answer = try? response.json()
    guard response.isSuccess, let token = answer?["access_token"]?.string else {
      let why = answer?["error_description"]?.string ?? "status \(response.status)"
      throw AdminClientError(.refused(status: response.status), "\(address) refused \(account.name): \(why)")
    }
    return token
  }
}
