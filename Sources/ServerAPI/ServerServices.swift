public import Accounts
public import Credentials
public import Invites
public import Ledger
public import Links
public import Logging
import NIOHTTP1
public import NIOPosix
public import StorageCore
public import TreeDatabase

/// Everything the surfaces stand on, injected by the composition.
///
/// A class, so that handing it from one part of a request's way to the next costs one reference count and not a dozen.
public final class ServerServices: StoreServices {
  /// The door to the tree.
  public let database: Database
  /// Who tells clients what was committed; also to be given to the database as an observer.
  public let listeners: ListenerHub
  /// How event streams are kept.
  public let streamLimits: StreamLimits
  /// Who clients are.
  public let authenticator: any Authenticating
  /// Who may do what.
  public let access: any AccessDeciding
  /// The players' accounts; nil where there are none.
  public let accounts: AccountBook?
  /// Users who are connected; to be told of what ``Accounts/AccountWatch`` hears.
  public let connectedUsers: ConnectedUsers
  /// Whom a server in development takes for its developer; nil in production, where no token is known to everybody.
  let origins: DevelopmentOrigins?
  /// Counts what happens; also to be given to the database as an observer, or commits are not counted.
  public let metrics: ServerMetrics
  /// The namespace of requests that name none.
  public let defaultNamespace: String
  /// For what takes clients long: large reads and writes, links that are not in memory.
  public let threadPool: NIOThreadPool
  /// For reads that are too large for an event loop.
  let largeAnswers: LargeAnswers
  /// For what takes administrators long: listings, audits, backups. Clients do not wait behind it.
  public let adminPool: NIOThreadPool
  /// How much memory clients may take by what they leave unfinished; the ``HTTPServer`` has the same.
  public let memory: MemoryBudgets
  /// Where administrators' actions are logged; never bodies, never secrets.
  public let logger: Logger
  /// Where it is put on record what administrators do.
  let audit: AuditTrail
  /// Nil where no functions run.
  public let functions: (any FunctionOperating)?
  /// Nil where nothing can be replayed.
  public let replays: (any ReplayOperating)?
  /// Nil where no ledger is kept.
  public let ledger: LedgerBook?
  /// Nil where it is not declared who referred whom.
  public let referrals: ReferralBook?
  /// Nil where no links are served.
  public let links: LinkBook?
  /// Nil where no invitations are sent.
  public let invites: InviteBook?
  /// Answers `X-Doubloon-Wait: effects`.
  public let effects: (any EffectsWaiting)?
  /// The clock to move, in development.
  public let adjustableClock: AdjustableClock?
  /// The keys that tokens are signed with; nil where no token is signed.
  public let keys: CurrentKeys?
  /// Nil where there are no service accounts.
  public let serviceAccounts: ServiceAccountDesk?
  /// Mail that was shown instead of sent; nil where mail is sent.
  public let mail: (any MailShowing)?
  /// Asks the system how full the disk is that the data are on; nil for data that are on none.
  public let diskSpace: @Sendable () -> DiskSpace?
  /// Told once of each namespace that came into being by a first write.
  public let announceNamespace: @Sendable (String) -> Void
  /// Where push ids get their random part.
  public let random: any RandomNumberGenerator & Sendable

  public init(
    database: Database, listeners: ListenerHub, streamLimits: StreamLimits = StreamLimits(),
    authenticator: any Authenticating, access: any AccessDeciding,
    metrics: ServerMetrics, defaultNamespace: String,
    threadPool: NIOThreadPool, logger: Logger, random: any RandomNumberGenerator & Sendable,
    functions: (any FunctionOperating)? = nil, replays: (any ReplayOperating)? = nil, ledger: LedgerBook? = nil,
    referrals: ReferralBook? = nil, links: LinkBook? = nil, invites: InviteBook? = nil,
    effects: (any EffectsWaiting)? = nil, accounts: AccountBook? = nil, connectedUsers: ConnectedUsers = ConnectedUsers(),
    adjustableClock: AdjustableClock? = nil, keys: CurrentKeys? = nil, serviceAccounts: ServiceAccountDesk? = nil,
    mail: (any MailShowing)? = nil, adminPool: NIOThreadPool? = nil,
    memory: MemoryBudgets = MemoryBudgets(), origins: DevelopmentOrigins? = nil,
    diskSpace: @escaping @Sendable () -> DiskSpace? = { nil },
    announceNamespace: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.database = database
    self.listeners = listeners
    self.streamLimits = streamLimits
    self.authenticator = authenticator
    self.access = access
    self.metrics = metrics
    self.defaultNamespace = defaultNamespace
    self.threadPool = threadPool
    largeAnswers = LargeAnswers(on: threadPool)
    self.adminPool = adminPool ?? threadPool
    self.logger = logger
    self.functions = functions
    self.replays = replays
    self.ledger = ledger
    self.referrals = referrals
    self.links = links
    self.invites = invites
    self.effects = effects
    self.accounts = accounts
    self.connectedUsers = connectedUsers
    self.origins = origins
    self.adjustableClock = adjustableClock
    self.keys = keys
    self.serviceAccounts = serviceAccounts
    self.mail = mail
    self.memory = memory
    self.diskSpace = diskSpace
    self.announceNamespace = announceNamespace
    self.random = random
    audit = AuditTrail(database: database, namespace: defaultNamespace, leftOut: metrics.refusalsLeftOut, logger: logger)
  }

  /// Whether the tools of development are there: deleting namespaces, moving the clock, suppressing triggers.
  var isDevelopment: Bool { access.isDevelopment }
  /// Whether namespaces come into being when they are first written to.
  var createsNamespaces: Bool { access.createsNamespaces }

  /// Whether a web page of somebody else may have sent a request with these headers; never so in production.
  func isForeign(_ headers: HTTPHeaders) -> Bool { origins?.trusts(headers) == false }
}

/// A route of this server, and a request for it.
typealias Route = APIRoute<ServerServices>
typealias RouteCall = APICall<ServerServices>
