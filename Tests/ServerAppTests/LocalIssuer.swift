@testable import AdminClient
import Credentials
import Crypto
import Logging
import NIOHTTP1
import NIOSSL
@testable import ServerApp
@testable import ServerConfiguration
import ServerTestSupport
import StorageCore
import Synchronization
import TestSupport
import Testing
import TextFormats
import TreeModel
import Triggers

/// Somebody else who issues ID tokens: on this machine, over TLS, with an authority of its own.
final class LocalIssuer: Sendable {
  /// How it answers.
  enum Mood: Sendable {
    case well
    case hangsUp
    case describesAnother
  }

  private struct State {
    var published: KeyRing
    var mood = Mood.well
    var fetches = 0
  }

  static let first = Result { try SigningKey(pem: TestKeys.first) }
  static let second = Result { try SigningKey(pem: TestKeys.second) }

  private let state: Mutex<State>

  init() throws {
    state = Mutex(State(published: KeyRing([.init(key: try Self.first.get(), signsFrom: 0)])))
  }

  static func tls() throws -> NIOSSLContext {
    try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.local.utf8)).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificates.localKey.utf8), format: .pem))))
  }

  /// How often keys were fetched.
  var fetches: Int { state.withLock(\.fetches) }
  func become(_ mood: Mood) { state.withLock { $0.mood = mood } }
  func publish(_ keys: [SigningKey]) {
    state.withLock { $0.published = KeyRing(keys.map { .init(key: $0, signsFrom: 0) }) }
  }

  /// Runs a test; `address` is where the issuer is, such as `https://localhost:40000`.
  func run(_ test: (_ address: String) async throws -> Void) async throws {
    try await TinyServer.run(tls: try Self.tls(), { [self] in answer($0) }) { server in
      try await test(server.address.replacing("http://127.0.0.1", with: "https://localhost"))
    }
  }

  private func answer(_ request: TinyServer.Request) -> TinyServer.Answer {
    let address = "https://" + (request.headers.first(name: "host") ?? "")
    return state.withLock { state in
      if state.mood == .hangsUp { return TinyServer.Answer(hangsUp: true) }
      switch request.uri {
      case "/.well-known/openid-configuration":
        let issuer = state.mood == .describesAnother ? "https://other.example" : address
        return .json(["issuer": .string(issuer), "jwks_uri": .string(address + "/jwks")])
      case "/jwks":
        state.fetches += 1
        return .json(state.published.jwks)
      case "/x509":
        state.fetches += 1
        return .json((try? state.published.certificates()) ?? .null)
      default: return TinyServer.Answer(status: 404)
      }
    }
  }

  /// The claims of a token that is good, with changes; nil takes one away.
  static func claims(_ issuer: String, at now: Int64, _ changes: [(String, JSON?)] = []) -> JSON {
    let usual: [(String, JSON?)] = [
      ("iss", .string(issuer)), ("aud", "game-client"), ("sub", "abc123"), ("iat", .int(now / 1000)),
      ("exp", .int(now / 1000 + 3600)), ("email", "Ann@X.io"), ("email_verified", true), ("name", "Ann"),
    ]
    let kept = usual.filter { name, _ in !changes.contains { $0.0 == name } } + changes
    return .object(kept.compactMap { name, value in value.map { JSON.Member(key: name, value: $0) } })
  }

  /// A token that says `HS256` and is made with the public key's text as the secret: who mistakes the one for the other
  /// believes it.
  static func confused(_ claims: JSON, key: SigningKey) -> String {
    let header: JSON = ["alg": "HS256", "kid": .string(key.id.text), "typ": "JWT"]
    let body = [header, claims].map { json in
      var writer = JSONWriter()
      writer.write(json)
      return Base64.encode(writer.bytes, as: .url)
    }.joined(separator: ".")
    let secret = SymmetricKey(data: Array(key.verificationKey.pem.utf8))
    let code = HMAC<SHA256>.authenticationCode(for: Array(body.utf8), using: secret)
    return body + "." + Base64.encode(Array(code), as: .url)
  }
}

