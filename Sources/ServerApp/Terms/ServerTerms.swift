package import FunctionsKit
import HTTPServer
package import Logging
import NIOCore
package import ServerConfiguration
import Triggers
import UnixSignals

/// Runs a server until the process is told to end: in terms, each of which is the life of one ``Application``.
///
/// A writer that finds its disk full stops for good, for what the file holds is not known any more. Its server answers what is
/// read, and refuses what is written. When there is room again the next term begins on the same port, as after a crash: it reads
/// what is on the disk, and the functions catch up with the log.
package struct ServerTerms: Sendable {
  private let configuration: ServerConfiguration
  private let logger: Logger
  private let functions: @Sendable (Functions) -> Void

  /// - `functions`: registers the deployment's functions, for each term.
  package init(
    configuration: ServerConfiguration, logger: Logger, functions: @escaping @Sendable (Functions) -> Void
  ) {
    self.configuration = configuration
    self.logger = logger
    self.functions = functions
  }

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - `onStart`: called with the bound port once clients can connect for the first time.
  /// - Throws: `StorageError` if the data cannot be opened: another process has them, or a newer version wrote them.
  package func run(onStart: (Int) -> Void) async throws {
    let end = EndSignal()
    // Before clients can connect: the first process of a container is not ended by a signal that nobody waits for.
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let watching = Task { for await _ in signals { return end.give() } }
    defer { watching.cancel() }
    try await run(until: end, space: space, onStart: onStart)
  }

  /// The same without signals.
  ///
  /// - `space`: nil where a term is the only one.
  func run(until end: EndSignal, space: DiskSpaceWatch?, onStart: (Int) -> Void) async throws {
    let node = try clusterNode()
    defer { node?.stop() }
    let reading = try await node?.staleReads?.start()
    let result: Result<Void, any Error>
    do {
      result = .success(try await run(node, until: end, space: space, onStart: onStart))
    } catch {
      result = .failure(error)
    }
    reading?.cancel()
    _ = await reading?.result
    try result.get()
  }

  private func run(_ node: ClusterNode?, until end: EndSignal, space: DiskSpaceWatch?, onStart: (Int) -> Void) async throws {
    var configuration = configuration
    var board: AlertBoard?
    while true {
      var term: ClusterTerm?
      if let node {
        term = try await waitToLead(node, until: end, configuration: &configuration)
        if term == nil { return }
      }
      do {
        let application = try Application(
          configuration: configuration, logger: logger, outlets: [], failpoint: .none, board: board, term: term,
          functions: functions)
        let isOver = try await application.run(until: end, space: space) { port in
          // Clients, and who reads the metrics, come back to where they were.
          configuration.port = port
          if let port = application.metricsServer?.address?.port { configuration.metricsAddress?.port = port }
          node?.staleReads?.lead(application.leadingStore)
          if board == nil { return onStart(port) }
          // As loud as what it ends.
          logger.warning(
            node == nil ? "the disk has room again: the server goes on with what is on it" : "this node leads again")
        }
        node?.staleReads?.rest()
        term?.end()
        if isOver { return }
        board = application.monitor.board
      } catch {
        node?.staleReads?.rest()
        guard let term else { throw error }
        // A term that was lost while it began is followed by another, as one that is lost later. Who cannot serve for another reason
        // does not hold the lease.
        let isLost = term.isLost
        term.end()
        guard isLost else { throw error }
      }
    }
  }

  private func clusterNode() throws -> ClusterNode? {
    guard let settings = configuration.cluster, case .directory(let folder) = configuration.storage else { return nil }
    return try ClusterNode(settings, folder: folder, configuration: configuration, logger: logger)
  }

  /// Follows, and hands clients on to the node that leads, until this one does.
  ///
  /// - Returns: nil if the process was told to end before.
  private func waitToLead(_ node: ClusterNode, until end: EndSignal, configuration: inout ServerConfiguration) async throws
    -> ClusterTerm?
  {
    let route = StandbyServer.Route(leader: { node.leaderAddress }, seal: { node.seal }, clock: configuration.clock)
    let standby = try await StandbyServer.start(host: configuration.host, port: configuration.port, route: route)
    if let port = standby.port { configuration.port = port }
    let metrics = try await standbyMetrics(of: node, configuration: &configuration)
    let result: Result<ClusterTerm?, any Error>
    do {
      result = .success(try await node.waitToLead(until: end) { standby.drop() })
    } catch {
      result = .failure(error)
    }
    await standby.stop()
    metrics?.cancel()
    // The port is for the server that follows.
    _ = await metrics?.result
    configuration.http.seal = node.seal
    return try result.get()
  }

  /// Answers at the port for metrics while the node follows.
  private func standbyMetrics(of node: ClusterNode, configuration: inout ServerConfiguration) async throws
    -> Task<Void, any Error>?
  {
    guard case .directory(let folder) = configuration.storage,
      let server = StandbyMetrics.server(configuration, folder: folder, logger: logger, sight: { node.sight })
    else { return nil }
    if let port = try await server.bind().port { configuration.metricsAddress?.port = port }
    // Ended and waited for by who follows.
    return Task { try await server.run() }
  }

  /// Data in memory go with their term.
  private var space: DiskSpaceWatch? {
    guard case .directory(let folder) = configuration.storage else { return nil }
    return DiskSpaceWatch(clock: configuration.clock) { DiskSpaceWatch.hasSpace(in: folder) }
  }
}
