import CoreMetrics
package import NIOCore
package import NIOHTTP1
package import StorageCore
import Synchronization

/// Limits how often one client network may ask, before the router and the sockets see the request.
///
/// Counts by client network (``ClientAddress/clientNetwork``) and kind of request, in tables of bounded size; a request
/// costs one lock and one look-up. What is written over sockets has a pace of its own (`SocketPace`).
package final class RequestLimiter: RequestResponder, SocketAccepting {
  /// What a request counts as: judged by what the router will see, however its path is spelt.
  package typealias Classification = @Sendable (_ request: HTTPRequest) -> RequestLimits.Kind

  /// Client networks that are known at once for each kind of request.
  package static let networksMax = 32_768

  private let responder: any RequestResponder
  private let sockets: (any SocketAccepting)?
  private let metrics: HTTPMetrics
  private let clock: any WallClock
  private let kind: Classification
  /// By ``RequestLimits/Kind``; nil where there is no limit.
  private let tables: [Table?]
  /// What administrators may ask for beyond those.
  private let administrators: Table?

  private final class Table: Sendable {
    let buckets: Mutex<TokenBuckets<ClientAddress>>

    init(_ limit: RateLimit) {
      buckets = Mutex(TokenBuckets(limit: limit, capacity: RequestLimiter.networksMax))
    }

    /// Takes tokens of a client's network. Returns how long it has to wait for them, in milliseconds; nil if they were there.
    func wait(_ client: ClientAddress, at now: Int64, cost: Int) -> Int64? {
      let verdict = buckets.withLock { $0.take(client.clientNetwork, at: now, cost: min(cost, $0.limit.burst)) }
      guard case .wait(let milliseconds) = verdict else { return nil }
      return milliseconds
    }
  }

  /// - `responder`: who answers what is not too much.
  /// - `sockets`: who takes over connections that are not too many; nil: no one does.
  /// - `kind`: what a request counts as.
  package init(
    limits: RequestLimits, responder: any RequestResponder, sockets: (any SocketAccepting)?,
    kind: @escaping Classification, metrics: HTTPMetrics, clock: any WallClock
  ) {
    self.responder = responder
    self.sockets = sockets
    self.metrics = metrics
    self.clock = clock
    self.kind = kind
    tables = RequestLimits.Kind.allCases.map { limits[$0].map(Table.init) }
    administrators = limits.administrators.map(Table.init)
  }

  package func respond(to request: HTTPRequest, sink: ResponseSink) {
    metrics.proxySuspicion.note(request.client)
    let kind = kind(request)
    if let refusal = refusal(kind, client: request.client, cost: cost(of: request)), !isAdministrators(request) {
      metrics.rateLimited.increment()
      return sink.send(refusal)
    }
    responder.respond(to: request, sink: sink)
  }

  package var openBytesMax: Int { responder.openBytesMax }

  package func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? { responder.bodyLimit(for: head) }

  /// What a request takes out of its bucket. What administrators send costs one token: imports are large.
  private func cost(of request: HTTPRequest) -> Int {
    let tokens = WriteCost.tokens(bytes: request.body?.readableBytes ?? 0)
    guard tokens > 1 else { return 1 }
    return standing(of: request.decodedHead) == .administrator ? 1 : tokens
  }

  /// Whether an administrator asks, a studio's own server for instance, who may have more.
  ///
  /// Looking at a token costs more than a look at a bucket: so the bucket comes first, and those who flood the
  /// server with tokens have only so many looked at. Players who send none leave it to the administrators of their network.
  private func isAdministrators(_ request: HTTPRequest) -> Bool {
    guard Self.mayHaveCredentials(request.decodedHead) else { return false }
    if let administrators, administrators.wait(request.client, at: clock.now(), cost: 1) != nil { return false }
    return standing(of: request.decodedHead) == .administrator
  }

  private static func mayHaveCredentials(_ head: HTTPRequestHead) -> Bool {
    head.headers.contains(name: "authorization") || head.headers.contains(name: "x-doubloon-console")
      || head.uri.contains("auth=") || head.uri.contains("access_token=")
  }

  package func standing(of head: HTTPRequestHead) -> ClientStanding { responder.standing(of: head) }

  package func accept(_ head: HTTPRequestHead, on channel: any Channel, from client: ClientAddress) -> SocketAcceptance {
    if let refusal = refusal(.connection, client: client, cost: 1) {
      metrics.rateLimited.increment()
      return .refused(refusal)
    }
    return sockets?.accept(head, on: channel, from: client) ?? .ignored
  }

  package func stop(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
    sockets?.stop(on: eventLoop) ?? eventLoop.makeSucceededVoidFuture()
  }

  private func refusal(_ kind: RequestLimits.Kind, client: ClientAddress, cost: Int) -> HTTPResponse? {
    guard let milliseconds = tables[kind.rawValue]?.wait(client, at: clock.now(), cost: cost) else { return nil }
    let seconds = (milliseconds + 999) / 1000
    return HTTPResponse.error(
      .tooManyRequests,
      message: "Too many requests from this address: try again in \(seconds) second\(seconds == 1 ? "" : "s")."
    )
    .adding("Retry-After", value: String(seconds))
  }
}

