import Logging
public import NIOHTTP1
import TreeModel

/// Decides who answers a request. The contents page of the whole server:
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
///
/// The tree is asked first, without a look at the table: it is what nearly every request is for.
public struct RequestRouter: RequestResponder {
  private let services: ServerServices
  private let tree: TreeRoutes
  let sockets: SocketDoor?
  private let identity: IdentitySurface?
  private let links: LinkDoor?
  private let table: RouteTable

  /// Gathers the routes of every surface. Of two that match a request the earlier answers.
  ///
  /// - Parameter sockets: answers long polling; nil where there are no sockets.
  public init(services: ServerServices, sockets: SocketDoor? = nil) {
    self.services = services
    self.sockets = sockets
    tree = TreeRoutes(services: services)
    identity = services.accounts.map { IdentitySurface(services: services, book: $0) }
    links = LinkDoor(services: services)
    table = RouteTable(
      services: services,
      routes: OperationRoutes.routes + SettingsRoutes.routes + LinkRoutes.routes + InviteRoutes.routes
        + ReferralRoutes.routes + AdminRoutes.routes + KeyRoutes.routes + TokenRoutes.routes)
  }

  public func respond(to request: HTTPRequest, sink: ResponseSink) {
    guard let target = RequestTarget(request.uri) else {
      return sink.send(.error(.badRequest, "The URL is not valid: it must begin with / and be percent-encoded UTF-8."))
    }
    if TreeAddress.isTree(target.path) {
      tree.respond(to: request, target, sink: sink)
    } else if let refusal = services.origins?.refusal(of: request.headers), Self.administers(target) {
      sink.send(refusal.adminResponse)
    } else if links?.respond(to: request, target, sink: sink) != true,
      sockets?.respond(to: request, target, sink: sink) != true,
      identity?.respond(to: request, target, sink: sink) != true
    {
      table.respond(to: request, target, sink: sink)
    }
  }

  /// Whether a path is one that the server is administered by, also where it asks for no credentials.
  private static func administers(_ target: RequestTarget) -> Bool {
    guard let path = target.segments else { return false }
    switch path.first {
    case "admin", "console", ".settings", ".inspect": return true
    case "emulator": return path.dropFirst().first == "v1"
    default: return false
    }
  }

  /// Bytes of body that everybody may send, whatever comes of it.
  static let openBytesMax = 64 << 10

  public func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? {
    // Nearly every body is short, and says so.
    let length = head.headers.first(name: "content-length").flatMap { Int($0) }
    let mayBeLong = length.map { $0 > Self.openBytesMax } ?? head.headers.contains(name: "transfer-encoding")
    guard mayBeLong || Self.mayBeUnlimited(head.uri) else { return nil }
    guard let target = RequestTarget(head.uri) else { return BodyLimit(bytesMax: Self.openBytesMax) }
    guard mayBeLong || target.query["writeSizeLimit"] == "unlimited" else { return nil }
    if TreeAddress.isTree(target.path) { return tree.bodyLimit(for: head, target) }
    // Elsewhere only administrators have much to send.
    return caller(of: head, target)?.role == nil ? BodyLimit(bytesMax: Self.openBytesMax) : nil
  }

  /// Whether the address may hold `writeSizeLimit=unlimited`: what is percent-encoded may say it in other letters.
  private static func mayBeUnlimited(_ uri: String) -> Bool {
    var uri = uri
    return uri.withUTF8 {
      let uri = UnsafeRawBufferPointer($0)
      return uri.contains("unlimited") || uri.first(UInt8(ascii: "%")) != nil
    }
  }

  public func standing(of head: HTTPRequestHead) -> ClientStanding {
    RequestTarget(head.uri).flatMap { caller(of: head, $0) }?.standing ?? .stranger
  }

  /// Who sends a request, by its head alone; nil if its credentials are not good.
  private func caller(of head: HTTPRequestHead, _ target: RequestTarget) -> Caller? {
    try? services.authenticator.caller(
      RequestCredentials(
        accessToken: TreeHeaders(head.headers).bearer ?? target.query["access_token"], idToken: target.query["auth"],
        isForeign: services.isForeign(head.headers)))
  }
}
