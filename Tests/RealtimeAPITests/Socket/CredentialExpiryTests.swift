import ServerTestSupport
import StorageCore
import Synchronization
import Testing
import TreeDatabase
import TreeModel

@testable import HTTPServer
@testable import RealtimeAPI

/// Credentials that end while the connection lasts (spec: rtdb-protocol §3.10).
struct CredentialExpiryTests {
  /// Only who has credentials may read, and they end.
  struct ShortLived: AccessDeciding, Authenticating {
    let end = APIServer.start + 50
    var createsNamespaces: Bool { true }
    var isDevelopment: Bool { true }
    func caller(_ credentials: RequestCredentials) -> Caller {
      credentials.idToken == nil && credentials.accessToken == nil
        ? .anonymous : Caller(actor: .user(uid: "jim"), isAdmin: false, validUntil: end)
    }
    func judgeRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadJudgement {
      ReadJudgement(isAllowed: caller != .anonymous)
    }
    func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
    func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
    func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { true }
  }

  @Test("63: when they end the client is told, and what it listened to is silent from then on")
  func expiry() async throws {
    try await APIServer.run(access: ShortLived()) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"auth","b":{"cred":"token"}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":{"auth":{"uid":"jim"}}}}"#)
      try await client.request(#"{"r":2,"a":"q","b":{"p":"/a","h":""}}"#)
      #expect(try await client.answer() == #"{"r":2,"b":{"s":"ok","d":{}}}"#)
      server.clock.advance(by: 1000)
      #expect(try await client.answer() == #"{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}"#)
      #expect(try await server.send("PUT", "/a.json", "1").status == 200)
      try await client.request(#"{"r":3,"a":"g","b":{"p":"/a"}}"#)
      #expect(try await client.answer() == #"{"r":3,"b":{"s":"permission_denied","d":"Permission denied"}}"#)
      try await client.close()
    }
  }

  /// Everybody has the same credentials, which become void without anybody being told.
  final class Voidable: AccessDeciding, Authenticating {
    let areVoid = Mutex(false)
    var createsNamespaces: Bool { true }
    var isDevelopment: Bool { true }
    func caller(_ credentials: RequestCredentials) -> Caller { ShortLived().caller(credentials) }
    func isVoid(_ caller: Caller) -> Bool { caller != .anonymous && areVoid.withLock(\.self) }
    func judgeRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadJudgement {
      ReadJudgement(isAllowed: true)
    }
    func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
    func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
    func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { true }
  }

  @Test("Who came with an old token in the grace of a revocation loses it when that is over, though nobody is told then")
  func grace() async throws {
    let access = Voidable()
    try await APIServer.run(access: access) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"auth","b":{"cred":"token"}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":{"auth":{"uid":"jim"}}}}"#)
      // The clock stands still: the token does not end.
      access.areVoid.withLock { $0 = true }
      #expect(try await client.answer() == #"{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}"#)
      try await client.close()
    }
  }
}
