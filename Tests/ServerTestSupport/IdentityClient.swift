import HTTPServer
import IdentityAPI
import Testing
import TextFormats
package import TreeModel

/// A client of the accounts' surface: sends what SDKs send, over a real socket.
package struct IdentityClient: Sendable {
  package let server: APIServer

  package init(server: APIServer) {
    self.server = server
  }

  package static let owner = ["Authorization": "Bearer owner"]

  /// An answer: its status and its body.
  package struct Answer: Sendable {
    package let status: Int
    package let json: JSON

    package init(status: Int, json: JSON) {
      self.status = status
      self.json = json
    }

    package subscript(name: String) -> JSON? { json[name] }
    /// A text member; empty if there is none.
    package func text(_ name: String) -> String { json[name]?.string ?? "" }
    /// The error's message; empty if it is none.
    package var error: String { json["error"]?["message"]?.string ?? "" }
    /// The claims of the ID token.
    package var claims: JSON { Self.claims(of: text("idToken").isEmpty ? text("id_token") : text("idToken")) }

    package static func claims(of token: String) -> JSON {
      let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard parts.count == 3, let bytes = Base64.decode(parts[1]) else { return .null }
      return (try? JSONParser.parse(bytes)) ?? .null
    }
  }

  /// A POST to a method of v1 with a key: `accounts:signUp`.
  package func call(_ method: String, _ body: JSON = [:], headers: [String: String] = [:]) async throws -> Answer {
    try await send("POST", "/identitytoolkit.googleapis.com/v1/\(method)?key=k", body, headers: headers)
  }

  /// The same as an administrator.
  package func admin(_ method: String, _ body: JSON = [:]) async throws -> Answer {
    try await send("POST", "/identitytoolkit.googleapis.com/v1/projects/game/\(method)", body, headers: Self.owner)
  }

  package func send(_ verb: String, _ path: String, _ body: JSON? = nil, headers: [String: String] = [:]) async throws -> Answer
  {
    var headers = headers
    var text: String?
    if let body {
      headers["Content-Type"] = "application/json"
      var writer = JSONWriter()
      writer.write(body)
      text = String(decoding: writer.bytes, as: UTF8.self)
    }
    let response = try await server.send(verb, path, text, headers: headers)
    return Answer(status: response.status, json: response.json ?? .null)
  }

  /// A new anonymous player.
  package func anonymous() async throws -> Answer { try await call("accounts:signUp", ["returnSecureToken": true]) }

  /// Adds a password to an account.
  package func link(_ token: String, _ email: String, _ password: String = "secret1") async throws -> Answer {
    try await call(
      "accounts:signUp",
      ["idToken": .string(token), "email": .string(email), "password": .string(password), "returnSecureToken": true])
  }

  /// A new player with a password.
  package func player(_ email: String, _ password: String = "secret1") async throws -> Answer {
    try await call("accounts:signUp", ["email": .string(email), "password": .string(password)])
  }

  package func signIn(_ email: String, _ password: String = "secret1") async throws -> Answer {
    try await call("accounts:signInWithPassword", ["email": .string(email), "password": .string(password)])
  }

  package func lookup(_ token: String) async throws -> Answer { try await call("accounts:lookup", ["idToken": .string(token)]) }

  package func refresh(_ token: String) async throws -> Answer {
    try await send(
      "POST", "/securetoken.googleapis.com/v1/token?key=k",
      ["grantType": "refresh_token", "refreshToken": .string(token)])
  }

  /// Signs in with an identity that emulators believe, and links it if there is a token.
  package func provider(_ claims: JSON, _ id: String = "google.com", token: String? = nil, returnsConflict: Bool = false)
    async throws
    -> Answer
  {
    var writer = JSONWriter()
    writer.write(claims)
    let text = PercentEncoding.encode(String(decoding: writer.bytes, as: UTF8.self))
    return try await call(
      "accounts:signInWithIdp",
      .record([
        ("requestUri", "http://localhost"), ("postBody", .string("providerId=\(id)&id_token=\(text)")),
        ("idToken", token.map(JSON.string)), ("returnIdpCredential", returnsConflict ? true : nil),
      ]))
  }

  /// The last code that was mailed.
  package func lastCode() async throws -> String {
    let codes = try await send("GET", "/emulator/v1/projects/game/oobCodes")["oobCodes"]?.array ?? []
    return codes.last?["oobCode"]?.string ?? ""
  }
}
