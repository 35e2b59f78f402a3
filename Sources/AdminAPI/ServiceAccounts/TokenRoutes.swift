import APISupport
import Credentials
import HTTPServer
import Logging
import NIOCore
import NIOHTTP1
import TreeModel

/// Access tokens for what a service account has signed (RFC 7523 §2.1; RFC 6749 §5).
///
/// Errors have the shape and the words that Google's libraries know: `{"error": "invalid_grant", "error_description": …}`.
package enum TokenRoutes {
  /// The longest request, in bytes: an assertion and its frame.
  private static let bodyBytesMax = 32_768

  package static let routes: [Route] = ["/token", "/oauth2/v4/token", "/oauth2.googleapis.com/token"].map { path in
    Route.change(
      .POST, RouteTemplate(stringLiteral: path), audit: nil, "An access token for a service account's signed assertion.",
      access: .open
    ) { (call) throws(APIError) in
      exchange(call)
    }
  }

  private static func exchange(_ call: RouteCall) -> HTTPResponse {
    guard let desk = call.services.serviceAccounts else {
      return refusal("invalid_client", "This server has no service accounts.", .unauthorized)
    }
    guard let body = call.request.body, body.readableBytes <= bodyBytesMax,
      let form = QueryString(parsing: body.readableBytesView)
    else { return refusal("invalid_request", "The body must be a form (application/x-www-form-urlencoded).") }
    guard form["grant_type"] == ServiceAccountAssertion.grantType else {
      return refusal("unsupported_grant_type", "grant_type must be \(ServiceAccountAssertion.grantType).")
    }
    guard let assertion = form["assertion"], !assertion.isEmpty else {
      return refusal("invalid_request", "The parameter assertion is missing.")
    }
    do throws(TokenFault) {
      let granted = try desk.exchange(assertion)
      return unstored(
        .json(["access_token": .string(granted.token), "expires_in": .int(granted.seconds), "token_type": "Bearer"]))
    } catch {
      call.services.logger.warning("an access token was refused", metadata: ["reason": "\(error)"])
      return refusal("invalid_grant", words(for: error))
    }
  }

  /// What Google says where it says something of its own; its libraries' users know these sentences.
  private static func words(for fault: TokenFault) -> String {
    switch fault {
    case .badSignature: "Invalid JWT Signature."
    case .unknownKey: "Invalid grant: account not found. It may have been revoked."
    case .expired, .notYetValid:
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check the clock. \(fault)"
    default: "Invalid JWT: \(fault)"
    }
  }

  private static func refusal(_ code: String, _ text: String, _ status: HTTPResponseStatus = .badRequest) -> HTTPResponse {
    unstored(.json(["error": .string(code), "error_description": .string(text)], status: status))
  }

  private static func unstored(_ response: HTTPResponse) -> HTTPResponse {
    response.adding("Cache-Control", "no-store").adding("Pragma", "no-cache")
  }
}