/// How often one client may ask for what; nil is without limit. Each 16 KB of a body count as one request more.
package struct RequestLimits: Sendable, Hashable {
  /// What a request counts as.
  package enum Kind: Int, CaseIterable, Sendable {
    /// One of the kinds that have a limit each.
    case read, write, connection, admin, account, link, other
  }

  /// Reads of the tree, and the requests of long-polling clients.
  package var reads: RateLimit?
  /// Writes of the tree over REST.
  package var writes: RateLimit?
  /// Writes of one player over sockets and long polling; of those who have not signed in, of their network together. A large
  /// one counts as several (``WriteCost``).
  package var socketWrites: RateLimit?
  /// The same of all players of one network together.
  package var socketWritesOfNetwork: RateLimit?
  /// Sockets, long-polling sessions and event streams that begin.
  package var connections: RateLimit?
  /// The administrators' surface, the settings, and tokens for service accounts: guessing keys is slowed down.
  package var admin: RateLimit?
  /// Accounts: sign-up, sign-in, tokens.
  package var accounts: RateLimit?
  /// Links that are made, opened or asked about.
  package var links: RateLimit?
  /// Everything else.
  package var others: RateLimit?
  /// What administrators, a studio's own servers among them, may ask for beyond these; nil: whatever they want.
  package var administrators: RateLimit?

  /// What production allows: more than a player's game needs, less than a script can do.
  package init() {
    reads = RateLimit(500, per: 1000, burst: 2000)
    writes = RateLimit(100, per: 1000, burst: 500)
    socketWrites = RateLimit(100, per: 1000, burst: 500)
    socketWritesOfNetwork = RateLimit(1000, per: 1000, burst: 5000)
    connections = RateLimit(20, per: 1000, burst: 200)
    admin = RateLimit(20, per: 1000, burst: 200)
    accounts = RateLimit(10, per: 1000, burst: 100)
    links = RateLimit(50, per: 1000, burst: 200)
    others = RateLimit(50, per: 1000, burst: 200)
    administrators = RateLimit(200, per: 1000, burst: 1000)
  }

  package subscript(kind: Kind) -> RateLimit? {
    switch kind {
    case .read: reads
    case .write: writes
    case .connection: connections
    case .admin: admin
    case .account: accounts
    case .link: links
    case .other: others
    }
  }
}

/// What a write takes out of a client's bucket: one token, and one more for each 16 KB.
///
/// A write of one leaf and one of 16 MB are both one request, but not the same work for the server.
package enum WriteCost {
  private static let bytesPerToken = 16 << 10

  package static func tokens(bytes: Int) -> Int { 1 + bytes / bytesPerToken }
}
