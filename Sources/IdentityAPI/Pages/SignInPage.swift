import Accounts
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// The pages that `signInWithPopup` and `signInWithRedirect` open in development, where no provider is asked: one on which
/// the developer chooses who to be, and the frame that hands the choice to the SDK (spec: auth-protocol §2.4, popup).
struct SignInPage {
  /// Identities that the page offers; the others can be typed in again.
  private static let offersMax = 50

  let surface: IdentitySurface

  /// `/emulator/auth/handler`: who is to sign in by this provider?
  func choice(_ query: QueryString, _ project: AccountProject) throws(AccountError) -> HTTPResponse {
    guard let provider = query["providerId"], !provider.isEmpty else {
      throw AccountError("MISSING_PROVIDER_ID", "The address has no providerId; SDKs add it.")
    }
    let isNamed = ["appName", "clientId", "appId", "apn", "ibi"].contains { query[$0]?.isEmpty == false }
    guard isNamed, query["authType"]?.isEmpty == false else {
      throw AccountError("INVALID_REQ_TYPE", "The address has no authType, or no application's name; SDKs add them.")
    }
    let known = try surface.book.identities(at: provider, of: project, limit: Self.offersMax)
    let offers = known.map { identity in
      let name = identity.displayName ?? identity.email ?? identity.rawID
      let address = identity.email.map { " <small>\(HTMLText.escaped($0))</small>" } ?? ""
      return
        "<p><button data-claims=\"\(HTMLText.escaped(Self.claims(identity)))\">\(HTMLText.escaped(name))</button>\(address)</p>"
    }
    let body = """
      <h1>Sign in by \(HTMLText.escaped(provider))</h1>
      <p>This is a development server: nobody is asked who you are. Choose.</p>
      \(offers.joined(separator: "\n"))
      <form><h2>Somebody new</h2>
      <p><label>Address <input name="email" type="email" autocomplete="off" placeholder="ann@example.com"></label></p>
      <p><label>Name <input name="name" autocomplete="off"></label></p>
      <p><label>Picture <input name="picture" type="url" autocomplete="off"></label></p>
      <p><label><input name="verified" type="checkbox" checked> the provider has verified the address</label></p>
      <p><button>Sign in</button></p></form>
      <p id="fault" role="alert"></p>
      """
    return Self.page("Sign in by \(provider)", body, script: Self.choiceScript)
      .adding("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
      .adding("Referrer-Policy", "no-referrer").adding("X-Frame-Options", "DENY")
  }

  /// `/emulator/auth/iframe`: stands hidden in the application's page and passes on what was chosen. The SDK talks to it by
  /// Google's frame library, which it loads from there as the application's page has done.
  static let frame = page(
    "Sign-in relay", "", script: frameScript, after: "<script src=\"https://apis.google.com/js/api.js\"></script>")

  /// What the SDK is told about an identity: as a provider would have signed it.
  private static func claims(_ identity: AccountRecord.Provider) -> String {
    let claims = JSON(fields: [
      ("sub", .string(identity.rawID)), ("email", identity.email.map(JSON.string)),
      ("email_verified", identity.email == nil ? nil : true), ("name", identity.displayName.map(JSON.string)),
      ("picture", identity.photoURL.map(JSON.string)), ("screen_name", identity.screenName.map(JSON.string)),
    ])
    var writer = JSONWriter()
    writer.write(claims)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func page(_ title: String, _ body: String, script: String, after: String = "") -> HTTPResponse {
    let html = """
      <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta name="robots" content="noindex"><title>\(HTMLText.escaped(title))</title>
      <body style="font-family:sans-serif;max-width:32em;margin:3em auto;padding:0 1em">
      \(body)
      <script>\(script)</script>\(after)
      </body></html>
      """
    return HTTPResponse(.ok, content: .html, body: Array(html.utf8))
  }
}
