import NIOHTTP1
import TreeModel

/// The administrators' surface, as a table of contents.
///
/// | Routes | For |
/// |---|---|
/// | ``EventRoutes`` | the trigger log: events, executions, dead letters, redelivery, drain |
/// | ``FunctionRoutes`` | functions: list, pause, resume, retry |
/// | ``LedgerRoutes`` | balances, statements, transfers, reversals, holds, audit |
/// | ``NamespaceRoutes`` | namespaces |
/// | ``SystemRoutes`` | status, clock, backup, the audit log |
/// | ``ReplayRoutes`` | replays, invocations by hand, dead letters |
/// | ``LogRoutes`` | the log's proof and pruning |
enum AdminRoutes {
  static let routes: [Route] =
    [index] + EventRoutes.routes + FunctionRoutes.routes + LedgerRoutes.routes + NamespaceRoutes.routes
    + SystemRoutes.routes + ReplayRoutes.routes + LogRoutes.routes

  private static let index = Route.glance("/admin/v1", "This list.", access: .admin) { _ in
    .json(
      .array(
        routes.map { route in
          [
            "method": .string(route.method.rawValue), "path": .string(route.template.text), "summary": .string(route.summary),
          ]
        }))
  }
}
