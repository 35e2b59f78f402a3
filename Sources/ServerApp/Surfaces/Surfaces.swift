import APISupport
import AdminAPI
import Credentials
import Glibc
import HTTPServer
import IdentityAPI
import Invites
import Ledger
import Links
import LinksAPI
import Logging
import NIOPosix
import RealtimeAPI
import ServerConfiguration
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
  let ledger: LedgerService
  let referrals: ReferralService?
  let links: LinkService
  let invites: InvitationService
  let keys: CurrentKeys
  let serviceAccounts: ServiceAccountStore
  let accounts: AccountAssembly
  let metrics: ServerMetrics
  let threadPool: NIOThreadPool
  let adminPool: NIOThreadPool
  let identity: TLSIdentity?
  let mail: DevelopmentMailbox?
  let logger: Logger

  func makeServices() -> ServerSurfaces {
    let desk = FunctionAdminAdapter(dispatcher: dispatcher, engine: database.engine)
    let folder: String? = if case .directory(let folder) = configuration.storage { folder } else { nil }
    let replays = ReplayAdminAdapter(replayer: replayer, engine: database.engine, folder: folder)
    let logger = logger
    let isDevelopment = configuration.mode == .development
    let owner = isDevelopment ? [AdminToken(name: "owner", secret: configuration.adminToken)] : []
    let policy = AccessPolicy(
      mode: configuration.mode, adminTokens: owner + configuration.admins, serviceAccounts: serviceAccounts)
    let memory = MemoryBudgets(
      inputBytesMax: configuration.unfinishedInputMax, outputBytesMax: configuration.unreadOutputMax)
    let context = ServerContext(
      database: database, defaultNamespace: configuration.defaultNamespace,
      callers: CallerIdentification(
        authenticator: accounts.authenticator(over: policy),
        origins: isDevelopment ? DevelopmentOrigins(allowing: configuration.allowedHosts + [configuration.host]) : nil),
      isDevelopment: isDevelopment, metrics: metrics, memory: memory, threadPool: threadPool, adminPool: adminPool,
      logger: logger)
    let realtime = RealtimeServices(
      context: context, access: RuleBasedAccess(database: database, unruled: policy), listeners: listeners,
      connectedUsers: accounts.connectedUsers, effects: desk, random: SystemRandomNumberGenerator(),
      announceNamespace: { logger.notice("a namespace came into being", metadata: ["namespace": "\($0)"]) })
    var admin = AdminServices(context: context, listeners: listeners, random: SystemRandomNumberGenerator())
    admin.functions = desk
    admin.replays = replays
    admin.ledger = ledger
    admin.accounts = accounts.book
    admin.links = links
    admin.invites = invites
    admin.referrals = referrals
    admin.serviceAccounts = serviceAccounts
    admin.mail = mail
    admin.adjustableClock = isDevelopment ? configuration.clock as? AdjustableClock : nil
    admin.diskSpace = { folder.flatMap { DiskSpace(of: $0) } }
    return ServerSurfaces(
      realtime: realtime, identity: IdentityServices(context: context, accounts: accounts.book, keys: keys),
      links: LinksServices(
        context: context, links: links, invites: invites, referrals: referrals, accounts: accounts.book),
      admin: admin)
  }

  /// The one port that clients know.
  func makeServer(_ surfaces: ServerSurfaces) -> HTTPServer {
    var socketLimits = SocketLimits()
    socketLimits.listensPerNetworkMax = configuration.listensPerNetworkMax ?? socketLimits.listensPerNetworkMax
    let sockets = SocketRoutes(
      services: surfaces.realtime, limits: socketLimits,
      pace: configuration.requestLimits.map { SocketPace(limits: $0, clock: configuration.clock) })
    var http = configuration.http
    (http.host, http.port, http.tls) = (configuration.host, configuration.port, identity)
    if let eventLoops = configuration.eventLoops { http.threadCount = eventLoops }
    let router = surfaces.router(sockets: sockets)
    guard let limits = configuration.requestLimits else {
      return HTTPServer(
        configuration: http, responder: router, sockets: sockets, memory: surfaces.context.memory, metrics: metrics.http,
        clock: configuration.clock, logger: logger)
    }
    let limiter = RequestLimiter(
      limits: limits, responder: router, sockets: sockets, kind: { RequestKind.of($0, method: $1, headers: $2) },
      metrics: metrics.http,
      clock: configuration.clock)
    return HTTPServer(
      configuration: http, responder: limiter, sockets: limiter, memory: surfaces.context.memory, metrics: metrics.http,
      clock: configuration.clock, logger: logger)
  }

  /// The port that only this machine reaches, for what reads the metrics; nil where none is configured. What it answers is
  /// no client's request, and does not count as one.
  func makeMetricsServer(_ surfaces: ServerSurfaces) -> HTTPServer? {
    configuration.metricsAddress.map { address in
      HTTPServer(
        configuration: HTTPServerConfiguration(host: address.host, port: address.port, threadCount: 1, connectionsMax: 64),
        responder: surfaces.metricsResponder(), metrics: HTTPMetrics(), clock: configuration.clock,
        logger: logger)
    }
  }
}

extension DiskSpace {
  /// Asks the system; nil if it does not say.
  init?(of folder: String) {
    var facts = statvfs()
    guard statvfs(folder, &facts) == 0 else { return nil }
    // What is kept back for root is not free for a server.
    self.init(
      folder: folder, freeBytes: Self.bytes(facts.f_bavail, facts.f_frsize),
      totalBytes: Self.bytes(facts.f_blocks, facts.f_frsize))
  }

  private static func bytes(_ blocks: UInt, _ size: UInt) -> Int64 {
    let (product, overflows) = blocks.multipliedReportingOverflow(by: size)
    return overflows ? .max : Int64(clamping: product)
  }
}
