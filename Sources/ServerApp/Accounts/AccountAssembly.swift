import APISupport
import Accounts
import Credentials
import FunctionsKit
import HTTPServer
import IdentityAPI
import Logging
import NIOCore
import NIOPosix
import ServerConfiguration
import StorageCore
import TextFormats
import TreeDatabase

/// Composes the players' accounts: the service, threads for passwords, and the background work.
final class AccountAssembly: Sendable {
  let accounts: AccountService
  /// Users who are connected, told of what the watch hears.
  let connectedUsers = ConnectedUsers()
  /// Who else is believed.
  private let identities: FederatedIdentityVerifier
  private let configuration: ServerConfiguration
  private let database: Database
  private let pool: NIOThreadPool
  private let logger: Logger

  /// - `identities`: who else is believed; nil makes what ``services(referral:)`` keeps fresh.
  init(
    configuration: ServerConfiguration, database: Database, watch: AccountWatch, keys: CurrentKeys,
    serviceAccounts: ServiceAccountStore, functions: Functions, identities: FederatedIdentityVerifier? = nil, logger: Logger
  ) {
    self.configuration = configuration
    self.database = database
    self.logger = logger
    let options = configuration.accounts
    let identities =
      identities
      ?? FederatedIdentityVerifier(
        configuration.issuers, serviceAccounts: serviceAccounts, clock: configuration.clock, logger: logger)
    self.identities = identities
    let pool = NIOThreadPool(numberOfThreads: options.hashingThreads)
    self.pool = pool
    let threads = OffLoopWork { work in
      pool.submit { _ in work() }
      return true
    }
    let decisions = DeploymentDecisions(
      functions,
      target: DecisionTarget(
        keys: options.isDevelopment ? nil : keys, clock: configuration.clock,
        timeout: .seconds(Functions.decisionDeadline.components.seconds),
        newEventID: { Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }),
      clock: configuration.clock, logger: logger)
    accounts = AccountService(
      store: AccountStore(engine: database.engine, writer: database, watch: watch, clock: configuration.clock),
      issuer: IDTokenIssuer(mode: options.isDevelopment ? .unsigned : .signed, keys: keys),
      hashing: PasswordHashing(hasher: PasswordHasher(cost: configuration.passwordCost), threads: threads),
      options: options, identities: identities,
      delivery: CodeDelivery(mail: Self.codeMailing(configuration), announce: { logger.notice("\($0)") }),
      decider: decisions,
      random: SystemRandomNumberGenerator())
    let users = connectedUsers
    watch.listen { users.tell($1) }
    serviceAccounts.listen { users.tell(serviceAccount: $0, revokedAt: $1) }
  }

  private static func codeMailing(_ configuration: ServerConfiguration) -> (any CodeMailing)? {
    if let mailing = configuration.codeMailing { return mailing }
    guard configuration.mode == .production else { return nil }
    return TemplatedCodeMail(templates: configuration.templates, appName: configuration.appName)
  }

  /// Who a client is, by accounts and beneath them by the policy.
  func authenticator(over administrators: any Authenticating) -> any Authenticating {
    let (project, name) = (configuration.project, configuration.defaultNamespace)
    return AccountAuthenticator(
      administrators: administrators, accounts: accounts, project: configuration.accounts.isDevelopment ? nil : project,
      foreign: configuration.issuers.isEmpty ? nil : identities,
      namespace: { [database] in
        database.namespace(named: $0 == project ? name : AccountProject.namespaceName(of: $0))
      })
  }

  /// Reads what earlier processes left, and starts the threads.
  func start() throws {
    try accounts.watch.load(from: database.engine, at: configuration.clock.now())
    pool.start()
  }

  /// What works as long as the server does.
  ///
  /// - Parameter referral: where it stands who invited a player, as the link settings say.
  func services(referral: @escaping @Sendable () -> String) -> [BackgroundService] {
    let sweeper = AccountSweeper(
      accounts: accounts, engine: database.engine, currencies: configuration.currencies, referral: referral,
      clock: configuration.clock, logger: logger)
    return [BackgroundService(name: "accounts", sweeper.run), BackgroundService(name: "issuers", identities.run)]
  }

  func stop() {
    try? pool.syncShutdownGracefully()
  }
}
