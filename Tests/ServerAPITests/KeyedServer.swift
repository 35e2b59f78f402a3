import Credentials
import Ledger
import Links
import Logging
import NIOCore
import NIOPosix
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import ServerAPI

/// The surface with signing keys and service accounts, in development: `owner` is an administrator too.
struct KeyedServer: Sendable {
  static let signingKey = Result { try SigningKey(pem: TestKeys.first) }

  let server: APIServer
  let keys: CurrentKeys
  let desk: ServiceAccountDesk

  static func run(_ test: (KeyedServer) async throws -> Void) async throws {
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
    let desk = try ServiceAccountDesk(database: database, keys: keys, project: "game", namespace: "game")
    let access = AccessPolicy(
      mode: .development, adminTokens: [AdminToken(name: "owner", secret: "owner")], serviceAccounts: desk)
    let announced = APIServer.Announcements()
    let connected = ConnectedUsers()
    desk.listen { connected.tell(serviceAccount: $0, revokedAt: $1) }
    let services = ServerServices(
      database: database, listeners: listeners, authenticator: access, access: access, metrics: metrics,
      defaultNamespace: "game", threadPool: pool, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      random: SplitMix64(seed: 1),
      ledger: LedgerBook(engine: engine, writer: database, currencies: currencies), connectedUsers: connected,
      adjustableClock: clock, keys: keys,
      serviceAccounts: desk, announceNamespace: announced.add)
    let links = try LinkBook(
      engine: engine, writer: database, home: TestHome(database: database), clock: clock,
      random: SplitMix64(seed: 7))
    let sockets = SocketDoor(services: services)
    let router = ServerSurfaces(services: services).router(sockets: sockets)
    let server = HTTPServer(
      configuration: .changed { _ in }, responder: router, sockets: sockets, metrics: metrics.http, clock: clock,
      logger: services.logger)
    let port = try await server.bind().port ?? 0
    let running = Task { try await server.run() }
    let outcome: Result<Void, any Error>
    do {
      let api = APIServer(
        database: database, listeners: listeners, clock: clock, metrics: metrics, memory: services.memory, links: links,
        router: router, sockets: sockets, port: port, announced: announced, running: running)
      outcome = .success(try await test(KeyedServer(server: api, keys: keys, desk: desk)))
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
  func account(_ name: String, _ role: String) async throws -> ServiceAccountKey {
    let response = try await server.send(
      "POST", "/admin/v1/service-accounts",
      #"{"name":"\#(name)","role":"\#(role)","server":"https://rewards.example.com/"}"#, headers: APIServer.admin)
    #expect(response.status == 200, "\(response.body)")
    return try #require(ServiceAccountKey(file: response.json?["key"] ?? .null))
  }

  /// Sends a form to the token endpoint.
  func exchange(_ assertion: String, grant: String = ServiceAccountAssertion.grantType) async throws -> RawResponse {
    let type = grant.replacing(":", with: "%3A")
    return try await server.send(
      "POST", "/token", "assertion=\(assertion)&grant_type=\(type)",
      headers: ["Content-Type": "application/x-www-form-urlencoded"])
  }

  /// An access token for an account.
  func token(_ account: ServiceAccountKey) async throws -> String {
    let response = try await exchange(account.assertion(at: server.clock.now()))
    #expect(response.status == 200, "\(response.body)")
    return try #require(response.json?["access_token"]?.string)
  }
}
