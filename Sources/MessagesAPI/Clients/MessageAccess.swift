import APISupport
import HTTPServer
import Messages
import NIOHTTP1
import StorageCore
import TreeModel

/// Who calls: an app by its key, an installation by its token, a player by an ID token.
struct MessageAccess {
  let call: RouteCall
  let messages: MessageService

  init(_ call: RouteCall) throws {
    guard let messages = call.services.messages else {
      throw MessagesAPIError(.notFound, "This server serves no messages.")
    }
    self.call = call
    self.messages = messages
  }

  func header(_ name: String) -> String? { call.request.headers.first(name: name).flatMap { $0.isEmpty ? nil : $0 } }

  /// Checks the key of the app, where keys are set.
  func checkKey() throws {
    let keys = call.services.keys()
    guard !keys.isEmpty else { return }
    guard let text = call.query["key"] ?? header("x-goog-api-key"), !text.isEmpty else {
      throw MessagesAPIError(
        .permissionDenied, "The request is missing an API key: add ?key=KEY, one of \"apiKeys\" of the link settings.")
    }
    guard let key = keys.first(where: { $0.key == text }) else {
      throw MessagesAPIError(.invalidArgument, "API key not valid. Please pass a valid API key.")
    }
    let bundle = header("x-ios-bundle-identifier") ?? "<empty>"
    guard key.bundleIDs.isEmpty || key.bundleIDs.contains(bundle) else {
      throw MessagesAPIError(.permissionDenied, "Requests from this iOS client application \(bundle.prefix(100)) are blocked.")
    }
  }

  /// The token of the installation, from the header, or the address of a stream.
  var token: String? { header("x-goog-firebase-installations-auth") ?? call.query["token"] }

  /// The player of the ID token; nobody without one.
  func player() throws -> Caller {
    guard let token = call.request.headers.bearer ?? call.query["auth"] else { return .anonymous }
    do throws(AccessError) {
      let isForeign = call.services.isForeign(call.request.headers)
      return try call.services.authenticator.caller(RequestCredentials(idToken: token, isForeign: isForeign))
    } catch {
      throw MessagesAPIError(error.isTemporary ? .unavailable : .unauthenticated, error.message)
    }
  }

  /// Whether the client is one of this server's, which knows more than Firebase's.
  var isOwnClient: Bool { header("x-doubloon-client") != nil }
}

extension Caller {
  /// The player; nil for anybody else.
  var uid: String? { if case .user(let uid) = actor { uid } else { nil } }
}

extension Route {
  typealias Body = @Sendable (MessageAccess, JSON) async throws -> JSON

  /// A route that answers errors in Google's form.
  static func client(_ method: HTTPMethod, _ template: RouteTemplate, summary: String, body: @escaping Body) -> Route {
    .mutate(method, template: template, audit: nil, summary: summary, access: .open) { call in
      do {
        return .json(try await body(try MessageAccess(call), try call.body()))
      } catch {
        return MessagesAPIError(error).response
      }
    }
  }
}
