package import APISupport
package import AdminAPI
package import HTTPServer
package import IdentityAPI
package import LinksAPI
package import MessagesAPI
import NIOHTTP1
package import RealtimeAPI
package import WebConsole

/// All surfaces of the server, by path:
///
/// | Path | Surface |
/// |---|---|
/// | `/<path>.json` | `RealtimeAPI`, `TreeRoutes`: the Realtime Database |
/// | `/.ws`, `/.lp` | `RealtimeAPI`, `SocketRoutes`: the Realtime Database's socket |
/// | `/.settings/…`, `/.inspect/…` | `RealtimeAPI`, `SettingsRoutes` |
/// | the links' hosts and prefixes | `LinksAPI`, `LinkResponder` |
/// | `/v1/shortLinks`, `/v1/installAttribution`, … | `LinksAPI`, `LinkRoutes` |
/// | `/invites/render`, `/v1/invites…` | `LinksAPI`, `InvitationRoutes` |
/// | `/v1/referrals` | `LinksAPI`, `ReferralRoutes` |
/// | `/v1/projects/…/installations`, `/v1/sdkServing/…`, `/v1/messages/…`, `/log` | `MessagesAPI`, `MessageRoutes` |
/// | `/identitytoolkit.googleapis.com/…`, `/v1/accounts:*`, `/v1/token`, `/__/auth/action`, `/emulator/…` | `IdentityAPI`, `IdentitySurface` |
/// | `/.well-known/jwks.json`, Google's key paths | `IdentityAPI`, `KeyRoutes` |
/// | `/admin/v1/…` | `AdminAPI`, `AdminRoutes`; what is about links and referrals comes from `LinksAPI` |
/// | `/token` | `AdminAPI`, `TokenRoutes`: access tokens of service accounts |
/// | `/console/…`, and `/` for browsers | `WebConsole` |
/// | `/messages/…` | `WebConsole`, `WebMessages`: the web client of in-app messages |
/// | `/healthz`, `/readyz`, `/metrics` | `AdminAPI`, `OperationRoutes` |
package struct ServerSurfaces: Sendable {
  package let realtime: RealtimeServices
  package let identity: IdentityServices
  package let links: LinksServices
  package let messages: MessagesServices
  package let admin: AdminServices
  /// The pages of the administrators; nil where there are none.
  package let console: WebConsole?
  /// Pictures of in-app messages.
  package let images: MessageImages

  package init(
    realtime: RealtimeServices, identity: IdentityServices, links: LinksServices, messages: MessagesServices,
    admin: AdminServices,
    console: WebConsole? = nil, images: MessageImages = MessageImages()
  ) {
    self.realtime = realtime
    self.identity = identity
    self.links = links
    self.messages = messages
    self.admin = admin
    self.console = console
    self.images = images
  }

  package var context: ServerContext { admin.context }

  /// What answers clients. Of two routes that match a request the earlier one answers.
  ///
  /// - Parameter sockets: answers long polling; nil where there are no sockets.
  package func router(sockets: SocketRoutes?) -> RequestRouter {
    // The console before the accounts: what is no browser asks both at /, and only the accounts answer it.
    let surfaces: [(any RequestSurface)?] = [
      LinkResponder(services: links), sockets, console, WebMessages(images: images),
      identity.accounts.map { IdentitySurface(services: identity, accounts: $0) },
    ]
    return RequestRouter(
      callers: context.callers, leading: TreeRoutes(services: realtime), surfaces: surfaces.compactMap(\.self),
      table: table(of: routes))
  }

  /// What answers on the port that only this machine reaches.
  package func metricsResponder() -> MetricsResponder {
    MetricsResponder(table: table(of: OperationRoutes.keyless.map { $0.bound(to: admin) }))
  }

  private var routes: [BoundRoute] {
    let operating = OperationRoutes.routes.map { $0.bound(to: admin) }
    let settings = SettingsRoutes.routes.map { $0.bound(to: realtime) }
    let referring = (LinkRoutes.routes + InvitationRoutes.routes + ReferralRoutes.routes).map { $0.bound(to: links) }
    let telling = MessageRoutes.routes.map { $0.bound(to: messages) }
    let administering = AdminRoutes.routes(
      admin, referrals: ReferralRoutes.adminRoutes.map { $0.bound(to: links) },
      links: (LinkAdminRoutes.routes + InvitationAdminRoutes.routes).map { $0.bound(to: links) })
    let keys = KeyRoutes.routes.map { $0.bound(to: identity) }
    let tokens = TokenRoutes.routes.map { $0.bound(to: admin) }
    return operating + settings + referring + telling + administering + keys + tokens
  }

  /// What is declared of the administrators' routes.
  package static var adminHeads: [RouteHead] {
    AdminRoutes.heads(
      referrals: ReferralRoutes.adminRoutes.map(\.head),
      links: (LinkAdminRoutes.routes + InvitationAdminRoutes.routes).map(\.head))
  }

  private func table(of routes: [BoundRoute]) -> RouteTable {
    RouteTable(
      routes: routes, callers: context.callers, isDevelopment: context.isDevelopment, pool: context.pools.administrators,
      audit: context.audit, logger: context.logger)
  }
}

/// What requests of this server's surfaces count as.
enum RequestKind {
  /// What a request counts as: judged by what the router will see, however its path is spelt.
  static func of(_ request: HTTPRequest) -> RequestLimits.Kind {
    guard let path = RequestTarget.path(of: request.head) else { return .other }
    if TreeAddress.isTree(path) {
      guard request.method == .GET || request.method == .HEAD else { return .write }
      return request.head.first("accept")?.lowercased().contains("text/event-stream") == true ? .connection : .read
    }
    guard let segments = RequestTarget.segments(of: path), let first = segments.first else { return .other }
    switch first {
    case "admin", "metrics", ".settings", ".inspect": return .admin
    // Files that are in memory, a dozen for each page that is opened.
    case "console", "messages": return .read
    case "token" where segments.count == 1: return .admin
    case ".lp": return RequestTarget(request.head)?.query["start"] != nil ? .connection : .read
    case ".ws": return .connection
    case "invites", "log": return .link
    case "v1" where IdentityAddress(segments) == nil: return .link
    case ".well-known" where segments.count > 1 && segments[1].hasPrefix("a"): return .link
    default: return IdentityAddress(segments) != nil || IdentityAddress.isPrefixed(segments) ? .account : .other
    }
  }
}
