import APISupport
import Accounts
import AdminAPI
import AdminModel
import Backups
import Credentials
import Glibc
import HTTPServer
import IdentityAPI
import Links
import LinksAPI
import Logging
import MessagesAPI
import NIOPosix
import RealtimeAPI
import ServerConfiguration
import StorageCore
import TreeDatabase
import WebConsole

/// Puts the surfaces over a shard together, and the ports that they are reached by.
struct ServerAssembly {
  let shard: Shard
  /// What tokens are signed with.
  let keys: CurrentKeys
  let metrics: ServerMetrics
  let pools: RequestPools
  /// Where mail is shown in development; nil where it is sent.
  let mailbox: DevelopmentMailbox?
  /// Looks after the server itself.
  let monitor: ServerMonitor
  /// Nil where no backups are scheduled.
  let backups: ScheduledBackups?
  let logger: Logger

  private var configuration: ServerConfiguration { shard.configuration }
  private var isDevelopment: Bool { configuration.mode == .development }

  func makeSurfaces() -> ServerSurfaces {
    let logger = logger
    let functions = FunctionAdminAdapter(dispatcher: shard.dispatcher, engine: shard.engine)
    let (policy, files) = (configuration.accessPolicy(serviceAccounts: shard.serviceAccounts), consoleFiles)
    let context = makeContext(policy)
    let access = RuleBasedAccess(database: shard.database, unruled: policy)
    let realtime = RealtimeServices(
      context: context, access: access, listeners: shard.listeners,
      connectedUsers: shard.accounts.connectedUsers, effects: functions, random: SystemRandomNumberGenerator(),
      announceNamespace: { logger.notice("a namespace came into being", metadata: ["namespace": "\($0)"]) })
    return ServerSurfaces(
      realtime: realtime, identity: IdentityServices(context: context, accounts: shard.accounts.accounts, keys: keys),
      links: LinksServices(
        context: context, links: shard.links, invites: shard.invites, referrals: shard.referrals,
        accounts: shard.accounts.accounts),
      messages: makeMessagesServices(context, access: access),
      admin: makeAdminServices(context, functions: functions, files: files),
      console: WebConsole(
        files: files, settings: configuration.console, isDevelopment: isDevelopment,
        isSecure: !configuration.certificates.isEmpty),
      images: images)
  }

  private var images: MessageImages {
    MessageImages(configuration.messageImages.map { ($0.name, $0.type, $0.bytes) })
  }

  private func makeMessagesServices(_ context: ServerContext, access: RuleBasedAccess) -> MessagesServices {
    let (links, namespace) = (shard.links, configuration.defaultNamespace)
    return MessagesServices(
      context: context, messages: shard.messages,
      keys: {
        links.settings.apiKeys.filter { $0.methods.isEmpty || $0.methods.contains("messages") }.map {
          AppKey(key: $0.key, bundleIDs: $0.bundleIDs)
        }
      },
      mayRead: { path, caller in access.decideRead(path, query: nil, in: namespace, as: caller).isAllowed })
  }

  private var consoleFiles: ConsoleFiles {
    guard let folder = configuration.console.folder else { return ConsoleFiles() }
    return ConsoleFiles { name in try? FileBytes.read("\(folder)/\(name)") }
  }

  private func makeContext(_ policy: AccessPolicy) -> ServerContext {
    let authenticator = shard.accounts.authenticator(over: policy)
    let sessions = ConsoleSessions(
      settings: configuration.console, isDevelopment: isDevelopment, authenticator: authenticator, clock: configuration.clock,
      random: SystemRandomNumberGenerator())
    return ServerContext(
      database: shard.database, defaultNamespace: configuration.defaultNamespace,
      callers: CallerIdentification(
        authenticator: authenticator, origins: configuration.developmentOrigins,
        pages: configuration.console.isEnabled ? sessions : nil),
      isDevelopment: isDevelopment, metrics: metrics,
      memory: MemoryBudgets(
        inputBytesMax: configuration.unfinishedInputMax, outputBytesMax: configuration.unreadOutputMax),
      pools: pools, logger: logger)
  }

