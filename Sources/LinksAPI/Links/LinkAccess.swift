import APISupport
import HTTPServer
import Links
import NIOHTTP1
import StorageCore
import TreeDatabase

/// Who calls the links' API: an administrator, a player, an app by its key.
struct LinkAccess {
  let call: RouteCall
  let links: LinkService

  init(_ call: RouteCall) throws {
    guard let links = call.services.links else {
      throw LinksAPIError(.failedPrecondition, "This server serves no links.")
    }
    self.call = call
    self.links = links
  }

  /// The caller of the `Bearer` token; nobody without one.
  func caller() throws -> Caller {
    guard let token = call.request.headers.bearer ?? call.query["access_token"] else { return .anonymous }
    let authenticator = call.services.authenticator
    let isForeign = call.services.isForeign(call.request.headers)
    if let caller = try? authenticator.caller(RequestCredentials(accessToken: token, isForeign: isForeign)),
      caller.actor != .anonymous
    {
      return caller
    }
    // Apps send their player's ID token in this header.
    do throws(AccessError) {
      return try authenticator.caller(RequestCredentials(idToken: token, isForeign: isForeign))
    } catch {
      throw LinksAPIError(error.isTemporary ? .unavailable : .unauthenticated, error.message)
    }
  }

  /// An administrator, or nobody.
  ///
  /// - Parameter isLooking: whether any role will do, because nothing is changed.
  func admin(isLooking: Bool = false) throws -> Caller {
    let caller = try caller()
    guard caller.isAdmin || (isLooking && caller.role != nil) else {
      throw LinksAPIError(
        caller.actor == .anonymous ? .unauthenticated : .permissionDenied,
        "This needs an administrator's credentials: send Authorization: Bearer TOKEN.")
    }
    return caller
  }

  /// The client's network, for limits and guesses; nil if it is not known.
  var address: String? { call.request.client == .unknown ? nil : call.request.client.clientNetwork.description }

  /// Checks the key of an app.
  ///
  /// - Parameter method: `create` or `attribute`.
  func checkKey(for method: String) throws -> String {
    guard let text = call.query["key"] ?? call.request.headers.first(name: "x-goog-api-key"), !text.isEmpty else {
      throw LinksAPIError(
        .permissionDenied, "The request is missing an API key: add ?key=KEY, one of \"apiKeys\" of the link settings.")
    }
    guard let key = links.settings.apiKeys.first(where: { $0.key == text }) else {
      throw LinksAPIError(.invalidArgument, "API key not valid. Please pass a valid API key.")
    }
    guard key.methods.isEmpty || key.methods.contains(method) else {
      throw LinksAPIError(
        .permissionDenied, "Requests to this API method are blocked for this key: add \"\(method)\" to its methods.")
    }
    let bundle = call.request.headers.first(name: "x-ios-bundle-identifier") ?? "<empty>"
    guard key.bundleIDs.isEmpty || key.bundleIDs.contains(bundle) else {
      throw LinksAPIError(.permissionDenied, "Requests from this iOS client application \(bundle.prefix(100)) are blocked.")
    }
    return text
  }

  /// Counts a creation against the limits.
  func countCreation(key: String) throws {
    let limits = links.settings.limits
    let now = call.services.database.clock.now()
    guard links.admitsCreation(address: address, key: key, at: now) else {
      throw LinksAPIError(
        .resourceExhausted,
        "Too many links: \(limits.createPerSecond) a second from one address and \(limits.createPerDay) a day with one key are allowed."
      )
    }
  }
}
