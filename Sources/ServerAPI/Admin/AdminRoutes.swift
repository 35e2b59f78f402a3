import Credentials
import NIOHTTP1
import TreeModel

/// The administrators' surface, as a table of contents.
///
/// | Routes | For |
/// |---|---|
/// | ``EventRoutes`` | the trigger log: events, executions, dead letters, redelivery, drain |
/// | ``WhyRoutes`` | why a player was paid, or not |
/// | ``HistoryRoutes`` | the tree as it was, what changed, which commits touched a place |
/// | ``FunctionRoutes`` | functions: list, pause, resume, retry |
/// | ``IndexRoutes`` | the indexes of the rules |
/// | ``RuleRoutes`` | what the rules say of an operation |
/// | ``LedgerRoutes`` | balances, statements, transfers, reversals, holds, audit |
/// | ``ReferralRoutes`` | who brought whom |
/// | ``NamespaceRoutes`` | namespaces |
/// | ``SystemRoutes`` | status, clock, backup, the audit log |
/// | ``ReplayRoutes`` | replays, invocations by hand, dead letters |
/// | ``AccountRoutes`` | players' accounts |
/// | ``ErasureRoutes``, ``MergeRoutes`` | players who leave; two accounts of one player |
/// | ``LogRoutes`` | the log's proof and pruning |
/// | ``ServiceAccountRoutes`` | who may administer: service accounts |
/// | ``MailRoutes`` | mail, where it is shown and not sent |
/// | ``LinkAdminRoutes`` | links: settings, listings, imports, codes, claims |
/// | ``InviteAdminRoutes`` | invitations: settings, listings, suppressed addresses |
enum AdminRoutes {
  static let routes: [Route] =
    [index, openAPI] + EventRoutes.routes + WhyRoutes.routes + HistoryRoutes.routes + FunctionRoutes.routes + IndexRoutes.routes
    + RuleRoutes.routes
    + LedgerRoutes.routes + ReferralRoutes.adminRoutes + NamespaceRoutes.routes + SystemRoutes.routes + ReplayRoutes.routes
    + LogRoutes.routes
    + AccountRoutes.routes + ErasureRoutes.routes + MergeRoutes.routes + ServiceAccountRoutes.routes + MailRoutes.routes
    + LinkAdminRoutes.routes + InviteAdminRoutes.routes

  /// What is declared of them.
  static let heads = routes.map(\.head)

  private static let index = Route.glance("/admin/v1", "This list.", access: .viewer) { _ in
    .json(
      .array(
        heads.map { route in
          [
            "method": .string(route.method.rawValue), "path": .string(route.template.text), "summary": .string(route.summary),
            "role": .string(route.role?.rawValue ?? "none"),
          ]
        }))
  }.described(
    RouteDescription(
      answer: .list(
        .object([
          .always("method", .text), .always("path", .text), .always("summary", .text), .always("role", .text, "what it takes"),
        ]))))

  private static let openAPI = Route.glance("/admin/v1/openapi", "This surface as an OpenAPI document.", access: .viewer) { _ in
    .json(document)
  }.described(RouteDescription(answer: .object([.always("openapi", .text), .always("paths", .object([]))])))

  /// Made once: the routes do not change.
  private static let document = OpenAPIDocument.json(of: heads)
}
