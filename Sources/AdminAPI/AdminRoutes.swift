package import APISupport
package import AdminModel
package import Accounts
package import Backups
import Credentials
package import HTTPServer
package import Invites
package import Ledger
package import Links
package import Messages
import NIOHTTP1
package import StorageCore
package import TreeDatabase
import TreeModel

/// The administrators' surface, as a table of contents.
///
/// | Routes | For |
/// |---|---|
/// | ``FindRoutes`` | what a text names |
/// | ``EventRoutes`` | the trigger log: events, executions, dead letters, redelivery, drain |
/// | ``WhyRoutes`` | why a player was paid, or not |
/// | ``HistoryRoutes`` | the tree as it was, what changed, which commits touched a path |
/// | ``DataRoutes`` | the tree in windows; writes with conditions and reasons, and what they would do |
/// | ``TransferRoutes`` | the tree as documents: export, import |
/// | ``FunctionRoutes`` | functions: list, one, pause, resume, retry |
/// | ``IndexRoutes`` | the indexes of the rules |
/// | ``RuleRoutes`` | the rules: their text, tests and versions, and what they say of an operation |
/// | ``LedgerRoutes`` | balances, statements, accounts, transfers, reversals, what they would do, holds, audit |
/// | ``CompensationRoutes`` | tables of payments |
/// | ``MessageAdminRoutes`` | in-app messages: campaigns, tests, reasons, results, devices, events, settings |
/// | `ReferralRoutes` of `LinksAPI` | who brought whom |
/// | ``NamespaceRoutes`` | namespaces |
/// | ``SystemRoutes`` | status, nodes, clock, backup, the audit log |
/// | ``SeriesRoutes``, ``BackupRoutes`` | what the server did lately; the copies that were made |
/// | ``ReplayRoutes`` | replays, invocations by hand, dead letters |
/// | ``AccountRoutes`` | players' accounts |
/// | ``ErasureRoutes``, ``MergeRoutes`` | players who leave; two accounts of one player |
/// | ``LogRoutes`` | the log's proof and pruning |
/// | ``SessionRoutes``, ``LiveRoutes`` | sessions of the console, and what its pages are told of |
/// | ``ServiceAccountRoutes`` | who may administer: service accounts |
/// | ``MailRoutes`` | mail, where it is shown and not sent |
/// | `LinkAdminRoutes` of `LinksAPI` | links: settings, listings, imports, codes, claims |
/// | `InvitationAdminRoutes` of `LinksAPI` | invitations: settings, listings, suppressed addresses |
package enum AdminRoutes {
  private static let first: [Route] =
    FindRoutes.routes + EventRoutes.routes + WhyRoutes.routes + HistoryRoutes.routes + DataRoutes.routes + FunctionRoutes.routes
    + TransferRoutes.routes + IndexRoutes.routes
    + RuleRoutes.routes + LedgerRoutes.routes + CompensationRoutes.routes + MessageAdminRoutes.routes
  private static let second: [Route] =
    NamespaceRoutes.routes + SystemRoutes.routes + ReplayRoutes.routes + LogRoutes.routes + AccountRoutes.routes
    + ErasureRoutes.routes + MergeRoutes.routes + ServiceAccountRoutes.routes + MailRoutes.routes
    + SessionRoutes.routes + LiveRoutes.routes + SeriesRoutes.routes + BackupRoutes.routes

  /// The whole surface: the two routes that list it, those of this target, and between and behind them what other targets
  /// answer below `/admin/v1`.
  package static func routes(
    _ services: AdminServices, referrals: [BoundRoute], links: [BoundRoute]
  ) -> [BoundRoute] {
    let heads = heads(referrals: referrals.map(\.head), links: links.map(\.head))
    let listing: [BoundRoute] = [index(of: heads), openAPI(of: heads)].map { $0.bound(to: services) }
    let rewarding: [BoundRoute] = first.map { $0.bound(to: services) }
    let operating: [BoundRoute] = second.map { $0.bound(to: services) }
    return listing + rewarding + referrals + operating + links
  }

  /// What is declared of the whole surface.
  package static func heads(referrals: [RouteHead], links: [RouteHead]) -> [RouteHead] {
    let listing: [RouteHead] = [index(of: []), openAPI(of: [])].map(\.head)
    return listing + first.map(\.head) + referrals + second.map(\.head) + links
  }

  private static func index(of heads: [RouteHead]) -> Route {
    Route.get(RouteTemplate(stringLiteral: AdminAccess.routes.template), AdminAccess.routes.summary, access: .viewer) { _ in
      .json(
        JSON(
          encoding: heads.map { route in
            AdminAccess.RouteEntry(
              method: route.method.rawValue, path: route.template.text, summary: route.summary,
              role: route.role?.rawValue ?? "none")
          }))
    }.described(RouteDescription(of: AdminAccess.routes))
  }

  private static func openAPI(of heads: [RouteHead]) -> Route {
    Route.get("/admin/v1/openapi", "This surface as an OpenAPI document.", access: .viewer) { _ in
      .json(OpenAPIDocument.json(of: heads))
    }.described(RouteDescription(answer: .object([.always("openapi", schema: .text), .always("paths", schema: .object([]))])))
  }
}