  private func makeAdminServices(_ context: ServerContext, functions: FunctionAdminAdapter, files: ConsoleFiles)
    -> AdminServices
  {
    let folder: String? = if case .directory(let folder) = configuration.storage { folder } else { nil }
    var admin = AdminServices(context: context, listeners: shard.listeners, random: SystemRandomNumberGenerator())
    admin.sessions = context.callers.pages as? ConsoleSessions
    admin.consoleBuild = files.build
    admin.version = configuration.build.version
    admin.configuration = AdminSystem.Configuration(
      files: configuration.configurationFiles,
      settings: configuration.settings.map {
        AdminSystem.Setting(
          name: $0.name, value: $0.value, secret: $0.isSecret ? true : nil,
          source: AdminSystem.SettingSource(rawValue: $0.source.rawValue) ?? .default)
      })
    admin.functions = functions
    admin.replays = ReplayAdminAdapter(replayer: shard.replayer, engine: shard.engine, folder: folder)
    admin.ledger = shard.ledger
    admin.accounts = shard.accounts.accounts
    admin.links = shard.links
    admin.invites = shard.invites
    admin.messages = shard.messages
    admin.messageImages = images.images.map { image in
      let address = (configuration.accounts.publicURL ?? "") + image.path
      return AdminMessages.Image(name: image.name, address: address, type: image.type, bytes: Int64(image.bytes.count))
    }
    admin.referrals = shard.referrals
    admin.serviceAccounts = shard.serviceAccounts
    admin.mail = mailbox
    admin.adjustableClock = isDevelopment ? configuration.clock as? AdjustableClock : nil
    admin.backups = shard.backups
    admin.schedule = backups
    admin.watch = monitor.watch
    admin.furtherMetrics = { [monitor, messages = shard.messages] in monitor.families + messages.families }
    admin.cluster = { [monitor] in AdminCluster.State(monitor.sight) }
    admin.furtherWarnings = { [monitor] in [monitor.sight?.trouble].compactMap(\.self) }
    admin.diskSpace = { folder.flatMap { DiskSpace(of: $0) } }
    return admin
  }

  /// The one port that clients know.
  func makeServer(_ surfaces: ServerSurfaces, tls: TLSIdentity?) -> HTTPServer {
    var socketLimits = SocketLimits()
    socketLimits.listensPerNetworkMax = configuration.listensPerNetworkMax ?? socketLimits.listensPerNetworkMax
    let sockets = SocketRoutes(
      services: surfaces.realtime, limits: socketLimits,
      pace: configuration.requestLimits.map { SocketPace(limits: $0, clock: configuration.clock) })
    var http = configuration.http
    (http.host, http.port, http.tls) = (configuration.host, configuration.port, tls)
    if let eventLoops = configuration.eventLoops { http.threadCount = eventLoops }
    let router = surfaces.router(sockets: sockets)
    guard let limits = configuration.requestLimits else {
      return HTTPServer(
        configuration: http, responder: router, sockets: sockets, memory: surfaces.context.memory, metrics: metrics.http,
        clock: configuration.clock, logger: logger)
    }
    let limiter = RequestLimiter(
      limits: limits, responder: router, sockets: sockets, kind: RequestKind.of, metrics: metrics.http,
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
      folder: folder, freeBytes: Self.bytes(facts.f_bavail, size: facts.f_frsize),
      totalBytes: Self.bytes(facts.f_blocks, size: facts.f_frsize))
  }

  private static func bytes(_ blocks: UInt, size: UInt) -> Int64 {
    let (product, overflows) = blocks.multipliedReportingOverflow(by: size)
    return overflows ? .max : Int64(clamping: product)
  }
}
