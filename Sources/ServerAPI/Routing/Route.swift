import Credentials
import NIOHTTP1

/// One line of the contents page: what is answered where, and by whom.
struct Route: Sendable {
  enum Access: Sendable {
    /// Anybody.
    case open
    /// An administrator's token, or a service account of this role or a higher one.
    case role(AdminRole)
    /// The role of administrators, and a server in development.
    case adminInDevelopment
    /// This role or a higher one; anybody in development.
    case roleInProduction(AdminRole)

    /// Who reads (design §8).
    static let viewer = Access.role(.viewer)
    /// Who repairs.
    static let support = Access.role(.support)
    /// Who may everything.
    static let admin = Access.role(.admin)
  }

  enum Action: Sendable {
    /// Answers at once, on the event loop.
    case immediate(@Sendable (RouteCall) throws(APIError) -> HTTPResponse)
    /// Reads the store, on a thread of the pool.
    case blocking(@Sendable (RouteCall) throws(APIError) -> HTTPResponse)
    /// Waits for others.
    case waiting(@Sendable (RouteCall) async throws(APIError) -> HTTPResponse)
  }

  let method: HTTPMethod
  let template: RouteTemplate
  /// One sentence for the index and the OpenAPI document.
  let summary: String
  let access: Access
  /// Under what name the action is recorded in the audit log, allowed or refused; nil if it changes nothing.
  let audit: String?
  let action: Action
  /// What it takes and gives; every administrators' route has one (a test sees to it).
  private(set) var description: RouteDescription?

  /// The least role that may use it; nil where anybody may.
  var role: AdminRole? {
    switch access {
    case .open: nil
    case .role(let role), .roleInProduction(let role): role
    case .adminInDevelopment: .admin
    }
  }

  private init(
    _ method: HTTPMethod, _ template: RouteTemplate, _ summary: String, _ access: Access, _ audit: String?, _ action: Action
  ) {
    self.method = method
    self.template = template
    self.summary = summary
    self.access = access
    self.audit = audit
    self.action = action
  }

  /// The same route with its description: requests are judged by it before the route sees them.
  func described(_ description: RouteDescription) -> Route {
    var route = self
    route.description = description
    return route
  }

  /// Something to look at that needs no store.
  static func glance(
    _ template: RouteTemplate, _ summary: String, access: Access = .open,
    _ body: @escaping @Sendable (RouteCall) throws(APIError) -> HTTPResponse
  ) -> Route {
    Route(.GET, template, summary, access, nil, .immediate(body))
  }

  /// Something to read from the store, for all administrators.
  static func listing(
    _ template: RouteTemplate, _ summary: String, _ body: @escaping @Sendable (RouteCall) throws(APIError) -> HTTPResponse
  ) -> Route {
    Route(.GET, template, summary, .viewer, nil, .blocking(body))
  }

  /// Something to read that others must have written first, for all administrators.
  static func awaitedListing(
    _ template: RouteTemplate, _ summary: String,
    _ body: @escaping @Sendable (RouteCall) async throws(APIError) -> HTTPResponse
  ) -> Route {
    Route(.GET, template, summary, .viewer, nil, .waiting(body))
  }

  /// Something that an administrator changes; takes the role of administrators unless it says otherwise.
  static func change(
    _ method: HTTPMethod, _ template: RouteTemplate, audit: String?, _ summary: String, access: Access = .admin,
    _ body: @escaping @Sendable (RouteCall) async throws(APIError) -> HTTPResponse
  ) -> Route {
    Route(method, template, summary, access, audit, .waiting(body))
  }
}