/// A production server beside an issuer of tokens, both on this machine, on a clock that stands still.
struct IssuerServing {
  static let start: Int64 = 1_800_000_000_000

  let issuer: LocalIssuer
  /// Where the issuer is.
  let address: String
  let port: Int
  let clock: AdjustableClock
  let application: Application
  /// Where the configuration and the data are.
  let folder: TemporaryFolder

  /// Runs a test.
  ///
  /// - Parameter accounts: the section of the configuration; `ISSUER` stands for the issuer's address.
  static func run(
    _ accounts: String, rules: String = "{\"rules\": {\"users\": {\"$uid\": {\".read\": \"auth.uid === $uid\"}}}}",
    mood: LocalIssuer.Mood = .well, logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
    outlets: [any OutboxTransport] = [], _ test: (IssuerServing) async throws -> Void
  ) async throws {
    let issuer = try LocalIssuer()
    issuer.become(mood)
    try await issuer.run { address in
      let section = accounts.replacing("ISSUER", with: address)
      let deployment = try ServeTests.Deployment(rules: rules, more: "\"rateLimits\": false, \"accounts\": {\(section)}")
      try deployment.write(TestCertificates.authority, "ca.pem")
      var configuration = try deployment.configuration
      let clock = AdjustableClock(frozenAt: start)
      configuration.clock = clock
      configuration.passwordCost = .test
      let application = try Application(configuration: configuration, logger: logger, outlets: outlets) { _ in }
      let port = try await application.start()
      do {
        try await test(
          IssuerServing(
            issuer: issuer, address: address, port: port, clock: clock, application: application,
            folder: deployment.folder))
        await application.stop()
      } catch {
        await application.stop()
        throw error
      }
    }
  }

  /// Sends one request on a connection of its own.
  func send(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil, headers: HTTPHeaders = [:])
    async throws -> (status: Int, json: JSON, headers: HTTPHeaders)
  {
    let client = try AdminClient(
      server: "http://127.0.0.1:\(port)", token: token, limits: .init(idleConnectionsMax: 0))
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    let query = parts.count > 1 ? parts[1] : ""
    let items = query.split(separator: "&").compactMap { pair -> QueryItem? in
      let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
      return QueryItem(sides[0], sides.count > 1 ? sides[1] : "")
    }
    let bytes = body.map { json in
      var writer = JSONWriter()
      writer.write(json)
      return writer.bytes
    }
    let answer = try await client.send(method, parts[0], query: items, headers: headers, body: bytes)
    return (answer.status, (try? JSONParser.parse(answer.body)) ?? .null, answer.headers)
  }

  /// Signs a player in with a provider's token.
  func signIn(_ token: String, by provider: String = "oidc.guild", nonce: String? = nil, linking idToken: String? = nil)
    async throws -> (status: Int, json: JSON, headers: HTTPHeaders)
  {
    let form = "providerId=\(provider)&id_token=\(token)" + (nonce.map { "&nonce=\($0)" } ?? "")
    var members: [JSON.Member] = [
      .init(key: "requestUri", value: "http://localhost"), .init(key: "postBody", value: .string(form)),
      .init(key: "returnSecureToken", value: true),
    ]
    if let idToken { members.append(.init(key: "idToken", value: .string(idToken))) }
    return try await send(.POST, "/v1/accounts:signInWithIdp?key=k", .object(members))
  }

  /// Reads a record with a token in the parameter `auth`, again while the issuer's keys are not there yet.
  func read(_ path: String, auth: String) async throws -> Int {
    var status = 503
    _ = try await until {
      let answer = try await send(.GET, "\(path)?auth=\(auth)")
      status = answer.status
      if status == 503 { #expect(answer.headers["Retry-After"] == ["1"]) }
      return status != 503
    }
    return status
  }

  /// Asks until something holds, which needs no time by the clock; false if it does not within two minutes.
  func until(_ holds: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if try await holds() { return true }
    }
    return false
  }
}

extension JSON {
  /// What a refusal of the accounts' surface says.
  var errorMessage: String { self["error"]?["message"]?.string ?? "" }
}
