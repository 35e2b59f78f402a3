package import HTTPServer
package import Logging
package import NIOPosix
package import TreeDatabase

/// What all API targets answer with: the store, who calls, what is counted and put on record.
///
/// A class, so that handing it from one part of a request's way to the next costs one reference count and not a dozen.
package final class ServerContext: Sendable {
  /// The door to the tree.
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
  /// For what takes clients long: large reads and writes, links that are not in memory.
  package let threadPool: NIOThreadPool
  /// For what takes administrators long: listings, audits, backups. Clients do not wait behind it.
  package let adminPool: NIOThreadPool
  /// Never told of bodies, never of secrets.
  package let logger: Logger
  /// Where it is put on record what administrators do.
  package let audit: AuditTrail

  package init(
    database: Database, defaultNamespace: String, callers: CallerIdentification, isDevelopment: Bool,
    metrics: ServerMetrics, memory: MemoryBudgets = MemoryBudgets(), threadPool: NIOThreadPool,
    adminPool: NIOThreadPool? = nil, logger: Logger
  ) {
    self.database = database
    self.defaultNamespace = defaultNamespace
    self.callers = callers
    self.isDevelopment = isDevelopment
    self.metrics = metrics
    self.memory = memory
    self.threadPool = threadPool
    self.adminPool = adminPool ?? threadPool
    self.logger = logger
    audit = AuditTrail(database: database, namespace: defaultNamespace, leftOut: metrics.refusalsLeftOut, logger: logger)
  }
}
