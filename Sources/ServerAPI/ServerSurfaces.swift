import NIOHTTP1

/// Puts the surfaces of the server together. The contents page of the one port:
///
/// | Path | Surface |
/// |---|---|
/// | `/<path>.json` | ``TreeRoutes``: the Realtime Database |
/// | `/.ws`, `/.lp` | ``SocketDoor``: the Realtime Database's socket |
/// | the links' hosts and prefixes | ``LinkDoor`` |
/// | `/v1/shortLinks`, `/v1/installAttribution`, … | ``LinkRoutes`` |
/// | `/invites/render`, `/v1/invites…` | ``InviteRoutes`` |
/// | `/v1/referrals` | ``ReferralRoutes`` |
/// | `/.settings/…`, `/.inspect/…` | ``SettingsRoutes`` |
/// | `/identitytoolkit.googleapis.com/…`, `/v1/accounts:*`, `/v1/token`, `/__/auth/action`, `/emulator/…` | ``IdentitySurface``: accounts |
/// | `/admin/v1/…` | ``AdminRoutes`` |
/// | `/.well-known/jwks.json`, Google's places for keys | ``KeyRoutes`` |
/// | `/token` | ``TokenRoutes``: access tokens of service accounts |
/// | `/healthz`, `/readyz`, `/metrics` | ``OperationRoutes`` |
public struct ServerSurfaces: Sendable {
  private let services: ServerServices
  private let callers: CallerIdentification

  public init(services: ServerServices) {
    self.services = services
    callers = CallerIdentification(authenticator: services.authenticator, origins: services.origins)
  }

  /// What answers clients. Of two routes that match a request the earlier one answers.
  ///
  /// - Parameter sockets: answers long polling; nil where there are no sockets.
  public func router(sockets: SocketDoor?) -> RequestRouter {
    let surfaces: [(any RequestSurface)?] = [
      LinkDoor(services: services), sockets, services.accounts.map { IdentitySurface(services: services, book: $0) },
    ]
    return RequestRouter(
      callers: callers, leading: TreeRoutes(services: services), surfaces: surfaces.compactMap(\.self), table: table(of: routes)
    )
  }

  /// What answers on the port that only this machine reaches.
  public func metricsResponder() -> MetricsResponder {
    MetricsResponder(table: table(of: OperationRoutes.keyless))
  }

  private var routes: [Route] {
    OperationRoutes.routes + SettingsRoutes.routes + LinkRoutes.routes + InviteRoutes.routes + ReferralRoutes.routes
      + AdminRoutes.routes + KeyRoutes.routes + TokenRoutes.routes
  }

  private func table(of routes: [Route]) -> RouteTable {
    RouteTable(
      routes: routes.map { $0.bound(to: services) }, callers: callers, isDevelopment: services.isDevelopment,
      pool: services.adminPool, audit: services.audit)
  }
}
