import APISupport
import Accounts
import Credentials
import FunctionsKit
import HTTPServer
import Logging
import NIOPosix
import RealtimeAPI
import ServerConfiguration
import StorageCore
import StorageSQLite
import TreeDatabase

/// A node's working copy as clients may see it: with the rules and the administrators of the moment at which this was made. When one of
/// those changes it is retired, and the next is made.
final class CopyView: Sendable {
  /// What decides who may see what: changes of these tables retire the view.
  static let decisiveTables: Set<String> = ["rules", "service_account"]

  /// Answers requests for the tree.
  let routes: TreeRoutes
  /// Who sends a request.
  let callers: CallerIdentification
  private let database: Database
  private let clock: any WallClock
  private let watch = AccountWatch()
  private let copy: FollowedCopy

  /// What lives longer than one view.
  struct Surroundings: Sendable {
    let configuration: ServerConfiguration
    let keys: CurrentKeys
    /// Who else's tokens are believed.
    let identities: FederatedIdentityVerifier
    let metrics: ServerMetrics
    let pools: RequestPools
    let logger: Logger
  }

  /// - `readers`: of the copy.
  /// - Throws: `StorageError` if the copy cannot be read.
  init(_ readers: CopyReaders, in surroundings: Surroundings) throws {
    let (configuration, logger) = (surroundings.configuration, surroundings.logger)
    copy = FollowedCopy(readers)
    database = try Database(
      reading: copy, limits: configuration.limits, clock: configuration.clock, refusingWith: FollowedCopy.refusal)
    let serviceAccounts = try ServiceAccountStore(
      database: database, keys: surroundings.keys, project: configuration.project, namespace: configuration.defaultNamespace)
    clock = configuration.clock
    let accounts = AccountAssembly(
      configuration: configuration, database: database, watch: watch, keys: surroundings.keys,
      serviceAccounts: serviceAccounts, functions: Functions(settings: .absent), identities: surroundings.identities,
      logger: logger)
    try watch.load(from: copy, at: clock.now())
    let policy = configuration.accessPolicy(serviceAccounts: serviceAccounts)
    callers = CallerIdentification(
      authenticator: accounts.authenticator(over: policy), origins: configuration.developmentOrigins)
    let context = ServerContext(
      database: database, defaultNamespace: configuration.defaultNamespace, callers: callers,
      isDevelopment: configuration.mode == .development, metrics: surroundings.metrics, pools: surroundings.pools,
      logger: logger)
    routes = TreeRoutes(
      services: RealtimeServices(
        context: context, access: RuleBasedAccess(database: database, unruled: policy),
        listeners: .silent(), connectedUsers: accounts.connectedUsers,
        random: SystemRandomNumberGenerator()), readsOnly: true)
  }

  /// Takes over what these tables say now, if it is of any concern: namespaces that came or went, tokens that were revoked.
  func refresh(_ tables: Set<String>) throws {
    if tables.contains("namespace") { try database.readNames() }
    if tables.contains("account_revocation") { try watch.load(from: copy, at: clock.now()) }
  }

  /// The namespaces that there are.
  func namespaces() throws(StorageError) -> [NamespaceRecord] {
    try copy.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
  }

  /// From now on nothing is shown.
  func retire() { copy.retire() }
}

extension ServerConfiguration {
  /// Who administers the server, and what holds without rules.
  func accessPolicy(serviceAccounts: ServiceAccountStore) -> AccessPolicy {
    let owner = mode == .development ? [AdminToken(name: "owner", secret: adminToken)] : []
    return AccessPolicy(mode: mode, adminTokens: owner + admins, serviceAccounts: serviceAccounts)
  }

  /// Which web pages may use the developer's token; nil in production.
  var developmentOrigins: DevelopmentOrigins? {
    mode == .development ? DevelopmentOrigins(allowing: allowedHosts + [host]) : nil
  }
}
