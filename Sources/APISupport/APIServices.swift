package import HTTPServer
package import Logging
package import NIOHTTP1
package import NIOPosix
package import TreeDatabase

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
  package var threadPool: NIOThreadPool { context.threadPool }
  package var adminPool: NIOThreadPool { context.adminPool }
  package var logger: Logger { context.logger }
  package var audit: AuditTrail { context.audit }

  /// Whether a web page of somebody else may have sent a request with these headers; never so in production.
  package func isForeign(_ headers: HTTPHeaders) -> Bool { context.callers.isForeign(headers) }
}
