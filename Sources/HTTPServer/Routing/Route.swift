package import Credentials
package import NIOHTTP1
import Synchronization

/// Who may use a route.
package enum RouteAccess: Sendable {
  /// Anybody.
  case open
  /// An administrator's token, or a service account of this role or a higher one.
  case role(AdminRole)
  /// The role of administrators, and a server in development.
  case adminInDevelopment
  /// This role or a higher one; anybody in development.
  case roleInProduction(AdminRole)

  /// Who reads.
  package static let viewer = RouteAccess.role(.viewer)
  /// Who repairs.
  package static let support = RouteAccess.role(.support)
  /// Who may everything.
  static let admin = RouteAccess.role(.admin)
}

/// What is declared of a route, without what it does: enough for indexes, documents and tests.
package struct RouteHead: Sendable {
  package let method: HTTPMethod
  package let template: RouteTemplate
  /// One sentence for the index and the OpenAPI document.
  package let summary: String
  package let access: RouteAccess
  /// Under what name the action is recorded in the audit log, allowed or refused; nil if it changes nothing.
  package let audit: String?
  /// What it takes and gives; every administrators' route has one (a test sees to it).
  package var description: RouteDescription? { lazyDescription?.value }
  fileprivate var lazyDescription: LazyDescription?
  /// Whether it cannot be undone, and one of the server's own pages may ask for it only soon after a credential was shown.
  package fileprivate(set) var needsProof = false

  /// The least role that may use it; nil where anybody may.
  package var role: AdminRole? {
    switch access {
    case .open: nil
    case .role(let role), .roleInProduction(let role): role
    case .adminInDevelopment: .admin
    }
  }
}

/// A description that is made once, when it is first asked for: those of all routes would take a third of a server's start.
private final class LazyDescription: Sendable {
  private let make: @Sendable () -> RouteDescription
  private let made = Mutex<RouteDescription?>(nil)

  init(_ make: @escaping @Sendable () -> RouteDescription) {
    self.make = make
  }

  var value: RouteDescription {
    made.withLock { made in
      let description = made ?? make()
      made = description
      return description
    }
  }
}

/// One route: what is answered where, and by what.
///
/// An API target declares its routes over the services that it answers with, and binds them to its own when the server is
/// put together: `Route.bound(to:)`. The table of routes knows bound ones only, so it knows no services.
package struct APIRoute<Services: Sendable>: Sendable {
  enum Action: Sendable {
    /// Answers at once, on the event loop.
    case immediate(@Sendable (APICall<Services>) throws -> HTTPResponse)
    /// Reads the store, on a thread of the pool.
    case blocking(@Sendable (APICall<Services>) throws -> HTTPResponse)
    /// Waits for others.
    case waiting(@Sendable (APICall<Services>) async throws -> HTTPResponse)
    /// Answers with a stream that goes on, on the event loop.
    case streaming(@Sendable (APICall<Services>, ResponseSink) throws -> Void)
    /// Answers with pieces that are read from the store, on threads of the pool.
    case downloading(@Sendable (APICall<Services>) throws -> HTTPDownload)
  }

  package private(set) var head: RouteHead
  let action: Action

  /// The same route with its description: requests are judged by it before the route sees them. It is made when it is first
  /// asked for.
  package func described(_ description: @autoclosure @escaping @Sendable () -> RouteDescription) -> APIRoute {
    var route = self
    route.head.lazyDescription = LazyDescription(description)
    return route
  }

  /// The same route, for what cannot be undone (``RouteHead/needsProof``).
  package func proved(_ needsProof: Bool) -> APIRoute {
    var route = self
    route.head.needsProof = needsProof
    return route
  }

  /// Something to look at that needs no store.
  package static func get(
    _ template: RouteTemplate, _ summary: String, access: RouteAccess = .open,
    _ body: @escaping @Sendable (APICall<Services>) throws -> HTTPResponse
  ) -> APIRoute {
    APIRoute(
      head: RouteHead(method: .GET, template: template, summary: summary, access: access, audit: nil),
      action: .immediate(body))
  }

  /// Something to read from the store, for all administrators.
  package static func list(
    _ template: RouteTemplate, _ summary: String,
    _ body: @escaping @Sendable (APICall<Services>) throws -> HTTPResponse
  ) -> APIRoute {
    APIRoute(
      head: RouteHead(method: .GET, template: template, summary: summary, access: .viewer, audit: nil),
      action: .blocking(body))
  }

  /// Something to read that others must have written first, for all administrators.
  package static func awaitedList(
    _ template: RouteTemplate, summary: String,
    body: @escaping @Sendable (APICall<Services>) async throws -> HTTPResponse
  ) -> APIRoute {
    APIRoute(
      head: RouteHead(method: .GET, template: template, summary: summary, access: .viewer, audit: nil),
      action: .waiting(body))
  }

  /// Something to be told of for as long as one listens, for all administrators unless it says otherwise.
  package static func stream(
    _ template: RouteTemplate, summary: String, access: RouteAccess = .viewer,
    body: @escaping @Sendable (APICall<Services>, ResponseSink) throws -> Void
  ) -> APIRoute {
    APIRoute(
      head: RouteHead(method: .GET, template: template, summary: summary, access: access, audit: nil),
      action: .streaming(body))
  }

  /// Something to take away that may be large, for all administrators; that it was taken is recorded.
  package static func download(
    _ template: RouteTemplate, audit: String, summary: String,
    body: @escaping @Sendable (APICall<Services>) throws -> HTTPDownload
  ) -> APIRoute {
    APIRoute(
      head: RouteHead(method: .GET, template: template, summary: summary, access: .viewer, audit: audit),
      action: .downloading(body))
  }

  /// Something that an administrator changes; takes the role of administrators unless it says otherwise.
  package static func mutate(
    _ method: HTTPMethod, template: RouteTemplate, audit: String?, summary: String, access: RouteAccess = .admin,
    body: @escaping @Sendable (APICall<Services>) async throws -> HTTPResponse
  ) -> APIRoute {
    APIRoute(
      head: RouteHead(method: method, template: template, summary: summary, access: access, audit: audit),
      action: .waiting(body))
  }
}

