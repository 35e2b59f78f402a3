import APISupport
import Credentials
import HTTPServer
import Logging
import NIOCore
import NIOPosix
import RealtimeAPI
import ServerConfiguration
import ServiceLifecycle
import StorageCore
import StoragePostgres
import StorageSQLite
import Synchronization

/// The port at which every node of a store answers reads of the tree by itself, be it that it leads or that it follows.
///
/// A node that follows answers from its working copy, and says with the header `Age` for how long that may have been behind. It goes on
/// answering while PostgreSQL cannot be reached. Who wants what is newest reads at the clients' port.
final class StaleReads: Sendable {
  /// Of a copy that was not compared with PostgreSQL for longer nothing is shown, in milliseconds: so long a token lives that was taken
  /// back meanwhile.
  static let ageMax: Int64 = 3_600_000

  let source = StaleReadsSource()
  private let surroundings: CopyView.Surroundings
  private let server: HTTPServer
  private let certificates: CertificateReloader?
  private let logger: Logger
  /// The copy that is followed; nil while none is.
  private let opened = Mutex<Opened?>(nil)

  private struct Opened {
    /// The data folder.
    let folder: String
    /// Nil where the copy could not be read.
    var readers: CopyReaders?
    /// When that was, by the monotonic clock.
    var failedAt: Int64?
    /// When memory that nobody uses was last given back.
    var trimmedAt = MonotonicTime.now()
  }

  /// How long after that it is tried again, in milliseconds.
  private static let retryInterval: Int64 = 10_000
  /// How often connections that nobody has used since are closed, in milliseconds.
  private static let trimInterval: Int64 = 60_000

  /// - `address`: where it listens.
  /// - `keys`: what tokens are signed with.
  /// - Throws: what is wrong with the certificates.
  init(at address: PortAddress, _ configuration: ServerConfiguration, keys: CurrentKeys, logger: Logger) throws {
    self.logger = logger
    let metrics = ServerMetrics()
    surroundings = CopyView.Surroundings(
      configuration: configuration, keys: keys,
      identities: FederatedIdentityVerifier(
        configuration.issuers, serviceAccounts: nil, clock: configuration.clock, logger: logger),
      metrics: metrics, pools: RequestPools(shared: NIOThreadPool(numberOfThreads: 2)), logger: logger)
    var http = configuration.http
    (http.host, http.port) = (address.host, address.port)
    http.tls =
      configuration.certificates.isEmpty ? nil : try TLSIdentity(configuration.certificates.map { try $0.load() })
    certificates = http.tls.map {
      CertificateReloader(files: configuration.certificates, identity: $0, clock: configuration.clock, logger: logger)
    }
    let responder = StaleReadsResponder(source: source)
    var limited: any RequestResponder = responder
    if let limits = configuration.requestLimits {
      limited = RequestLimiter(
        limits: limits, responder: responder, sockets: nil, kind: RequestKind.of, metrics: metrics.http,
        clock: configuration.clock)
    }
    server = HTTPServer(
      configuration: http, responder: limited,
      memory: MemoryBudgets(
        inputBytesMax: configuration.unfinishedInputMax, outputBytesMax: configuration.unreadOutputMax),
      metrics: metrics.http, clock: configuration.clock, logger: logger)
  }

  /// Listens, until the task is cancelled.
  ///
  /// - Returns: what does so.
  func start() async throws -> Task<Void, any Error> {
    try await server.bind()
    surroundings.pools.start()
    // Ended and waited for by who runs the terms.
    return Task { [self] in
      defer { surroundings.pools.stop() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { [server] in try await server.run() }
        group.addTask { [surroundings] in try await surroundings.identities.run() }
        if let certificates { group.addTask { try await certificates.run() } }
        do {
          try await group.next()
        } catch  where !Task.isCancelled {
          logger.error("the port for stale reads is closed; start the server again", metadata: ["reason": "\(error)"])
        }
        group.cancelAll()
      }
    }
  }

  /// The port that was bound; nil before ``start()``.
  var port: Int? { server.address?.port }

  /// Shows nothing from now on.
  func rest() {
    source.show(nil)
    opened.withLock { opened in
      opened?.readers?.close()
      opened = nil
    }
  }

  /// Shows what the node that leads shows: this one.
  func lead(_ store: StaleReadsSource.LeadingStore) { source.show(.store(store)) }
}

// MARK: - For the follower

extension StaleReads: CopyWatching {
  func didOpen(_ folder: String) {
    opened.withLock { $0 = Opened(folder: folder) }
    view()
  }

  func willShow(_ tables: Set<String>) {
    if !tables.isDisjoint(with: CopyView.decisiveTables) { source.hold() }
  }

  func didShow(_ tables: Set<String>) {
    guard tables.isDisjoint(with: CopyView.decisiveTables) else { return view() }
    // One that could not be made is tried again in its time.
    guard case .copy(let shown) = source.content else { return }
    // What is not known of it is found by a view that is made again.
    if (try? shown.refresh(tables)) == nil { view() }
  }

  func didCompare(at time: Int64) {
    source.noteComparison(at: time)
    let now = MonotonicTime.now()
    let failedAt = opened.withLock { opened in
      if let last = opened?.trimmedAt, now - last >= Self.trimInterval {
        opened?.readers?.releaseUnusedMemory()
        opened?.trimmedAt = now
      }
      return opened?.failedAt
    }
    if let failedAt, now - failedAt >= Self.retryInterval { view() }
  }

  func willClose() { rest() }

  /// Looks at the copy by its rules and tokens of now.
  private func view() {
    guard var copy = opened.withLock(\.self) else { return source.show(nil) }
    do {
      let readers = try copy.readers ?? CopyReaders(in: copy.folder)
      copy.readers = readers
      source.show(.copy(try CopyView(readers, in: surroundings)))
      copy.failedAt = nil
    } catch {
      source.show(nil)
      copy.readers?.close()
      copy.readers = nil
      if copy.failedAt == nil {
        logger.warning("nothing is answered at the port for stale reads", metadata: ["reason": "\(error)"])
      }
      copy.failedAt = MonotonicTime.now()
    }
    opened.withLock { [copy] in $0 = copy }
  }
}
