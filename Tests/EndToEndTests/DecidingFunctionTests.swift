import AdminClient
import FunctionsKit
import NIOHTTP1
import ServerConfiguration
import ServerTestSupport
import StorageCore
import Synchronization
import Testing
import TextFormats
import TreeModel

/// Functions of a deployment that are asked before an account is made and before a session begins, over the wire.
struct DecidingFunctionTests {
  private static let signUp = "/identitytoolkit.googleapis.com/v1/accounts:signUp"
  private static let configuration = "/identitytoolkit.googleapis.com/v2/projects/demo/config"

  private struct Answer {
    let status: Int
    let json: JSON
    var message: String { json["error"]?["message"]?.string ?? "" }
  }

  private func post(_ server: RunningServer, _ path: String, _ body: JSON) async throws -> Answer {
    let answer = try await server.player.send(
      .POST, path, query: [QueryItem("key", "k")], headers: ["Content-Type": "application/json"],
      body: Array(body.compactText.utf8))
    return Answer(status: Int(answer.status), json: (try? JSONParser.parse(answer.body)) ?? .null)
  }

  private func run(
    _ functions: @escaping @Sendable (Functions) -> Void, clock: AdjustableClock? = nil,
    _ test: (RunningServer) async throws -> Void
  ) async throws {
    let server = try await RunningServer(functions: functions) { if let clock { $0.clock = clock } }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await test(server)) } catch { outcome = .failure(error) }
    await server.stop()
    try outcome.get()
  }

  @Test("three lines refuse an address that does not last; the player is told why, others get a name and a claim")
  func refusal() async throws {
    try await run { functions in
      functions.beforeCreate { user, attempt in
        guard user.email?.hasSuffix("@mailinator.com") != true else { return .refuse("Please use an address that lasts.") }
        return .allow(displayName: attempt.method, claims: ["crew": "red"])
      }
    } _: { server in
      let refused = try await post(server, Self.signUp, ["email": "a@mailinator.com", "password": "secret1"])
      #expect(refused.status == 400)
      #expect(refused.message == "BLOCKING_FUNCTION_ERROR_RESPONSE : ((Please use an address that lasts.))")
      let made = try await post(server, Self.signUp, ["email": "a@example.com", "password": "secret1"])
      #expect(made.status == 200 && made.json["displayName"] == "password", "\(made.json)")
    }
  }

  private struct Broken: Error {}

  @Test("a function that throws lets nobody in and says nothing of its inside; who is in stays in")
  func throwing() async throws {
    try await run { functions in
      functions.beforeSignIn { _, _ in throw Broken() }
    } _: { server in
      let answer = try await post(server, Self.signUp, ["returnSecureToken": true])
      #expect(answer.status == 400 && answer.message == "BLOCKING_FUNCTION_ERROR_RESPONSE : ((beforeSignIn failed.))")
    }
  }

  @Test("a function that never answers lets nobody in once its time is over")
  func hanging() async throws {
    let clock = AdjustableClock(frozenAt: 1_800_000_000_000)
    let (begun, beginning) = AsyncStream<Void>.makeStream()
    let endless = AsyncStream<Void>.makeStream()
    try await run(
      { functions in
        functions.beforeCreate { _, _ in
          beginning.yield()
          for await _ in endless.stream {}
          return .allow
        }
      }, clock: clock
    ) { server in
      async let answer = post(server, Self.signUp, ["returnSecureToken": true])
      for await _ in begun { break }
      clock.advance(by: 8000)
      let late = try await answer
      #expect(late.status == 400 && late.message.contains("((beforeCreate took longer than 7 seconds.))"), "\(late.json)")
    }
  }

  private func configured(_ server: RunningServer, _ target: String) async throws -> Int {
    let body: JSON = ["blockingFunctions": ["triggers": ["beforeCreate": ["functionUri": .string(target)]]]]
    let answer = try await server.client.send(
      .PATCH, Self.configuration, query: [QueryItem("updateMask", "blockingFunctions")],
      headers: ["Content-Type": "application/json"], body: Array(body.compactText.utf8))
    return Int(answer.status)
  }

  /// What targets answer, and what comes of it.
  private static let answers: [(TinyServer.Answer, status: Int, message: String)] = [
    (.json(["userRecord": ["updateMask": "displayName", "displayName": "Jim"]]), 200, ""),
    (.json([:]), 200, ""),
    (.json(["userRecord": ["displayName": "Jim"]]), 400, "((Response UserRecord is missing updateMask.))"),
    (.init(body: Array("<html>".utf8)), 400, "((Response body is not valid JSON.))"),
    (.json(["error": ["message": "no"]], status: 403), 400, "returned HTTP error 403: "),
    (.init(hangsUp: true), 400, " failed.))"),
  ]

  @Test("an address of the configuration is asked as Firebase asks it", arguments: answers.indices)
  func target(index: Int) async throws {
    let (answer, status, message) = Self.answers[index]
    try await TinyServer.run({ _ in answer }) { target in
      try await run { _ in
      } _: { server in
        #expect(try await configured(server, target.address + "/decide") == 200)
        let made = try await post(server, Self.signUp, ["email": "a@example.com", "password": "secret1"])
        #expect(made.status == status && (status == 200 || made.message.contains(message)), "\(made.json)")
        let request = try #require(target.requests.first)
        #expect(request.method == .POST && request.path == "/decide")
        let token = try #require(request.json["data"]?["jwt"]?.string).split(separator: ".", omittingEmptySubsequences: false)
        #expect(token.count == 3)
        // Anonymous players are not asked about, as Firebase does not.
        let count = target.requests.count
        #expect(try await post(server, Self.signUp, ["returnSecureToken": true]).status == 200)
        #expect(target.requests.count == count)
      }
    }
  }

  @Test("one connection serves one question after the other; where the other side closed it the question goes over a new one")
  func keptConnection() async throws {
    let closes = Mutex(false)
    try await TinyServer.run({ _ in
      closes.withLock { closes in
        defer { closes = false }
        return closes ? .init(hangsUp: true) : .json([:])
      }
    }) { target in
      try await run { _ in
      } _: { server in
        #expect(try await configured(server, target.address + "/decide") == 200)
        for name in ["a", "b", "c"] {
          let made = try await post(server, Self.signUp, ["email": .string("\(name)@example.com"), "password": "secret1"])
          #expect(made.status == 200, "\(made.json)")
        }
        #expect(target.connectionCount == 1 && target.requests.count == 3)
        closes.withLock { $0 = true }
        let made = try await post(server, Self.signUp, ["email": "d@example.com", "password": "secret1"])
        #expect(made.status == 200, "\(made.json)")
        #expect(target.connectionCount == 2 && target.requests.count == 5)
      }
    }
  }

  @Test("what a player brought from a provider goes to an address only where the configuration says so")
  func forwardedCredentials() async throws {
    try await TinyServer.run({ _ in .json([:]) }) { target in
      try await run { _ in
      } _: { server in
        let idToken = #"{"sub":"g1","email":"a@example.com"}"#
        let body = "providerId=google.com&id_token=\(PercentEncoding.encode(idToken))&access_token=opaque"
        let cases: [(forwarded: JSON, idToken: String?, accessToken: String?)] = [
          ([:], nil, nil), (["idToken": true], idToken, nil), (["accessToken": true], nil, "opaque"),
        ]
        for (forwarded, first, second) in cases {
          let settings: JSON = [
            "triggers": ["beforeSignIn": ["functionUri": .string(target.address)]], "forwardInboundCredentials": forwarded,
          ]
          _ = try await server.client.patch(
            Self.configuration, ["blockingFunctions": settings], query: [QueryItem("updateMask", "blockingFunctions")])
          let made = try await post(
            server, "/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp",
            ["requestUri": "http://localhost", "postBody": .string(body)])
          #expect(made.status == 200, "\(made.json)")
          let jwt = try #require(target.requests.last?.json["data"]?["jwt"]?.string)
          let claims = IdentityClient.Answer.claims(of: jwt)
          #expect(claims["oauth_id_token"]?.string == first && claims["oauth_access_token"]?.string == second)
        }
      }
    }
  }

  @Test("an address that is asked learns of which tenant the player is, and that a link in a mail was the way in")
  func tenant() async throws {
    try await TinyServer.run({ _ in .json([:]) }) { target in
      try await run { _ in
      } _: { server in
        #expect(try await configured(server, target.address + "/decide") == 200)
        let send = "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode"
        let asked: JSON = ["requestType": "EMAIL_SIGNIN", "email": "a@example.com", "tenantId": "ape"]
        #expect(try await post(server, send, asked).status == 200)
        let codes = try await server.client.get("/emulator/v1/projects/demo/tenants/ape/oobCodes")
        let code = try #require(codes["oobCodes"]?.array?.first?["oobCode"])
        let made = try await post(
          server, "/identitytoolkit.googleapis.com/v1/accounts:signInWithEmailLink",
          ["email": "a@example.com", "oobCode": code, "tenantId": "ape"])
        #expect(made.status == 200, "\(made.json)")
        let jwt = try #require(target.requests.first?.json["data"]?["jwt"]?.string)
        let claims = IdentityClient.Answer.claims(of: jwt)
        #expect(claims["tenant_id"] == "ape" && claims["user_record"]?["tenant_id"] == "ape")
        #expect(claims["sign_in_method"] == "emailLink")
      }
    }
  }

  @Test("an address that cannot be asked is refused when it is set")
  func badTarget() async throws {
    try await run { _ in
    } _: { server in
      for target in ["ftp://example.com/f", "example.com", "https://"] {
        let status = try await configured(server, target)
        #expect(status == 400, "\(target)")
      }
    }
  }
}
