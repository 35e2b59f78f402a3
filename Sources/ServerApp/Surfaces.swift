import Invites
import Ledger
import Links
import Logging
import NIOPosix
import ServerAPI
import StorageCore
import TreeDatabase
import Triggers

/// Puts the surfaces of the one port together.
struct Surfaces {
  let configuration: ServerConfiguration
  let database: Database
  let listeners: ListenerHub
  let dispatcher: Dispatcher
  let replayer: Replayer
  let ledger: LedgerBook
  let links: LinkBook
  let invites: InviteBook
  let metrics: ServerMetrics
  let threadPool: NIOThreadPool
  let logger: Logger

  func makeServer() -> HTTPServer {
    let desk = FunctionDesk(dispatcher: dispatcher, engine: database.engine)
    let folder: String? = if case .directory(let folder) = configuration.storage { folder } else { nil }
    let replays = ReplayDesk(replayer: replayer, engine: database.engine, folder: folder)
    let logger = logger
    let policy = AccessPolicy(
      mode: .development, adminTokens: [AdminToken(name: "owner", secret: configuration.adminToken)])
    let services = ServerServices(
      database: database, listeners: listeners, authenticator: policy, access: policy,
      metrics: metrics, defaultNamespace: configuration.defaultNamespace, threadPool: threadPool, logger: logger,
      random: SystemRandomNumberGenerator(), functions: desk, replays: replays, ledger: ledger, links: links, invites: invites,
      effects: desk,
      adjustableClock: configuration.clock as? AdjustableClock,
      announceNamespace: { logger.notice("a namespace came into being", metadata: ["namespace": "\($0)"]) })
    let sockets = SocketDoor(services: services)
    var http = HTTPServerConfiguration(host: configuration.host, port: configuration.port)
    if let eventLoops = configuration.eventLoops { http.threadCount = eventLoops }
    return HTTPServer(
      configuration: http, responder: RequestRouter(services: services, sockets: sockets), sockets: sockets,
      metrics: metrics, clock: configuration.clock, logger: logger)
  }
}
