import NIOCore
import ServerTestSupport
import StorageCore
import Synchronization
import Testing
import TreeDatabase
import TreeModel

@testable import APISupport
@testable import Credentials
@testable import IdentityAPI

/// Sockets and streams open to users of somebody else.
struct ForeignUserSocketTests {
  /// Knows one token, once its issuer's keys are there.
  private final class OneUser: ForeignAuthenticating {
    let text: String
    private let token: IDToken
    private let isReady = Mutex(false)

    init(_ token: String) throws {
      text = token
      let claims = try WebToken(parsing: token).claims
      self.token = IDToken(uid: "U28old", project: "old-game", times: try TokenTimes(claims), claims: claims)
    }

    func bringKeys() { isReady.withLock { $0 = true } }

    func user(of token: String, at now: Int64) throws(TokenFault) -> IDToken? {
      guard token == text else { return nil }
      guard isReady.withLock({ $0 }) else { throw .keysUnavailable("firebase.old-game") }
      try TokenTimes(self.token.claims).check(at: now)
      return self.token
    }
  }

  private static let second = APIServer.start / 1000
  private static let rules = #"{"rules":{"users":{"$uid":{".read":"auth.uid === $uid",".write":"auth.uid === $uid"}}}}"#

  private func run(_ test: (APIServer, OneUser) async throws -> Void) async throws {
    let token = WebToken.unsigned([
      "iss": "https://securetoken.google.com/old-game", "aud": "old-game", "sub": "U28old", "iat": .int(Self.second),
      "exp": .int(Self.second + 60),
    ])
    let foreign = try OneUser(token)
    var kind = AccountKind.production
    kind.foreign = foreign
    let access = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "owner", secret: "owner")])
    try await APIServer.run(access: access, accounts: kind) { server in
      _ = try await server.database.openNamespace(named: "game")
      #expect(try await server.send("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin).status == 200)
      try await test(server, foreign)
    }
  }

  @Test("a socket: not yet is no refusal for good; then it is the user, by the rules")
  func socket() async throws {
    try await run { server, foreign in
      let (client, _) = try await SocketClient.connect(to: server.port)
      func authenticate(_ number: Int) async throws -> String {
        try await client.request(#"{"r":\#(number),"a":"auth","b":{"cred":"\#(foreign.text)"}}"#)
        return try await client.answer() ?? ""
      }
      #expect(try await authenticate(1).contains(#""s":"unavailable""#))
      foreign.bringKeys()
      #expect(try await authenticate(2) == #"{"r":2,"b":{"s":"ok","d":{"auth":{"uid":"U28old"}}}}"#)
      try await client.request(#"{"r":3,"a":"p","b":{"p":"/users/U28old/level","d":1}}"#)
      #expect(try await client.answer() == #"{"r":3,"b":{"s":"ok","d":""}}"#)
      try await client.request(#"{"r":4,"a":"p","b":{"p":"/users/other","d":1}}"#)
      #expect(try await client.answer()?.contains("permission_denied") == true)
      try await client.close()
    }
  }

  @Test("a stream: 503 while the keys are not there, then it begins")
  func stream() async throws {
    try await run { server, foreign in
      let path = "/users/U28old.json?auth=\(foreign.text)"
      let early = try await server.send("GET", path, headers: ["Accept": "text/event-stream"])
      #expect(early.status == 503 && early["retry-after"] == "1")
      foreign.bringKeys()
      let stream = try await EventClient.open(path, port: server.port)
      #expect(try await stream.next()?.hasPrefix("HTTP/1.1 200") == true)
      #expect(try await stream.next()?.hasPrefix("event: put") == true)
      try await stream.channel.close()
    }
  }
}
