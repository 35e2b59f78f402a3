import APISupport
import Accounts
import AdminAPI
import Backups
import Credentials
import FunctionsKit
import Invites
import Ledger
import Links
import Logging
import Messages
import PlayerLifecycle
import ServerConfiguration
import StorageCore
import StorageSQLite
import TreeDatabase
import TreeModel
import Triggers

/// One store and everything that works on it: the database with its one writer, its listeners, the ledger, the functions with
/// their dispatcher and outbox, and the services whose records the store holds.
///
/// The application composes one. A shard knows neither the port that clients use nor the threads that answer them, so that a
/// process can come to hold several.
final class Shard: Sendable {
  /// What it was made with; the currencies are those in force.
  let configuration: ServerConfiguration
  let engine: any StorageEngine
  let database: Database
  /// Who is told of what was committed.
  let listeners: ListenerHub
  let ledger: LedgerService
  /// Takes events to the functions.
  let dispatcher: Dispatcher
  /// Delivers what functions send to the outside.
  let outbox: OutboxDispatcher
  /// Gives events to functions again.
  let replayer: Replayer
  let links: LinkService
  let invites: InvitationService
  let messages: MessageService
  /// Who referred whom; nil where no function says where that is written.
  let referrals: ReferralService?
  let accounts: AccountAssembly
  let serviceAccounts: ServiceAccountStore
  /// Copies the store, with what a restore needs beside it.
  let backups: BackupMaker

  private let referralPath: ReferralPath?
  private let logger: Logger

  /// - `engine`: the store, opened; closed by ``close()``.
  /// - `deployment`: what it brings beside its configuration.
  /// - `keys`: what tokens of players and service accounts are signed with.
  /// - `metrics`: told of every commit.
  init(
    engine: any StorageEngine, configuration: ServerConfiguration, deployment: Deployment, keys: CurrentKeys,
    metrics: ServerMetrics, logger: Logger
  ) throws {
    let functions = deployment.functions
    self.engine = engine
    self.configuration = configuration
    self.logger = logger
    let clock = configuration.clock
    let table = TriggerTable(functions.definitions)
    let currencies = try CurrencyTable(configuration.currencies)
    dispatcher = try Dispatcher(
      table: table, engine: engine, clock: clock,
      options: Self.dispatcherOptions(configuration, failpoint: deployment.failpoint),
      random: SystemRandomNumberGenerator(), logger: logger)
    outbox = OutboxDispatcher(
      outlets: deployment.transports, engine: engine, clock: clock, random: SystemRandomNumberGenerator(), logger: logger)
    listeners = ListenerHub(engine: engine)
    referralPath = functions.referrerPath.map(ReferralPath.init)
    let accountWatch = AccountWatch()
    let waiting = WaitingCampaigns()
    let hub = MessageHub(waiting: waiting)
    let index: [any CommitParticipant] = referralPath.map { [ReferralIndex($0)] } ?? []
    database = try Database(
      engine: engine,
      participants: [LedgerParticipant(table: currencies), EventParticipant(table: table, limits: configuration.limits)]
        + index + [MessageParticipant(waiting: waiting, referrer: functions.referrerPath)],
      observers: configuration.dispatchesFunctions
        ? [accountWatch, listeners, dispatcher, outbox, metrics, hub] : [accountWatch, metrics, listeners],
      limits: configuration.limits, clock: clock,
      inline: configuration.dispatchesFunctions ? dispatcher : nil
    ) { Self.log($0, to: logger) }
    listeners.search(with: database.reader)
    ledger = LedgerService(engine: engine, writer: database, currencies: currencies)
    let goal = ReferralGoal(of: functions)
    referrals = referralPath.map { ReferralService($0, goal: goal, engine: engine, currencies: currencies) }
    let namespace = DefaultNamespace(database: database, name: configuration.defaultNamespace)
    do {
      links = try LinkService(
        engine: engine, writer: database, home: namespace, clock: clock, random: SystemRandomNumberGenerator(),
        settings: configuration.linkSettings, isLimited: configuration.mode != .development)
      invites = try InvitationService(
        engine: engine, writer: database, home: namespace, clock: clock, random: SystemRandomNumberGenerator())
      messages = try MessageService(
        engine: engine, writer: database, home: namespace, clock: clock, random: SystemRandomNumberGenerator(),
        surroundings: Self.surroundings(links), hub: hub, options: Self.messageOptions(configuration, functions: functions))
      serviceAccounts = try ServiceAccountStore(
        database: database, keys: keys, project: configuration.project, namespace: configuration.defaultNamespace)
    } catch {
      // Its threads would go on with a store that is closed.
      database.shutDown()
      throw error
    }
    let folder: String? = if case .directory(let folder) = configuration.storage { folder } else { nil }
    backups = BackupMaker(
      engine: engine, folder: folder, clock: clock, configurationFiles: configuration.configurationFiles)
    replayer = Replayer(dispatcher: dispatcher, writer: database, logger: logger)
    accounts = AccountAssembly(
      configuration: configuration, database: database, watch: accountWatch, keys: keys, serviceAccounts: serviceAccounts,
      functions: functions, logger: logger)
  }

