import APISupport
package import Accounts
import AdminAPI
import Backups
public import FunctionsKit
import HTTPServer
package import Invites
package import Ledger
package import Links
public import Logging
package import Messages
import NIOCore
import NIOPosix
public import ServerConfiguration
import RealtimeAPI
import ServiceLifecycle
public import StorageCore
import Synchronization
public import TreeDatabase
public import Triggers
import UnixSignals

/// The whole server: a shard, the surfaces over it, and the ports that they are reached by.
///
/// Order of life: the store is opened, functions are registered, the dispatcher catches up with the log, and only then the
/// ports open. Stopping goes the other way.
public final class Application: Sendable {
  /// What it was started with.
  public let configuration: ServerConfiguration
  private let shard: Shard
  private let term: ClusterTerm?
  private let keys: KeyRotator
  private let pools: RequestPools
  private let mail: SMTPTransport?
  private let tls: TLSIdentity?
  private let server: HTTPServer
  /// For this machine's own monitoring; nil where none is configured.
  let metricsServer: HTTPServer?
  /// Nil where no backups are scheduled.
  private let backups: ScheduledBackups?
  /// What the administrators' surface answers with: its looks and its work in the background begin and end with the server.
  private let admin: AdminServices
  private let realtime: RealtimeServices
  /// Looks after the server itself.
  let monitor: ServerMonitor
  private let logger: Logger
  private let running = Mutex<(group: ServiceGroup, task: Task<Void, any Error>)?>(nil)

  /// Opens the store and composes the server; nothing runs yet.
  ///
  /// - `outlets`: what delivers the messages that functions send to the outside.
  /// - `functions`: registers the deployment's functions.
  /// - Throws: `StorageError` if the data cannot be opened: another process has them, or a newer version wrote them.
  public convenience init(
    configuration: ServerConfiguration, logger: Logger = Logger(label: "doubloon"), outlets: [any OutboxTransport] = [],
    functions: (Functions) -> Void
  ) throws {
    try self.init(configuration: configuration, logger: logger, outlets: outlets, failpoint: .none, functions: functions)
  }

  /// As above.
  ///
  /// - `failpoint`: where a test lets the process die.
  package convenience init(
    configuration: ServerConfiguration, logger: Logger = Logger(label: "doubloon"), outlets: [any OutboxTransport] = [],
    failpoint: Failpoint, functions: (Functions) -> Void
  ) throws {
    try self.init(
      configuration: configuration, logger: logger, outlets: outlets, failpoint: failpoint, board: nil, functions: functions)
  }

  /// As above.
  ///
  /// - `board`: what people were told of by the term before.
  /// - `term`: what this node leads in; nil where the data folder is the truth.
  init(
    configuration: ServerConfiguration, logger: Logger, outlets: [any OutboxTransport], failpoint: Failpoint,
    board: AlertBoard?, term: ClusterTerm? = nil, functions: (Functions) -> Void
  ) throws {
    self.logger = logger
    self.term = term
    let registry = Functions(settings: configuration.functionSettings)
    functions(registry)
    let engine = try term?.engine ?? Shard.openEngine(configuration, logger: logger)
    var configuration = configuration
    configuration.currencies = try CurrencyList.inForce(configuration, declared: registry.currencies, in: engine)
    let identity = try StoreIdentity.settled(of: engine, for: configuration)
    keys = try KeyRotator(
      storage: configuration.storage, clock: configuration.clock, mirror: term?.vault.map { $0.push }, logger: logger)
    configuration.accounts.identities = IdentityHash(key: try IdentitySecret.load(from: keys.folder))
    self.configuration = configuration
    tls = try Self.tls(configuration)
    let mailing = try MailDelivery(configuration, beside: outlets, logger: logger)
    mail = mailing.smtp
    let metrics = ServerMetrics()
    // Before the shard, whose threads nobody would end.
    let ways = try ServerMonitor.ways(configuration)
    shard = try Shard(
      engine: engine, configuration: configuration,
      deployment: Shard.Deployment(
        functions: registry, transports: outlets + mailing.transports, failpoint: failpoint),
      keys: keys.keys, metrics: metrics, logger: logger)
    backups = Self.backups(configuration, maker: shard.backups, store: identity, noting: metrics.maintenance, logger: logger)
    pools = RequestPools(clients: NIOThreadPool(numberOfThreads: 2), administrators: NIOThreadPool(numberOfThreads: 2))
    monitor = Self.monitor(configuration, shard: shard, metrics: metrics, ways: ways, board: board, term: term, logger: logger)
    let assembly = ServerAssembly(
      shard: shard, keys: keys.keys, metrics: metrics, pools: pools, mailbox: mailing.mailbox, monitor: monitor,
      backups: backups, logger: logger)
    let surfaces = assembly.makeSurfaces()
    admin = surfaces.admin
    realtime = surfaces.realtime
    server = assembly.makeServer(surfaces, tls: tls)
    metricsServer = assembly.makeMetricsServer(surfaces)
  }

