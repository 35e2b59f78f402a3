import Credentials
import Logging
import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeModel
import Triggers

@testable import AdminClient
@testable import ServerApp
@testable import ServerConfiguration

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
    outlets: [any Outlet] = [], _ test: (IssuerServing) async throws -> Void
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

  /// Asks until something holds, which needs no time by the clock; false if it does not within 20 seconds.
  func until(_ holds: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
      if try await holds() { return true }
    }
    return false
  }
}

extension JSON {
  /// What a refusal of the accounts' surface says.
  var fault: String { self["error"]?["message"]?.string ?? "" }
}