/// A route that brings its services with it.
package typealias BoundRoute = APIRoute<Void>

extension APIRoute {
  /// The route with what it answers with.
  package func bound(to services: Services) -> BoundRoute {
    let bound: BoundRoute.Action =
      switch action {
      case .immediate(let body): .immediate { call in try body(call.with(services)) }
      case .blocking(let body): .blocking { call in try body(call.with(services)) }
      case .waiting(let body): .waiting { call in try await body(call.with(services)) }
      case .streaming(let body): .streaming { call, sink in try body(call.with(services), sink) }
      case .downloading(let body): .downloading { call in try body(call.with(services)) }
      }
    return BoundRoute(head: head, action: bound)
  }
}

/// The path of a route: literal segments, `{name}` for one segment, `{name...}` for one or more.
///
/// At most one segment takes several, so a match is never ambiguous; event ids, which hold slashes, need it.
package struct RouteTemplate: Sendable, ExpressibleByStringLiteral {
  private enum Segment: Sendable {
    case literal(String)
    case one(String)
    case many(String)
  }

  package let text: String
  /// How many segments are given: of two templates that match, the one with more of them was meant.
  let literalCount: Int
  private let segments: [Segment]

  package init(stringLiteral text: String) {
    self.text = text
    segments = text.split(separator: "/").map { piece in
      guard piece.hasPrefix("{"), piece.hasSuffix("}") else { return .literal(String(piece)) }
      let name = piece.dropFirst().dropLast()
      return name.hasSuffix("...") ? .many(String(name.dropLast(3))) : .one(String(name))
    }
    literalCount = segments.count { if case .literal = $0 { true } else { false } }
    precondition(
      segments.count { if case .many = $0 { true } else { false } } <= 1, "\(text): one segment may take several, not two.")
  }

  /// What the open segments stand for in a path, given as decoded segments; nil if it does not match.
  func match(_ path: [String]) -> [String: String]? {
    let spare = path.count - segments.count
    guard spare >= 0 else { return nil }
    var captures: [String: String] = [:]
    var at = 0
    for segment in segments {
      guard at < path.count else { return nil }
      switch segment {
      case .literal(let text):
        guard path[at] == text else { return nil }
        at += 1
      case .one(let name):
        captures[name] = path[at]
        at += 1
      case .many(let name):
        captures[name] = path[at...at + spare].joined(separator: "/")
        at += spare + 1
      }
    }
    return at == path.count ? captures : nil
  }
}
