import ClientRuntime
import Foundation
import TextFormats
import TreeModel

/// Speaks to a server: JSON in, JSON out. Accounts, links and invitations are asked by it.
struct ServiceClient: Sendable {
  let runtime: AppRuntime
  /// Instead of the app's server: what ``Auth/useEmulator(withHost:port:)`` set.
  let override: Locked<ServiceAddress?>

  /// What a server answered with a status of refusal.
  struct Refusal: Error {
    let status: Int
    let json: JSON
    /// `error.message`, or the text itself.
    var message: String { json["error"]?["message"]?.string ?? json["error"]?.string ?? "The server refused (\(status))." }
  }

  /// - `target`: the path, and `?` where there is a query; the key is added.
  /// - Throws: `TransportError`; ``Refusal``; ``AuthError`` without an app.
  func call(
    _ method: String, _ target: String, body: JSON?, bearer: String? = nil, language: String? = nil
  ) async throws -> JSON {
    guard let server = override.copy ?? runtime.server else {
      let message =
        runtime.options.copy.server == nil ? nil : "The server's address is none; write it like https://play.example.com."
      throw AuthError(.notConfigured, message)
    }
    var headers: [(name: String, value: String)] = []
    let members = runtime.options.copy
    if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
    if let language { headers.append(("X-Firebase-Locale", language)) }
    if !members.bundleID.isEmpty { headers.append(("X-Ios-Bundle-Identifier", members.bundleID)) }
    let key = PercentEncoding.encode(members.apiKey.flatMap { $0.isEmpty ? nil : $0 } ?? "none")
    let request = HTTPRequest(
      method, target + (target.contains("?") ? "&" : "?") + "key=\(key)", at: server, headers: headers,
      body: body.map { Array($0.compactText.utf8) })
    let response = try await runtime.http.send(request)
    guard let json = try? JSONParser.parse(response.body, depthMax: 64, valuesMax: 1 << 20), json.object != nil else {
      throw TransportError(
        .badResponse, "What \(server) answered (status \(response.status)) is no JSON; is that a Doubloon server?")
    }
    guard (200..<300).contains(response.status) else { throw Refusal(status: response.status, json: json) }
    return json
  }
}

/// The calls of the Identity Toolkit that an app makes.
struct IdentityClient: Sendable {
  let service: ServiceClient
  /// The language of mails.
  let language: Locked<String?>
  /// Whose players sign in.
  let tenant: Locked<String?>

  /// A call of `accounts:NAME`.
  ///
  /// - Throws: ``AuthError``, or `CancellationError`.
  func accounts(_ name: String, _ body: JSON, version: String = "v1", email: String? = nil) async throws -> JSON {
    let separator = name.hasPrefix("mfa") ? "/" : ":"
    var body = body
    // A session is of its own tenant, whatever is set now.
    if body["idToken"] == nil, let tenant = tenant.copy, let members = body.object {
      body = .object(members + [JSON.Member(key: "tenantId", value: .string(tenant))])
    }
    do {
      return try await service.call("POST", "/\(version)/accounts\(separator)\(name)", body: body, language: language.copy)
    } catch let refusal as ServiceClient.Refusal {
      // 5xx says nothing of the account: it must never end a session.
      if refusal.status >= 500 { throw AuthError(.networkError, "The server has a problem: \(refusal.message)") }
      throw AuthError(wire: refusal.message, email: email)
    } catch let error as TransportError {
      throw AuthError(error)
    }
  }

  /// New tokens for a refresh token.
  func refresh(_ refreshToken: String) async throws -> Tokens {
    do {
      let body: JSON = ["grantType": "refresh_token", "refreshToken": .string(refreshToken)]
      let json = try await service.call("POST", "/v1/token", body: body)
      guard let id = json["id_token"]?.string, let refresh = json["refresh_token"]?.string else { throw Self.unreadable }
      return Tokens(
        id: id, refresh: refresh, lifetime: json["expires_in"]?.seconds, now: service.runtime.clock.milliseconds)
    } catch let refusal as ServiceClient.Refusal {
      if refusal.status >= 500 { throw AuthError(.networkError, "The server has a problem: \(refusal.message)") }
      throw AuthError(wire: refusal.message)
    } catch let error as TransportError {
      throw AuthError(error)
    }
  }

  /// The tokens in an answer to a sign-in.
  func tokens(in json: JSON) throws -> Tokens {
    guard let id = json["idToken"]?.string, let refresh = json["refreshToken"]?.string else { throw Self.unreadable }
    return Tokens(id: id, refresh: refresh, lifetime: json["expiresIn"]?.seconds, now: service.runtime.clock.milliseconds)
  }

  /// The account of an ID token.
  func lookup(_ idToken: String) async throws -> JSON {
    let json = try await accounts("lookup", ["idToken": .string(idToken)])
    guard let users = json["users"]?.array, users.count == 1 else { throw Self.unreadable }
    return users[0]
  }

  private static let unreadable = AuthError(
    .internalError, "The answer of the server lacks what it should hold; is that a Doubloon server?")
}

/// The tokens of a session.
struct Tokens: Sendable, Codable, Equatable {
  var id: String
  var refresh: String
  /// When the ID token ends, in milliseconds of this device's clock: a clock that is wrong is wrong for both.
  var endsAt: Int64

  init(id: String, refresh: String, lifetime: Int64?, now: Int64) {
    self.id = id
    self.refresh = refresh
    endsAt = now + min(max(lifetime ?? 3600, 0), 86_400) * 1000
  }

  /// The claims of the ID token, which the server has checked, not this app.
  var claims: JSON {
    let parts = id.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return [:] }
    var text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    guard let data = Data(base64Encoded: text) else { return [:] }
    return (try? JSONParser.parse(Array(data), depthMax: 32)) ?? [:]
  }
}

extension JSON {
  /// A number, or a number in a text, as the Identity Toolkit writes them.
  fileprivate var seconds: Int64? { int ?? string.flatMap { Int64($0) } }
  /// The same in milliseconds as a date.
  var date: Date? { seconds.map { Date(timeIntervalSince1970: Double($0) / 1000) } }
}