  private static func messageOptions(_ configuration: ServerConfiguration, functions: Functions) -> MessageOptions {
    var options = MessageOptions()
    options.referrer = functions.referrerPath
    options.settings = configuration.messageSettings
    options.isDevelopment = configuration.mode == .development
    return options
  }

  /// What campaigns are checked against: the system's time zones, and the apps and hosts of the links.
  private static func surroundings(_ links: LinkService) -> CampaignSurroundings {
    var surroundings = CampaignSurroundings(zones: ZoneFiles { try? FileBytes.read("/usr/share/zoneinfo/\($0)") })
    surroundings.appSchemes = { [links] in
      Set(links.settings.iosApps.map { ($0.customScheme ?? $0.bundleID).lowercased() })
    }
    surroundings.allowsLink = { [links] text in
      let settings = links.settings
      guard !settings.hosts.isEmpty || !settings.allowPatterns.isEmpty || !settings.domains.isEmpty else { return nil }
      return LinkURL(text).map(settings.allows)
    }
    return surroundings
  }

  private static func log(_ failure: StorageError, to logger: Logger) {
    // The node says itself that its term is over.
    guard failure.code != .lost else { return }
    let until = failure.code == .full ? "the disk has room again" : "the server is started again"
    logger.error(
      "the writer has stopped: writes are refused until \(until), reads go on",
      metadata: ["reason": "\(failure.message)"])
  }
}

extension Shard {
  /// What a deployment brings beside its configuration.
  struct Deployment {
    let functions: Functions
    /// What delivers the messages that functions send to the outside.
    let transports: [any OutboxTransport]
    /// Where a test lets the process die.
    let failpoint: Failpoint
  }
}

// MARK: - Life

extension Shard {
  private static let crashNotesName = "running.notes"

  /// What the last process on a data folder has left of runs that were under way.
  static func crashNotes(in folder: String) -> CrashNoteFile { CrashNoteFile(path: "\(folder)/\(crashNotesName)") }

  /// Opens the store of a configuration.
  ///
  /// - Throws: `StorageError` if the data cannot be opened: another process has them, or a newer version wrote them.
  static func openEngine(_ configuration: ServerConfiguration, logger: Logger) throws -> SQLiteEngine {
    switch configuration.storage {
    case .directory(let folder):
      let policy = UpgradePolicy(
        mode: configuration.upgrades, moment: UpgradePolicy.moment(configuration.clock.now())
      ) { logger.notice("\($0)") }
      // The first run makes them after the store.
      return try SQLiteEngine(
        directory: folder, companions: ["keys", crashNotesName], schema: configuration.schema, policy: policy)
    case .memory: return try SQLiteEngine.inMemory()
    }
  }

  private static func dispatcherOptions(_ configuration: ServerConfiguration, failpoint: Failpoint) -> DispatcherOptions {
    var options = DispatcherOptions(
      currencies: configuration.currencies, limits: configuration.limits, runnerCount: configuration.runners,
      failpoint: failpoint)
    options.identities = configuration.accounts.paidIdentityLifetime == nil ? nil : configuration.accounts.identities
    if case .directory(let folder) = configuration.storage { options.crashNotesPath = "\(folder)/\(crashNotesName)" }
    return options
  }

