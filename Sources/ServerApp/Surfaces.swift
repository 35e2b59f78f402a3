import Credentials
import Invites
import Ledger
import Links
import Logging
import NIOPosix
import ServerAPI
import StorageCore
import TreeDatabase
import Triggers

/// Puts the surfaces of the one port together.
struct Surfaces {
  let configuration: ServerConfiguration
  let database: Database
  let listeners: ListenerHub
  let dispatcher: Dispatcher
  let replayer: Replayer
  let ledger: LedgerBook
  let referrals: ReferralBook?
  let links: LinkBook
  let invites: InviteBook
  let keys: CurrentKeys
  let serviceAccounts: ServiceAccountDesk
  let accounts: AccountAssembly
  let metrics: ServerMetrics
  let threadPool: NIOThreadPool
  let adminPool: NIOThreadPool
  let identity: TLSIdentity?
  let mail: MailRing?
  let logger: Logger

  func makeServices() -> ServerServices {
    let desk = FunctionDesk(dispatcher: dispatcher, engine: database.engine)
    let folder: String? = if case .directory(let folder) = configuration.storage { folder } else { nil }
    let replays = ReplayDesk(replayer: replayer, engine: database.engine, folder: folder)
    let logger = logger
    let isDevelopment = configuration.mode == .development
    let owner = isDevelopment ? [AdminToken(name: "owner", secret: configuration.adminToken)] : []
    let policy = AccessPolicy(
      mode: configuration.mode, adminTokens: owner + configuration.admins, serviceAccounts: serviceAccounts)
    let memory = MemoryBudgets(
      inputBytesMax: configuration.unfinishedInputMax, outputBytesMax: configuration.unreadOutputMax)
    return ServerServices(
      database: database, listeners: listeners, authenticator: accounts.authenticator(over: policy),
      access: RuledAccess(database: database, unruled: policy),
      metrics: metrics, defaultNamespace: configuration.defaultNamespace, threadPool: threadPool, logger: logger,
      random: SystemRandomNumberGenerator(), functions: desk, replays: replays, ledger: ledger, referrals: referrals,
      links: links,
      invites: invites,
      effects: desk, accounts: accounts.book, connectedUsers: accounts.connectedUsers,
      adjustableClock: isDevelopment ? configuration.clock as? AdjustableClock : nil, keys: keys,
      serviceAccounts: serviceAccounts, mail: mail, adminPool: adminPool, memory: memory,
      origins: isDevelopment ? DevelopmentOrigins(allowing: configuration.allowedHosts + [configuration.host]) : nil,
      diskSpace: { folder.flatMap { DiskSpace(of: $0) } },
      announceNamespace: { logger.notice("a namespace came into being", metadata: ["namespace": "\($0)"]) })
  }

  /// The one port that clients know.
  func makeServer(_ services: ServerServices) -> HTTPServer {
    var socketLimits = SocketLimits()
    socketLimits.listensPerNetworkMax = configuration.listensPerNetworkMax ?? socketLimits.listensPerNetworkMax
    let sockets = SocketDoor(
      services: services, limits: socketLimits,
      pace: configuration.requestLimits.map { SocketPace(limits: $0, clock: configuration.clock) })
    var http = configuration.http
    (http.host, http.port, http.tls) = (configuration.host, configuration.port, identity)
    if let eventLoops = configuration.eventLoops { http.threadCount = eventLoops }
    let router = ServerSurfaces(services: services).router(sockets: sockets)
    guard let limits = configuration.requestLimits else {
      return HTTPServer(
        configuration: http, responder: router, sockets: sockets, memory: services.memory, metrics: metrics.http,
        clock: configuration.clock, logger: logger)
    }
    let limiter = RequestLimiter(
      limits: limits, responder: router, sockets: sockets, kind: { RequestKind.of($0, method: $1, headers: $2) },
      metrics: metrics.http,
      clock: configuration.clock)
    return HTTPServer(
      configuration: http, responder: limiter, sockets: limiter, memory: services.memory, metrics: metrics.http,
      clock: configuration.clock, logger: logger)
  }

  /// The port that only this machine reaches, for what reads the metrics; nil where none is configured. What it answers is
  /// no client's request, and does not count as one.
  func makeMetricsServer(_ services: ServerServices) -> HTTPServer? {
    configuration.metricsAddress.map { address in
      HTTPServer(
        configuration: HTTPServerConfiguration(host: address.host, port: address.port, threadCount: 1, connectionsMax: 64),
        responder: ServerSurfaces(services: services).metricsResponder(), metrics: HTTPMetrics(), clock: configuration.clock,
        logger: logger)
    }
  }
}
