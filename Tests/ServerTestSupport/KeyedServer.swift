import APISupport
import AdminAPI
package import Credentials
import HTTPServer
import IdentityAPI
import Ledger
import Links
import LinksAPI
import Messages
import MessagesAPI
import Logging
import NIOCore
import NIOPosix
import RealtimeAPI
import ServerApp
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// The surface with signing keys and service accounts, in development: `owner` is an administrator too.
package struct KeyedServer: Sendable {
  package static let signingKey = Result { try SigningKey(pem: TestKeys.first) }

  package let server: APIServer
  package let keys: CurrentKeys
  let serviceAccounts: ServiceAccountStore

  package static func run(_ test: (KeyedServer) async throws -> Void) async throws {
    let engine = try SQLiteEngine.inMemory()
    let clock = AdjustableClock(frozenAt: APIServer.start)
    let metrics = ServerMetrics()
    let currencies = try CurrencyTable([.piecesOfEight])
    let listeners = ListenerHub(engine: engine)
    let database = try Database(
      engine: engine, participants: [LedgerParticipant(table: currencies)], observers: [metrics, listeners], clock: clock)
    listeners.search(with: database.reader)
    let pool = NIOThreadPool(numberOfThreads: 2)
    pool.start()
    let keys = CurrentKeys(KeyRing([KeyRing.Entry(key: try signingKey.get(), signsFrom: 0)]))
    let serviceAccounts = try ServiceAccountStore(database: database, keys: keys, project: "game", namespace: "game")
    let access = AccessPolicy(
      mode: .development, adminTokens: [AdminToken(name: "owner", secret: "owner")], serviceAccounts: serviceAccounts)
    let announced = APIServer.Announcements()
    let connected = ConnectedUsers()
    serviceAccounts.listen { connected.tell(serviceAccount: $0, revokedAt: $1) }
    let context = ServerContext(
      database: database, defaultNamespace: "game", callers: CallerIdentification(authenticator: access, origins: nil),
      isDevelopment: true, metrics: metrics, pools: RequestPools(shared: pool),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let realtime = RealtimeServices(
      context: context, access: access, listeners: listeners, connectedUsers: connected, random: SplitMix64(seed: 1),
      announceNamespace: announced.add)
    let messages = try APIServer.makeMessages(
      database, clock: clock, hub: MessageHub(waiting: WaitingCampaigns()), isDevelopment: true)
    var admin = AdminServices(context: context, listeners: listeners, random: SplitMix64(seed: 1))
    admin.ledger = LedgerService(engine: engine, writer: database, currencies: currencies)
    admin.messages = messages
    admin.adjustableClock = clock
    admin.serviceAccounts = serviceAccounts
    let surfaces = ServerSurfaces(
      realtime: realtime, identity: IdentityServices(context: context, accounts: nil, keys: keys),
      links: LinksServices(context: context, links: nil), messages: MessagesServices(context: context, messages: messages),
      admin: admin)
    let links = try LinkService(
      engine: engine, writer: database, home: TestHome(database: database), clock: clock,
      random: SplitMix64(seed: 7))
    let sockets = SocketRoutes(services: realtime)
    let router = surfaces.router(sockets: sockets)
    let server = HTTPServer(
      configuration: .changed { _ in }, responder: router, sockets: sockets, metrics: metrics.http, clock: clock,
      logger: context.logger)
    let port = try await server.bind().port ?? 0
    let running = Task { try await server.run() }
    let outcome: Result<Void, any Error>
    do {
      let api = APIServer(
        database: database, listeners: listeners, clock: clock, metrics: metrics, memory: context.memory, links: links,
        messages: messages, router: router, sockets: sockets, port: port, announced: announced, running: running)
      outcome = .success(try await test(KeyedServer(server: api, keys: keys, serviceAccounts: serviceAccounts)))
    } catch {
      outcome = .failure(error)
    }
    running.cancel()
    try await running.value
    database.shutDown()
    listeners.stop()
    try await pool.shutdownGracefully()
    engine.close()
    try outcome.get()
  }

  /// Makes an account through the surface.
  package func account(_ name: String, _ role: String) async throws -> ServiceAccountKey {
    let response = try await server.send(
      "POST", "/admin/v1/service-accounts",
      #"{"name":"\#(name)","role":"\#(role)","server":"https://rewards.example.com/"}"#, headers: APIServer.admin)
    #expect(response.status == 200, "\(response.body)")
    return try #require(ServiceAccountKey(file: response.json?["key"] ?? .null))
  }

  /// Sends a form to the token endpoint.
  package func exchange(_ assertion: String, grant: String = ServiceAccountAssertion.grantType) async throws -> RawResponse {
    let type = grant.replacing(":", with: "%3A")
    return try await server.send(
      "POST", "/token", "assertion=\(assertion)&grant_type=\(type)",
      headers: ["Content-Type": "application/x-www-form-urlencoded"])
  }

  /// An access token for an account.
  package func token(_ account: ServiceAccountKey) async throws -> String {
    let response = try await exchange(account.assertion(at: server.clock.now()))
    #expect(response.status == 200, "\(response.body)")
    return try #require(response.json?["access_token"]?.string)
  }
}
