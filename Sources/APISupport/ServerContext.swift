package import HTTPServer
package import Logging
package import NIOHTTP1
package import NIOPosix
package import StorageCore
package import TreeDatabase

/// What all API targets answer with: the store, who calls, what is counted and put on record.
///
/// A class, so that handing it from one part of a request's way to the next costs one reference count and not a dozen.
package final class ServerContext: Sendable {
  /// The tree database.
  package let database: Database
  /// The namespace of requests that name none.
  package let defaultNamespace: String
  /// Finds out who sends a request.
  package let callers: CallerIdentification
  /// Whether the tools of development are there: deleting namespaces, moving the clock, suppressing triggers.
  package let isDevelopment: Bool
  /// Counts what happens; also to be given to the database as an observer, or commits are not counted.
  package let metrics: ServerMetrics
  /// How much memory clients may take by what they leave unfinished; the ``HTTPServer`` has the same.
  package let memory: MemoryBudgets
  /// The threads beside the event loops.
  package let pools: RequestPools
  /// Bodies and secrets are not logged.
  package let logger: Logger
  /// Records what administrators do.
  package let audit: AuditTrail

  package init(
    database: Database, defaultNamespace: String, callers: CallerIdentification, isDevelopment: Bool,
    metrics: ServerMetrics, memory: MemoryBudgets = MemoryBudgets(), pools: RequestPools, logger: Logger
  ) {
    self.database = database
    self.defaultNamespace = defaultNamespace
    self.callers = callers
    self.isDevelopment = isDevelopment
    self.metrics = metrics
    self.memory = memory
    self.pools = pools
    self.logger = logger
    audit = AuditTrail(database: database, namespace: defaultNamespace, leftOut: metrics.refusalsLeftOut, logger: logger)
  }
}

/// The threads beside the event loops.
package struct RequestPools: Sendable {
  /// For what takes clients long: large reads and writes, links that are not in memory.
  package let clients: NIOThreadPool
  /// For what takes administrators long: listings, audits, backups. Clients do not wait behind it.
  package let administrators: NIOThreadPool

  package init(clients: NIOThreadPool, administrators: NIOThreadPool) {
    self.clients = clients
    self.administrators = administrators
  }

  /// One pool for both.
  package init(shared pool: NIOThreadPool) {
    self.init(clients: pool, administrators: pool)
  }

  /// Starts the threads.
  package func start() {
    clients.start()
    administrators.start()
  }

  /// Ends the threads, which have nothing to do any more; that they were stopped before is no error.
  package func stop() {
    try? clients.syncShutdownGracefully()
    try? administrators.syncShutdownGracefully()
  }
}

/// What one API target answers with: what all of them share, and more of its own.
package protocol APIServices: Sendable {
  var context: ServerContext { get }
}

extension APIServices {
  package var database: Database { context.database }
  package var defaultNamespace: String { context.defaultNamespace }
  package var authenticator: any Authenticating { context.callers.authenticator }
  package var origins: DevelopmentOrigins? { context.callers.origins }
  package var isDevelopment: Bool { context.isDevelopment }
  /// Whether namespaces come into being when they are first written to.
  package var createsNamespaces: Bool { context.isDevelopment }
  package var metrics: ServerMetrics { context.metrics }
  package var memory: MemoryBudgets { context.memory }
  package var threadPool: NIOThreadPool { context.pools.clients }
  package var adminPool: NIOThreadPool { context.pools.administrators }
  package var logger: Logger { context.logger }
  package var audit: AuditTrail { context.audit }

  /// Whether a foreign web page may have sent a request with these headers; never so in production.
  package func isForeign(_ headers: HTTPHeaders) -> Bool { context.callers.isForeign(headers) }
}

extension APICall where Services: APIServices {
  /// The name of the namespace that is meant: `ns`, or the server's default.
  package var namespaceName: String { query["ns"] ?? services.defaultNamespace }

  package func namespace() throws -> NamespaceID {
    guard let id = services.database.namespace(named: namespaceName) else {
      throw APIError.unknownNamespace(namespaceName)
    }
    return id
  }

  package func read<Value>(_ body: (any Snapshot) throws -> Value) throws -> Value {
    return try services.database.engine.read(body)
  }
}