  private static func backups(
    _ configuration: ServerConfiguration, maker: BackupMaker, store: String, noting maintenance: MaintenanceRecord,
    logger: Logger
  ) -> ScheduledBackups? {
    guard let settings = configuration.backups else { return nil }
    let backups = ScheduledBackups(settings, maker: maker, store: store, clock: configuration.clock, logger: logger) { report in
      maintenance.noteCopy(MaintenanceRecord.Copy(report, isInFolder: settings.isFolder))
    }
    if let last = backups.lastMade { maintenance.recallBackup(endedAt: last) }
    return backups
  }

  private static func monitor(
    _ configuration: ServerConfiguration, shard: Shard, metrics: ServerMetrics, ways: [any AlertWay],
    board: AlertBoard?, term: ClusterTerm?, logger: Logger
  ) -> ServerMonitor {
    let functions = FunctionAdminAdapter(dispatcher: shard.dispatcher, engine: shard.engine)
    var cluster: (@Sendable () -> ClusterSight)?
    if let term { cluster = { term.sight } }
    let sources = ServerMonitor.Sources(
      watch: StoreWatch(engine: shard.engine, clock: configuration.clock, functions: functions), database: shard.database,
      outbox: shard.outbox, metrics: metrics, cluster: cluster)
    return ServerMonitor(sources, configuration: configuration, ways: ways, board: board, logger: logger)
  }

  private static func tls(_ configuration: ServerConfiguration) throws -> TLSIdentity? {
    guard !configuration.certificates.isEmpty else { return nil }
    return try TLSIdentity(configuration.certificates.map { try $0.load() })
  }
}

// MARK: - What it is made of

extension Application {
  /// The store, for looking. What writes goes through ``database``.
  public var engine: any StorageEngine { shard.engine }
  /// The tree, with the one writer behind it.
  public var database: Database { shard.database }
  /// What takes events to the functions.
  package var dispatcher: Dispatcher { shard.dispatcher }
  package var outbox: OutboxDispatcher { shard.outbox }
  /// What gives events to functions again.
  package var replayer: Replayer { shard.replayer }
  /// The ledger, for transfers, holds and statements.
  package var ledger: LedgerService { shard.ledger }
  /// Invitation links.
  package var links: LinkService { shard.links }
  /// Invitations that are sent.
  package var invites: InvitationService { shard.invites }
  /// In-app messages.
  package var messages: MessageService { shard.messages }
  /// What the port for stale reads answers with while this node leads.
  var leadingStore: StaleReadsSource.LeadingStore {
    StaleReadsSource.LeadingStore(
      routes: TreeRoutes(services: realtime, readsOnly: true), callers: realtime.context.callers,
      isCurrent: { [term] in term?.isCurrent ?? true })
  }
  /// The players' accounts.
  package var accounts: AccountService { shard.accounts.accounts }
}

// MARK: - Life

extension Application {
  /// Starts everything in the background.
  ///
  /// - Returns: the port that was bound.
  public func start() async throws -> Int {
    let services = try await startedServices()
    let port = try await bind()
    begin(services + servers)
    return port
  }

  /// Starts everything but the socket: for tests that need no wire.
  public func startServices() async throws {
    begin(try await startedServices())
  }

