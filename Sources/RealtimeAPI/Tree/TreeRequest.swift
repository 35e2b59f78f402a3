import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TreeModel

/// A request for the tree, understood: who asks for what, where and how.
final class TreeRequest: Sendable {
  enum Method: Sendable {
    case get
    case put
    case patch
    case post
    case delete
  }

  let method: Method
  let target: PathTarget
  /// The namespace's name.
  let namespace: String
  let parameters: TreeParameters
  let caller: Caller
  let wantsETag: Bool
  let ifMatch: String?
  let ifNoneMatch: String?
  let idempotencyKey: String?
  let waitsForEffects: Bool
  let requestID: String?
  let wantsStream: Bool

  init(_ request: HTTPRequest, _ target: RequestTarget, services: RealtimeServices) throws(APIError) {
    let headers = TreeHeaders(request.head)
    parameters = try TreeParameters(target.query)
    method = try Self.method(request.method, overridden: headers.methodOverride ?? parameters.methodOverride)
    self.target = try TreeAddress.target(target.path)
    namespace = try Self.namespace(parameters.namespace, host: headers.host, default: services.defaultNamespace)
    let accessToken = headers.bearer ?? parameters.accessToken
    // Without a token there is nothing that a foreign page could misuse.
    let hasToken = accessToken != nil || parameters.idToken != nil
    do throws(AccessError) {
      caller = try services.authenticator.caller(
        RequestCredentials(
          accessToken: accessToken, idToken: parameters.idToken, override: parameters.authOverride,
          isForeign: hasToken && services.isForeign(request.headers))
      ).onTree()
    } catch {
      throw APIError(error)
    }
    wantsETag = headers.wantsETag
    ifMatch = headers.ifMatch
    ifNoneMatch = headers.ifNoneMatch
    idempotencyKey = headers.idempotencyKey
    waitsForEffects = headers.waitsForEffects
    wantsStream = headers.wantsStream
    requestID = headers.requestID.map { String($0.prefix(128)) }
    if let wait = headers.unknownWait {
      throw .badRequest("X-Doubloon-Wait: \"\(wait.prefix(40))\" is unknown; the only value is \"effects\".")
    }
    try check(services)
  }

  private static func method(_ method: HTTPMethod, overridden: String?) throws(APIError) -> Method {
    var name = method
    if method == .POST, let overridden { name = HTTPMethod(rawValue: overridden.uppercased()) }
    switch name {
    case .GET, .HEAD: return .get
    case .PUT: return .put
    case .PATCH: return .patch
    case .POST: return .post
    case .DELETE: return .delete
    default:
      throw APIError(
        .methodNotAllowed, "method_not_allowed", "\(name.rawValue) is not supported here; use GET, PUT, PATCH, POST or DELETE.",
        headers: [HTTPResponse.Header("Allow", "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS")])
    }
  }

  /// The namespace's name: `ns`, else the first label of the host, else the default (Firebase's REST reference).
  static func namespace(_ named: String?, host: String?, default fallback: String) throws(APIError) -> String {
    if let named {
      guard NamespaceName.isLegal(named) else {
        throw .badRequest("ns must be a namespace's name: 1 to 64 letters, digits and hyphens.")
      }
      return named
    }
    // A host that is no legal name is a proxy's, not a namespace.
    guard let host, let label = HostName.namespace(in: host).map(String.init), NamespaceName.isLegal(label) else {
      return fallback
    }
    return label
  }

  var isRead: Bool { method == .get }

