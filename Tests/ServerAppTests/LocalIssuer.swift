import Credentials
import Crypto
import NIOHTTP1
import NIOSSL
import ServerTestSupport
import StorageCore
import Synchronization
import TestSupport
import TreeModel

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
