import APISupport
package import Accounts
import AdminAPI
public import FunctionsKit
import HTTPServer
package import Invites
package import Ledger
package import Links
public import Logging
import MailContent
import NIOCore
import NIOPosix
public import ServerConfiguration
import ServiceLifecycle
public import StorageCore
import StorageSQLite
import Synchronization
public import TreeDatabase
public import Triggers
import UnixSignals

/// The whole server, put together: the one place where rooms that do not know each other are introduced.
///
/// Order of life: the store is opened, functions are registered, the dispatcher catches up with the log, and only then the
/// doors open. Stopping goes the other way.
public final class Application: Sendable {
  /// What it was started with.
  public let configuration: ServerConfiguration
  /// The store, for looking. Whoever writes goes through ``database``.
  public let engine: any StorageEngine
  /// The door to the tree, with the one writer behind it.
  public let database: Database
  /// What takes events to the functions.
  package let dispatcher: Dispatcher
  package let outbox: OutboxDispatcher
  /// What gives events to functions again.
  package let replayer: Replayer
  /// The ledger, for transfers, holds and statements.
  package let ledger: LedgerService
  /// Invitation links.
  package let links: LinkService
  /// Invitations that are sent.
  package let invites: InvitationService

  /// The players' accounts.
  package var accounts: AccountService { assembly.book }

  private let referralPlace: ReferralPath?
  private let assembly: AccountAssembly
  private let listeners: ListenerHub
  private let keeper: KeyRotator
  private let server: HTTPServer
  /// For this machine's own monitoring; nil where none is configured.
  let metricsServer: HTTPServer?
  private let identity: TLSIdentity?
  private let mail: SMTPTransport?
  private let threadPool: NIOThreadPool
  private let adminPool: NIOThreadPool
  private let logger: Logger
  private let running = Mutex<(group: ServiceGroup, task: Task<Void, any Error>)?>(nil)

  /// Opens the store and introduces everybody; nothing runs yet.
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

  /// As above, with a place where a test lets the process die.
  package init(
    configuration: ServerConfiguration, logger: Logger = Logger(label: "doubloon"), outlets: [any OutboxTransport] = [],
    failpoint: Failpoint, functions: (Functions) -> Void
  ) throws {
    self.logger = logger
    let registry = Functions(settings: configuration.functionSettings)
    functions(registry)
    let table = TriggerTable(registry.definitions)
    let engine = try Self.open(configuration.storage)
    self.engine = engine
    var configuration = configuration
    configuration.currencies = try CurrencyList.inForce(configuration, registry.currencies, in: engine)
    let currencies = try CurrencyTable(configuration.currencies)
    keeper = try KeyRotator(storage: configuration.storage, clock: configuration.clock, logger: logger)
    configuration.accounts.identities = IdentityHash(key: try IdentitySecret.load(from: keeper.folder))
    self.configuration = configuration
    dispatcher = try Dispatcher(
      table: table, engine: engine, clock: configuration.clock, options: Self.options(configuration, failpoint),
      random: SystemRandomNumberGenerator(), logger: logger)
    identity = try Self.identity(configuration)
    mail = try configuration.mail.map { try SMTPTransport($0, clock: configuration.clock, logger: logger) }
    // In development mail is shown; in production it waits for a configuration that says how it is sent.
    let ring =
      mail == nil && configuration.mode == .development ? DevelopmentMailbox(clock: configuration.clock, logger: logger) : nil
    let ways: [(any OutboxTransport)?] = outlets.contains { $0.name == MailOrder.outlet } ? [] : [mail, ring]
    outbox = OutboxDispatcher(
      outlets: outlets + ways.compactMap(\.self), engine: engine, clock: configuration.clock,
      random: SystemRandomNumberGenerator(), logger: logger)
    let metrics = ServerMetrics()
    listeners = ListenerHub(engine: engine)
    let watch = AccountWatch()
    referralPlace = registry.referrerPath.map(ReferralPath.init)
    let index: [any CommitParticipant] = referralPlace.map { [ReferralIndex($0)] } ?? []
    database = try Database(
      engine: engine,
      participants: [LedgerParticipant(table: currencies), EventParticipant(table: table, limits: configuration.limits)]
        + index,
      observers: configuration.dispatchesFunctions
        ? [watch, listeners, dispatcher, outbox, metrics] : [watch, metrics, listeners],
      limits: configuration.limits,
      clock: configuration.clock
    ) { Self.log($0, to: logger) }
    listeners.search(with: database.reader)
    ledger = LedgerService(engine: engine, writer: database, currencies: currencies)
    links = try LinkService(
      engine: engine, writer: database, home: DefaultNamespace(database: database, name: configuration.defaultNamespace),
      clock: configuration.clock, random: SystemRandomNumberGenerator(), settings: configuration.linkSettings,
      isLimited: configuration.mode != .development)
    invites = try InvitationService(
      engine: engine, writer: database, home: DefaultNamespace(database: database, name: configuration.defaultNamespace),
      clock: configuration.clock, random: SystemRandomNumberGenerator())
    replayer = Replayer(dispatcher: dispatcher, writer: database, logger: logger)
    threadPool = NIOThreadPool(numberOfThreads: 2)
    adminPool = NIOThreadPool(numberOfThreads: 2)
    let serviceAccounts = try ServiceAccountStore(
      database: database, keys: keeper.keys, project: configuration.project, namespace: configuration.defaultNamespace)
    assembly = AccountAssembly(
      configuration: configuration, database: database, watch: watch, keys: keeper.keys,
      serviceAccounts: serviceAccounts, logger: logger)
    let surfaces = Surfaces(
      configuration: configuration, database: database, listeners: listeners, dispatcher: dispatcher, replayer: replayer,
      ledger: ledger,
      referrals: referralPlace.map { ReferralService($0, engine: engine, currencies: currencies) }, links: links,
      invites: invites, keys: keeper.keys, serviceAccounts: serviceAccounts,
      accounts: assembly, metrics: metrics, threadPool: threadPool, adminPool: adminPool, identity: identity, mail: ring,
      logger: logger)
    let services = surfaces.makeServices()
    server = surfaces.makeServer(services)
    metricsServer = surfaces.makeMetricsServer(services)
  }