  /// What does not go together, whatever the data (Firebase's REST reference, query parameters).
  private func check(_ services: RealtimeServices) throws(APIError) {
    let mayAdminister = caller.isAdmin || services.access.isDevelopment
    if parameters.suppressesTriggers, !mayAdminister {
      throw APIError(.unauthorized, "permission_denied", "disableTriggers needs an administrator's credentials.")
    }
    if parameters.isImport, !caller.isAdmin {
      throw APIError(.unauthorized, "permission_denied", "import needs an administrator's credentials.")
    }
    if parameters.isUnlimited, !caller.isAdmin {
      throw APIError(.unauthorized, "permission_denied", "writeSizeLimit=unlimited needs an administrator's credentials.")
    }
    if parameters.callback != nil, !isRead { throw .badRequest("callback works with GET only.") }
    if !isRead, parameters.isShallow { throw .badRequest("shallow works with GET only.") }
    if !isRead, !parameters.query.isEmpty { throw .badRequest("orderBy, bounds and limits work with GET only.") }
    if ifMatch != nil { try checkCondition() }
    if wantsETag, method == .patch { throw .badRequest("X-Firebase-ETag is not supported for PATCH; read the node with GET.") }
    if target.isPriority, method == .post || method == .patch {
      throw .badRequest("A .priority has no children: write it with PUT.")
    }
  }

  private func checkCondition() throws(APIError) {
    guard method == .put || method == .delete else {
      throw .badRequest("if-match is supported for PUT and DELETE only; for reads use if-none-match.")
    }
    guard !target.isPriority else { throw .badRequest("if-match is not supported for .priority; address the node itself.") }
    if case .silent = parameters.printing { throw .badRequest("if-match cannot be used with print=silent.") }
  }
}

/// The headers that mean something to the tree's requests, found in one walk.
///
/// Looking each up by name would compare every header with every name; this compares by length first, and makes texts only of
/// what is asked for.
struct TreeHeaders {
  private(set) var host: String?
  private(set) var authorization: String?
  private(set) var methodOverride: String?
  /// `X-Firebase-ETag: true`.
  private(set) var wantsETag = false
  /// The data hash in `if-match`; empty for `null_etag`, which expects absence.
  private(set) var ifMatch: String?
  private(set) var ifNoneMatch: String?
  private(set) var idempotencyKey: String?
  /// `X-Doubloon-Wait: effects`.
  private(set) var waitsForEffects = false
  /// A value of `X-Doubloon-Wait` that means nothing.
  private(set) var unknownWait: String?
  private(set) var requestID: String?
  /// Whether the client accepts `text/event-stream`.
  private(set) var wantsStream = false

  init(_ head: RequestHead) {
    head.forEachHeader { take($0, value: $1) }
  }

  private mutating func take(_ name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    switch name.count {
    case 4: if name.isSame(ignoringCase: "host") { host = Self.text(value) }
    case 6: if name.isSame(ignoringCase: "accept") { wantsStream = value.contains(ignoringCase: "text/event-stream") }
    case 8: if name.isSame(ignoringCase: "if-match") { ifMatch = ETag.hash(in: Self.text(value)) }
    case 12: if name.isSame(ignoringCase: "x-request-id") { requestID = Self.text(value) }
    case 13:
      if name.isSame(ignoringCase: "authorization") { authorization = Self.text(value) }
      if name.isSame(ignoringCase: "if-none-match") { ifNoneMatch = ETag.hash(in: Self.text(value)) }
    case 15:
      if name.isSame(ignoringCase: "x-firebase-etag") { wantsETag = value.isSame(ignoringCase: "true") }
      if name.isSame(ignoringCase: "idempotency-key") { idempotencyKey = Self.text(value) }
      if name.isSame(ignoringCase: "x-doubloon-wait") { wait(value) }
    case 22: if name.isSame(ignoringCase: "x-http-method-override") { methodOverride = Self.text(value) }
    default: break
    }
  }

  private mutating func wait(_ value: UnsafeRawBufferPointer) {
    if value.isSame(ignoringCase: "effects") { waitsForEffects = true } else { unknownWait = Self.text(value) }
  }

  private static func text(_ value: UnsafeRawBufferPointer) -> String { String(decoding: value, as: UTF8.self) }

  /// The token behind `Bearer`.
  var bearer: String? { authorization.flatMap(HTTPHeaders.bearer) }
}
