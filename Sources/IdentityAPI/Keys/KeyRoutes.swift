import Credentials
import HTTPServer
import NIOHTTP1
import TreeModel

/// The public keys that users' tokens are checked with: where everybody looks, and where Google publishes its own.
package enum KeyRoutes {
  private static let account = "securetoken@system.gserviceaccount.com"

  package static let routes: [Route] =
    [jwks("/.well-known/jwks.json")]
    + ["", "/www.googleapis.com"].flatMap { host in
      [
        jwks("\(host)/service_accounts/v1/jwk/\(account)"), certificates("\(host)/robot/v1/metadata/x509/\(account)"),
        // Those of session cookies: the same keys.
        certificates("\(host)/identitytoolkit/v3/relyingparty/publicKeys"),
      ]
    }

  private static func jwks(_ path: String) -> Route {
    .get(RouteTemplate(stringLiteral: path), "The public keys of tokens, as a JWKS.") { call in
      answer(try published(call).jwks)
    }
  }

  private static func certificates(_ path: String) -> Route {
    .get(RouteTemplate(stringLiteral: path), "The public keys of tokens, as certificates.") { call in
      answer(try published(call).certificates)
    }
  }

  private static func published(_ call: RouteCall) throws -> PublishedKeys {
    guard let keys = call.services.keys else {
      throw APIError(.notFound, "no_keys", "This server signs no tokens.")
    }
    do {
      return try keys.published()
    } catch {
      throw APIError(.internalServerError, "keys", "The keys cannot be published: \(error)")
    }
  }

  private static func answer(_ body: [UInt8]) -> HTTPResponse {
    // A key is published twice as long before it signs as it may be kept.
    HTTPResponse(.ok, body: body).adding("Cache-Control", value: "public, max-age=\(KeyRing.cacheSeconds), must-revalidate")
  }
}