  /// Starts everything in the background.
  ///
  /// - Returns: the port that was bound.
  public func start() async throws -> Int {
    let rooms = try await startedServices()
    let port = try await bind()
    begin(rooms + servers)
    return port
  }

  /// Starts everything but the socket: for tests that need no wire.
  public func startServices() async throws {
    begin(try await startedServices())
  }

  /// Serves until the process is told to end.
  ///
  /// - Parameter onStart: called with the bound port once the doors are open.
  public func run(onStart: (Int) -> Void) async throws {
    let rooms = try await startedServices()
    onStart(try await bind())
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: rooms + servers, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
    close()
  }

  private var servers: [any Service] { [server] + (metricsServer.map { [$0] } ?? []) }

  /// Starts to listen, everywhere or not at all, and tells the clients' port.
  private func bind() async throws -> Int {
    try await metricsServer?.bind()
    return try await server.bind().port ?? configuration.port
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
    _ = try await dispatcher.drain()
  }

  /// Lets the dispatcher catch up with the log. Services end in the opposite order of this list: first the doors, then
  /// what works behind them.
  private func startedServices() async throws -> [any Service] {
    threadPool.start()
    adminPool.start()
    try assembly.start()
    let built = try await ReferralBuild(referralPlace, engine: engine, writer: database).run()
    if built > 0 { logger.notice("made the index of who referred whom", metadata: ["namespaces": "\(built)"]) }
    let counting = BackgroundService(name: "links", links.run)
    guard configuration.dispatchesFunctions else { return [counting] }
    try await NamespaceInstaller(configuration: configuration, database: database, logger: logger).run()
    let report = try await dispatcher.start(writer: database)
    for line in report.lines { logger.notice("\(line)") }
    let erasures = ErasureResumer(
      erasure: PlayerErasure(
        database: database, accounts: accounts, rooms: [links, invites, RewardErasing()], functions: nil, ledger: ledger),
      clock: configuration.clock, logger: logger)
    let sweeper = HoldSweeper(ledger: ledger, engine: engine, clock: configuration.clock, logger: logger)
    return certificateServices + [
      counting,
      BackgroundService(name: "memory", MemoryTrimmer(clock: configuration.clock, database: database).run),
      BackgroundService(name: "dispatcher", dispatcher.run),
      BackgroundService(name: "outbox") { [outbox, database] in try await outbox.run(writer: database) },
      BackgroundService(name: "holds", sweeper.run),
      BackgroundService(name: "replays", replayer.run),
      BackgroundService(name: "keys", keeper.run),
      BackgroundService(name: "erasures", erasures.run),
    ] + assembly.services(referral: { [links] in links.settings.referral.path })
  }

  /// What keeps the certificates fresh. A server in production has SIGHUP for that, and does not die of it where it has none;
  /// one in development ends with its terminal.
  private var certificateServices: [any Service] {
    guard let identity else {
      return configuration.mode == .development ? [] : [BackgroundService(name: "hangup", handleHangups)]
    }
    let watch = CertificateReloader(
      files: configuration.certificates, identity: identity, clock: configuration.clock, logger: logger)
    return [BackgroundService(name: "certificates", watch.run)]
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
    database.shutDown()
    listeners.stop()
    engine.close()
    assembly.stop()
    // The pools have nothing to do any more; that they were stopped before is no fault.
    try? threadPool.syncShutdownGracefully()
    try? adminPool.syncShutdownGracefully()
  }

  private static let crashNotesName = "running.notes"

  private static func identity(_ configuration: ServerConfiguration) throws -> TLSIdentity? {
    guard !configuration.certificates.isEmpty else { return nil }
    return try TLSIdentity(configuration.certificates.map { (files) throws(CertificateFiles.Failure) in try files.load() })
  }

  private static func log(_ failure: StorageError, to logger: Logger) {
    logger.error(
      "the writer has stopped: writes are refused until the server is started again, reads go on",
      metadata: ["reason": "\(failure.message)"])
  }

  private static func open(_ storage: ServerConfiguration.Storage) throws(StorageError) -> SQLiteEngine {
    switch storage {
    // The first run makes them after the store.
    case .directory(let folder): try SQLiteEngine(directory: folder, companions: ["keys", crashNotesName])
    case .memory: try SQLiteEngine.inMemory()
    }
  }

  private static func options(_ configuration: ServerConfiguration, _ failpoint: Failpoint) -> DispatcherOptions {
    var options = DispatcherOptions(
      currencies: configuration.currencies, limits: configuration.limits, runnerCount: configuration.runners,
      failpoint: failpoint)
    options.identities = configuration.accounts.paidIdentityLifetime == nil ? nil : configuration.accounts.identities
    if case .directory(let folder) = configuration.storage { options.crashNotesPath = "\(folder)/\(crashNotesName)" }
    return options
  }
}
