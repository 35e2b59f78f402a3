package import APISupport
import Accounts
package import AdminAPI
import Credentials
package import HTTPServer
import IdentityAPI
import Invites
import Ledger
package import Links
import LinksAPI
package import Messages
import MessagesAPI
import Logging
import NIOCore
import NIOPosix
package import RealtimeAPI
import ServerApp
package import StorageCore
import StorageSQLite
import Synchronization
package import TestSupport
import Testing
package import TreeDatabase
import TreeModel
import WebConsole

/// The whole surface over a real socket, on a store in memory and a clock that stands still.
package struct APIServer: Sendable {
  package let database: Database
  package let listeners: ListenerHub
  package let clock: AdjustableClock
  package let metrics: ServerMetrics
  package let memory: MemoryBudgets
  package let links: LinkService
  package let messages: MessageService
  package let router: RequestRouter
  package let sockets: SocketRoutes
  package let port: Int
  /// The namespaces that were announced.
  package let announced: Announcements
  /// The server's `run()`.
  package let running: Task<Void, any Error>

  package static let start: Int64 = 1_700_000_000_000
  package static let admin = ["Authorization": "Bearer owner"]

  package final class Announcements: Sendable {
    private let names = Mutex<[String]>([])
    func add(_ name: String) { names.withLock { $0.append(name) } }
    package var all: [String] { names.withLock { $0 } }
  }

  /// Runs a test against a server of its own.
  package static func run(
    access: any AccessDeciding & Authenticating = AccessPolicy.development, functions: (any FunctionOperating)? = nil,
    effects: (any EffectsWaiting)? = nil, limits: WriteLimits = WriteLimits(),
    configuration: HTTPServerConfiguration = .changed { _ in },
    participants: [any CommitParticipant] = [], reads: HeldReads? = nil, streamLimits: StreamLimits = StreamLimits(),
    sockets limitsOfSockets: SocketLimits = SocketLimits(), memory: MemoryBudgets = MemoryBudgets(),
    paces: RequestLimits? = nil, accounts kind: AccountKind? = nil, console: ConsoleSettings = ConsoleSettings(),
    administering change: (inout AdminServices) -> Void = { _ in }, _ test: (APIServer) async throws -> Void
  ) async throws {
    let engine = try SQLiteEngine.inMemory()
    let clock = AdjustableClock(frozenAt: start)
    let metrics = ServerMetrics()
    let currencies = try CurrencyTable([.piecesOfEight])
    let listeners = ListenerHub(engine: reads.map { HeldEngine(engine, reads: $0) } ?? engine)
    let watch = AccountWatch()
    let waiting = WaitingCampaigns()
    let hub = MessageHub(waiting: waiting)
    let all = [LedgerParticipant(table: currencies)] + participants + [messageParticipant(waiting)]
    let database = try Database(
      engine: engine, participants: all, observers: [watch, metrics, listeners, hub], limits: limits, clock: clock)
    listeners.search(with: database.reader)
    let pool = NIOThreadPool(numberOfThreads: 2)
    pool.start()
    let accounts = try kind.map { try $0.accounts(database, watch) }
    let connectedUsers = ConnectedUsers()
    watch.listen { connectedUsers.tell($1) }
    let authenticator = accounts.map { makeAuthenticator(over: access, kind, accounts: $0, database) } ?? access
    let ruled = (access as? AccessPolicy).map { RuleBasedAccess(database: database, unruled: $0) }
    let links = try LinkService(
      engine: engine, writer: database, home: TestHome(database: database), clock: clock, random: SplitMix64(seed: 7))
    let invites = try InvitationService(
      engine: engine, writer: database, home: TestHome(database: database), clock: clock, random: SplitMix64(seed: 8))
    let messages = try makeMessages(database, clock: clock, hub: hub, isDevelopment: access.isDevelopment)
    let telling = Task { try? await messages.tell() }
    defer { telling.cancel() }
    let callers = makeCallers(authenticator, console, isDevelopment: access.isDevelopment, clock)
    let context = makeContext(database, callers: callers, isDevelopment: access.isDevelopment, metrics, memory, pool)
    let announced = Announcements()
    let realtime = RealtimeServices(
      context: context, access: ruled ?? access, listeners: listeners, connectedUsers: connectedUsers,
      streamLimits: streamLimits, effects: effects, random: SplitMix64(seed: 1), announceNamespace: announced.add)
    let ledger = LedgerService(engine: engine, writer: database, currencies: currencies)
    let surfaces = makeSurfaces(realtime, functions, ledger, accounts, links, invites, messages, clock, change)
    let sockets = SocketRoutes(
      services: realtime, limits: limitsOfSockets, pace: paces.map { SocketPace(limits: $0, clock: clock) })
    let router = surfaces.router(sockets: sockets)
    let server = HTTPServer(
      configuration: configuration, responder: router, sockets: sockets, memory: memory, metrics: metrics.http, clock: clock,
      logger: context.logger)
    let port = try await server.bind().port ?? 0
    let running = Task { try await server.run() }
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(
        try await test(
          APIServer(
            database: database, listeners: listeners, clock: clock, metrics: metrics, memory: memory, links: links,
            messages: messages, router: router, sockets: sockets, port: port, announced: announced, running: running)))
    } catch {
      outcome = .failure(error)
    }
    running.cancel()
    try await running.value
    surfaces.admin.logAudits.stop()
    database.shutDown()
    listeners.stop()
    try await pool.shutdownGracefully()
    engine.close()
    try outcome.get()
  }

  private static func messageParticipant(_ waiting: WaitingCampaigns) -> any CommitParticipant {
    MessageParticipant(waiting: waiting, referrer: "/users/{uid}/referred_by")
  }

  private static func makeContext(
    _ database: Database, callers: CallerIdentification, isDevelopment: Bool, _ metrics: ServerMetrics, _ memory: MemoryBudgets,
    _ pool: NIOThreadPool
  ) -> ServerContext {
    ServerContext(
      database: database, defaultNamespace: "game", callers: callers, isDevelopment: isDevelopment, metrics: metrics,
      memory: memory, pools: RequestPools(shared: pool), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  static func makeMessages(_ database: Database, clock: AdjustableClock, hub: MessageHub, isDevelopment: Bool) throws
    -> MessageService
  {
    var options = MessageOptions()
    (options.referrer, options.isDevelopment) = ("/users/{uid}/referred_by", isDevelopment)
    return try MessageService(
      engine: database.engine, writer: database, home: TestHome(database: database), clock: clock,
      random: SplitMix64(seed: 10),
      surroundings: CampaignSurroundings(zones: ZoneFiles { try? DiskFiles.bytes("/usr/share/zoneinfo/\($0)") }), hub: hub,
      options: options)
  }

  private static func makeCallers(
    _ authenticator: any Authenticating, _ console: ConsoleSettings, isDevelopment: Bool, _ clock: AdjustableClock
  ) -> CallerIdentification {
    let sessions = ConsoleSessions(
      settings: console, isDevelopment: isDevelopment, authenticator: authenticator, clock: clock, random: SplitMix64(seed: 9))
    return CallerIdentification(
      authenticator: authenticator, origins: isDevelopment ? DevelopmentOrigins() : nil, pages: sessions)
  }

  private static func makeSurfaces(
    _ realtime: RealtimeServices, _ functions: (any FunctionOperating)?, _ ledger: LedgerService, _ accounts: AccountService?,
    _ links: LinkService, _ invites: InvitationService, _ messages: MessageService, _ clock: AdjustableClock,
    _ change: (inout AdminServices) -> Void
  ) -> ServerSurfaces {
    let context = realtime.context
    var admin = AdminServices(context: context, listeners: realtime.listeners, random: SplitMix64(seed: 1))
    admin.sessions = context.callers.pages as? ConsoleSessions
    admin.functions = functions
    admin.ledger = ledger
    admin.accounts = accounts
    admin.links = links
    admin.invites = invites
    admin.messages = messages
    admin.adjustableClock = clock
    change(&admin)
    return ServerSurfaces(
      realtime: realtime, identity: IdentityServices(context: context, accounts: accounts),
      links: LinksServices(context: context, links: links, invites: invites, accounts: accounts),
      messages: MessagesServices(
        context: context, messages: messages,
        keys: { links.settings.apiKeys.map { AppKey(key: $0.key, bundleIDs: $0.bundleIDs) } },
        mayRead: { realtime.access.decideRead($0, query: nil, in: "game", as: $1).isAllowed }),
      admin: admin,
      console: WebConsole(
        files: ConsoleFiles(), settings: admin.sessions?.settings ?? ConsoleSettings(), isDevelopment: context.isDevelopment,
        isSecure: false))
  }

  private static func makeAuthenticator(
    over access: any Authenticating, _ kind: AccountKind?, accounts: AccountService, _ database: Database
  ) -> any Authenticating {
    AccountAuthenticator(
      administrators: access, accounts: accounts, project: kind?.mode == .signed ? "game" : nil, foreign: kind?.foreign,
      namespace: { database.namespace(named: $0 == "game" ? "game" : AccountProject.namespaceName(of: $0)) })
  }

  /// Makes the server stop, as the end of its service group does.
  package func stop() { running.cancel() }

  /// Sends one request on a connection of its own.
  package func send(
    _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:], host: String = "localhost"
  ) async throws -> RawResponse {
    let connection = try await RawConnection.connect(to: port)
    try await connection.send(Self.text(method, path, body, headers: headers, host: host))
    let response = try #require(try await connection.next(isHead: method == "HEAD"), "\(method) \(path): no answer")
    try? await connection.close()
    return response
  }

  package static func text(
    _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:], host: String = "localhost"
  ) -> String {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
    return text + "\r\n" + (body ?? "")
  }

  /// The value at a path, as JSON text.
  package func value(_ path: String) async throws -> String { try await send("GET", path).body }

  /// How many places and windows clients listen to.
  package var listenCount: Int { listeners.counts.listens }

  /// The default namespace's revision; 0 if there is none yet.
  package func revision(of name: String = "game") throws -> Int64 {
    guard let id = database.namespace(named: name) else { return 0 }
    return try database.engine.read { snapshot in try snapshot.head(of: id) }.revision.rawValue
  }
}

extension HTTPServerConfiguration {
  /// A small server on a port of the system's choice, with something changed.
  package static func changed(_ change: (inout HTTPServerConfiguration) -> Void) -> HTTPServerConfiguration {
    var configuration = HTTPServerConfiguration(port: 0, threadCount: 2)
    change(&configuration)
    return configuration
  }
}

/// The namespace that the links are in.
package struct TestHome: LinkNamespace, InvitationNamespace, MessageNamespace {
  package let database: Database

  package init(database: Database) {
    self.database = database
  }

  package func known() -> NamespaceID? { database.namespace(named: "game") }
  package func open() async throws(CommitError) -> NamespaceID { try await database.openNamespace(named: "game") }
}