  /// Serves for a term: until the process is told to end, or until the next server could write where this one cannot.
  ///
  /// - `end`: that the process was told to end.
  /// - `space`: waits for room on a disk that was full; nil where nobody does.
  /// - `onStart`: called with the bound port once clients can connect.
  /// - Returns: whether the process was told to end.
  func run(until end: EndSignal, space: DiskSpaceWatch?, onStart: (Int) -> Void) async throws -> Bool {
    var services: [any Service]
    do {
      services = try await startedServices()
      onStart(try await bind())
    } catch {
      close()
      throw error
    }
    var ends = [BackgroundService(name: "signals", end.wait)]
    if let term {
      ends.append(BackgroundService(name: "term") { [database] in try await term.wait { database.failure } })
      services.append(BackgroundService(name: "bases", term.makeBases))
    }
    if let space {
      ends.append(BackgroundService(name: "disk space") { [database] in try await space.wait { database.failure } })
    }
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: (services + servers).map { .init(service: $0) }
          + ends.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) }, logger: logger))
    try await group.run()
    close()
    return end.isGiven
  }

  /// Ends what ``start()`` began; returns once the store is closed.
  public func stop() async {
    let life = running.withLock { running in
      defer { running = nil }
      return running
    }
    if let life {
      await life.group.triggerGracefulShutdown()
      _ = await life.task.result
    }
    close()
  }

  /// Waits until every event that was committed before is settled: done, skipped, or waiting for something that only a
  /// person or the clock can bring.
  public func settle() async throws {
    // A debug build on a busy machine may need half a minute for a thousand payments.
    _ = try await shard.dispatcher.drain(timeout: .seconds(300))
  }

  private var servers: [any Service] { [server] + (metricsServer.map { [$0] } ?? []) }

  /// Starts to listen, everywhere or not at all, and tells the clients' port.
  private func bind() async throws -> Int {
    try await metricsServer?.bind()
    return try await server.bind().port ?? configuration.port
  }

  /// What runs beside the ports. Services end in the opposite order of this list: first the ports, then what works behind them.
  private func startedServices() async throws -> [any Service] {
    pools.start()
    let ofShard = try await shard.start()
    guard configuration.dispatchesFunctions else { return ofShard }
    // Before clients can connect.
    try await LeftEnds(realtime).run()
    let trimmer = MemoryTrimmer(clock: configuration.clock, database: shard.database)
    return certificateServices + [
      BackgroundService(name: "memory", trimmer.run), BackgroundService(name: "keys", keys.run),
      BackgroundService(name: "series") { [admin] in try await admin.series.run(admin.database.clock) { admin.look() } },
    ] + monitor.services + ofShard + backupServices
  }

  /// What keeps the certificates fresh. A server in production has SIGHUP for that, and does not die of it where it has none;
  /// one in development ends with its terminal.
  private var certificateServices: [any Service] {
    guard let tls else {
      return configuration.mode == .development ? [] : [BackgroundService(name: "hangup", handleHangups)]
    }
    let watch = CertificateReloader(
      files: configuration.certificates, identity: tls, clock: configuration.clock, logger: logger)
    return [BackgroundService(name: "certificates", watch.run)]
  }

  private var backupServices: [any Service] {
    backups.map { [BackgroundService(name: "backups", $0.run)] } ?? []
  }

  @Sendable private func handleHangups() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup) {
      logger.notice("SIGHUP: there are no certificates to read again; other settings are read at the start only")
    }
  }

  private func begin(_ services: [any Service]) {
    let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: services, logger: logger))
    // The one task that outlives its caller: stop() ends it and waits for it.
    let task = Task { try await group.run() }
    running.withLock { $0 = (group, task) }
  }

  private func close() {
    mail?.close()
    admin.logAudits.stop()
    shard.close()
    pools.stop()
  }
}

extension MaintenanceRecord.Copy {
  /// - Parameter isInFolder: whether it is a file, which is read again as soon as it is written.
  fileprivate init(_ report: BackupReport, isInFolder: Bool) {
    let (bytes, failure): (Int64?, String?) =
      switch report.result {
      case .made(let bytes): (bytes, nil)
      case .failed(let reason): (nil, reason)
      }
    self.init(
      place: report.place,
      outcome: MaintenanceRecord.Outcome(time: report.time + report.duration, duration: report.duration, failure: failure),
      bytes: bytes, isScheduled: true, isVerified: isInFolder)
  }
}

extension BackupSettings {
  fileprivate var isFolder: Bool { if case .folder = destination { true } else { false } }
}