  /// Completes what an earlier process left, lets the dispatcher catch up with the log, and says what is to run from then on.
  func start() async throws -> [BackgroundService] {
    try accounts.start()
    let built = try await ReferralBuild(referralPath, engine: engine, writer: database).run()
    if built > 0 { logger.notice("made the index of who referred whom", metadata: ["namespaces": "\(built)"]) }
    if try await links.directory.buildIndex() { logger.notice("made the index of links by inviter, campaign and player") }
    let counting = [
      BackgroundService(name: "links", links.run), BackgroundService(name: "messages", messages.run),
      BackgroundService(name: "message streams", messages.tell),
    ]
    guard configuration.dispatchesFunctions else { return counting }
    try await NamespaceInstaller(configuration: configuration, database: database, logger: logger).run()
    let report = try await dispatcher.start(writer: database)
    for line in report.lines { logger.notice("\(line)") }
    let erasures = ErasureResumer(
      erasure: PlayerErasure(
        database: database, accounts: accounts.accounts,
        recordStores: [links, invites, messages, RewardErasing(), SessionEndErasing()],
        functions: nil,
        ledger: ledger, replacementAnswer: WriteAnswer.erased.stored),
      clock: configuration.clock, logger: logger)
    let sweeper = HoldSweeper(ledger: ledger, engine: engine, clock: configuration.clock, logger: logger)
    try await applyCampaigns()
    return counting + campaignServices + [
      BackgroundService(name: "dispatcher", dispatcher.run),
      BackgroundService(name: "outbox") { [outbox, database] in try await outbox.run(writer: database) },
      BackgroundService(name: "holds", sweeper.run),
      BackgroundService(name: "replays", replayer.run),
      BackgroundService(name: "erasures", erasures.run),
    ] + accounts.services(referral: { [links] in links.settings.referral.path })
  }

  private var campaignServices: [BackgroundService] {
    guard let file = configuration.campaignFile else { return [] }
    let watcher = CampaignWatcher(file: file, messages: messages, clock: configuration.clock, logger: logger)
    return [BackgroundService(name: "campaigns", watcher.run)]
  }

  /// Brings campaigns to what the configuration's file says; what is published and says something else is told.
  private func applyCampaigns() async throws {
    guard let file = configuration.messageCampaigns else { return }
    let done = try await messages.apply(file, prunes: false, isRehearsal: false, by: .system("configuration"))
    for difference in done where difference.action != .none {
      let details: Logger.Metadata = ["campaign": "\(difference.id)", "what": "\(difference.action.rawValue)"]
      if difference.action == .conflict {
        logger.warning("a campaign of the file was left as it is: \(difference.message)", metadata: details)
      } else {
        logger.notice("a campaign of the file was applied", metadata: details)
      }
    }
  }

  /// Stops the writer and closes the store; what ``start()`` returned has ended by then.
  func close() {
    database.shutDown()
    listeners.stop()
    engine.close()
    accounts.stop()
  }
}

/// The namespace of requests that name none, where services keep what belongs to the whole project.
struct DefaultNamespace: LinkNamespace, InvitationNamespace, MessageNamespace {
  let database: Database
  let name: String

  func known() -> NamespaceID? { database.namespace(named: name) }

  func open() async throws(CommitError) -> NamespaceID { try await database.openNamespace(named: name) }
}

/// Makes the configured namespaces, and gives them the configured rules.
///
/// The file counts: rules that were uploaded are replaced at the next start by what the file says, and the log says so, for
/// a server must come up the way its configuration reads.
struct NamespaceInstaller {
  let configuration: ServerConfiguration
  let database: Database
  let logger: Logger

  func run() async throws(CommitError) {
    for name in configuration.namespaces {
      let namespace = try await database.openNamespace(named: name)
      guard let file = configuration.rules else { continue }
      let change = RulesChange(by: .system("configuration"), way: .configuration)
      guard case .replaced = try await database.putRules(file.source, rules: file.rules, in: namespace, as: change) else {
        continue
      }
      logger.notice("security rules installed", metadata: ["namespace": "\(name)", "file": "\(file.path)"])
    }
  }
}

extension ReferralGoal {
  /// The first value beside the referrer that a function waits for: `level` rising to 5, where `referred_by` is the referrer.
  fileprivate init?(of functions: Functions) {
    guard let beside = functions.referrerPath?.segments.dropLast() else { return nil }
    for definition in functions.definitions where definition.pattern.segments.dropLast() == beside {
      guard case .int(let value)? = definition.filter.example?.after else { continue }
      self.init(definition.pattern, value: value)
      return
    }
    return nil
  }
}