/// What the administrators' surface and the operators' pages answer with. What is nil is not there, and says so.
package struct AdminServices: APIServices {
  package let context: ServerContext
  /// How much is listened to.
  package let listeners: ListenerHub
  /// Where tokens and keys get their random part.
  package let random: any RandomNumberGenerator & Sendable
  /// What the program says that it is, and since when it runs, in milliseconds since 1970.
  package var version = "unknown"
  package let startedAt: Int64
  /// What is set about the server, without secrets.
  package var configuration = AdminSystem.Configuration()
  package var functions: (any FunctionOperating)?
  package var replays: (any ReplayOperating)?
  package var ledger: LedgerService?
  package var accounts: AccountService?
  package var links: LinkService?
  package var invites: InvitationService?
  package var messages: MessageService?
  /// Pictures of messages that the server hands out.
  package var messageImages: [AdminMessages.Image] = []
  /// Nil where it is not declared who referred whom.
  package var referrals: ReferralService?
  package var serviceAccounts: ServiceAccountStore?
  /// Mail that was shown instead of sent; nil where mail is sent.
  package var mail: (any RecentMailSource)?
  /// The clock to move, in development.
  package var adjustableClock: AdjustableClock?
  /// Asks the system how full the disk is that the data are on; nil for data that are on none.
  package var diskSpace: @Sendable () -> DiskSpace? = { nil }
  /// What makes backups that are ordered.
  package var backups: BackupMaker
  /// What makes backups by itself; nil where none are scheduled.
  package var schedule: ScheduledBackups?
  /// Audits of the log that go on in the background.
  package let logAudits: LogAudits
  /// What was seen of the store lately; nil where nobody looks.
  package var watch: StoreWatch?
  /// Who is signed in at the console; nil where there is none.
  package var sessions: ConsoleSessions?
  /// What the server did lately; nobody looks unless somebody runs it.
  package let series = FigureSeries()
  /// What the functions did lately.
  let functionSeries = FunctionSeries()
  /// The console's streams.
  package let liveStreams = LiveStreams()
  /// Which files the console's pages are; a page that has others loads itself again.
  package var consoleBuild = ""
  /// What the metrics say beside what this target knows of: the process, the disk, the outbox, the alerts.
  package var furtherMetrics: @Sendable () -> [MetricFamily] = { [] }
  /// What an administrator should look at beside what this target knows of.
  package var furtherWarnings: @Sendable () -> [String] = { [] }
  /// The nodes, where the store is kept in PostgreSQL.
  package var cluster: @Sendable () -> AdminCluster.State = { AdminCluster.State() }

  package init(context: ServerContext, listeners: ListenerHub, random: any RandomNumberGenerator & Sendable) {
    backups = BackupMaker(engine: context.database.engine, folder: nil, clock: context.database.clock)
    startedAt = context.database.clock.now()
    logAudits = LogAudits(engine: context.database.engine, clock: context.database.clock)
    self.context = context
    self.listeners = listeners
    self.random = random
  }
}

/// A route of this target, and a request for it.
package typealias Route = APIRoute<AdminServices>
typealias RouteCall = APICall<AdminServices>
