import NIOHTTP1
import TreeModel

/// The administrators' surface, as a table of contents.
///
/// | Routes | For |
/// |---|---|
/// | ``EventRoutes`` | the trigger log: events, executions, dead letters, redelivery, drain |
/// | ``FunctionRoutes`` | functions: list, pause, resume, retry |
/// | ``IndexRoutes`` | the indexes of the rules |
/// | ``LedgerRoutes`` | balances, statements, transfers, reversals, holds, audit |
/// | ``NamespaceRoutes`` | namespaces |
/// | ``SystemRoutes`` | status, clock, backup, the audit log |
enum AdminRoutes {
  static let routes: [Route] =
    [index] + EventRoutes.routes + FunctionRoutes.routes + IndexRoutes.routes + LedgerRoutes.routes + NamespaceRoutes.routes
    + SystemRoutes.routes

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
