@testable import APISupport
@testable import Credentials
@testable import HTTPServer
@testable import IdentityAPI
import NIOCore
@testable import RealtimeAPI
import ServerTestSupport
import StorageCore
import Synchronization
import Testing
import TreeDatabase
import TreeModel

/// Credentials that end while the connection lasts (firebase-js-sdk, `PersistentConnection.ts`).
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
    func decideRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadDecision {
      ReadDecision(isAllowed: caller != .anonymous)
    }
    func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
    func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
    func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { true }
  }

  @Test("When they end the client is told, and what it listened to is silent from then on")
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
    /// How long they are good, in milliseconds.
    let lifetime: Int64
    var createsNamespaces: Bool { true }
    var isDevelopment: Bool { true }

    init(lifetime: Int64 = 50) { self.lifetime = lifetime }

    func caller(_ credentials: RequestCredentials) -> Caller {
      let caller = ShortLived().caller(credentials)
      guard caller != .anonymous else { return caller }
      return Caller(actor: caller.actor, isAdmin: false, validUntil: APIServer.start + lifetime)
    }
    func isVoid(_ caller: Caller) -> Bool { caller != .anonymous && areVoid.withLock(\.self) }
    func decideRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadDecision {
      ReadDecision(isAllowed: true)
    }
    func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
    func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
    func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { caller != .anonymous }
  }

  @Test("A write that comes when they are void, and before the connection was told, is nobody's")
  func writeAfterTheEnd() async throws {
    let access = Voidable(lifetime: 3_600_000)
    try await APIServer.run(access: access) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"auth","b":{"cred":"token"}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":{"auth":{"uid":"jim"}}}}"#)
      try await client.request(#"{"r":2,"a":"p","b":{"p":"/a","d":1}}"#)
      #expect(try await client.answer() == #"{"r":2,"b":{"s":"ok","d":""}}"#)
      access.areVoid.withLock { $0 = true }
      try await client.request(#"{"r":3,"a":"p","b":{"p":"/a","d":2}}"#)
      #expect(try await client.answer() == #"{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}"#)
      #expect(try await client.answer() == #"{"r":3,"b":{"s":"permission_denied","d":"Permission denied"}}"#)
      #expect(try server.revision() == 1)
      try await client.close()
    }
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

    func user(of token: String, at now: Int64) throws(TokenError) -> IDToken? {
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

/// A service account that is revoked is cut off where it is connected, as players are (firebase-js-sdk,
/// `PersistentConnection.ts`).
struct RevokedServiceAccountTests {
  private static let revoked = #"{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}"#

  private func socket(_ keyed: KeyedServer, _ token: String, _ more: String = "") async throws -> SocketClient {
    let (client, _) = try await SocketClient.connect(to: keyed.server.port)
    try await client.request(#"{"r":1,"a":"gauth","b":{"cred":"\#(token)"\#(more)}}"#)
    #expect(try await client.answer()?.contains(#""s":"ok""#) == true)
    return client
  }

  @Test("its sockets hear of it at once, also those where it acts as a user; others of its name, and other accounts, do not")
  func sockets() async throws {
    try await KeyedServer.run { keyed in
      let account = try await keyed.account("owner", "admin")
      let token = try await keyed.token(account)
      let own = try await socket(keyed, token)
      let asBob = try await socket(keyed, token, #","authvar":{"uid":"bob"}"#)
      let sameName = try await socket(keyed, "owner")
      let other = try await socket(keyed, try await keyed.token(try await keyed.account("other", "admin")))
      try await own.request(#"{"r":2,"a":"p","b":{"p":"/a","d":1}}"#)
      #expect(try await own.answer() == #"{"r":2,"b":{"s":"ok","d":""}}"#)
      _ = try await keyed.server.send("DELETE", "/admin/v1/service-accounts/owner", headers: APIServer.admin)
      for client in [own, asBob] {
        #expect(try await client.answer() == Self.revoked)
        try await client.close()
      }
      for client in [sameName, other] {
        try await client.request(#"{"r":3,"a":"p","b":{"p":"/a","d":2}}"#)
        #expect(try await client.answer() == #"{"r":3,"b":{"s":"ok","d":""}}"#)
        try await client.close()
      }
    }
  }

  @Test("a socket where it acts as a user ends with its token")
  func expiry() async throws {
    try await KeyedServer.run { keyed in
      let token = try await keyed.token(try await keyed.account("server", "admin"))
      let asBob = try await socket(keyed, token, #","authvar":{"uid":"bob"}"#)
      keyed.server.clock.advance(by: 3_601_000)
      try await asBob.close()
      // A new one is not let in with the old token.
      let (late, _) = try await SocketClient.connect(to: keyed.server.port)
      try await late.request(#"{"r":1,"a":"gauth","b":{"cred":"\#(token)"}}"#)
      #expect(try await late.answer()?.contains("invalid_token") == true)
      try await late.close()
    }
  }

  @Test("its streams end")
  func streams() async throws {
    try await KeyedServer.run { keyed in
      let token = try await keyed.token(try await keyed.account("server", "admin"))
      let stream = try await EventClient.open("/a.json?access_token=\(token)", port: keyed.server.port)
      #expect(try await stream.next()?.hasPrefix("HTTP/1.1 200") == true)
      #expect(try await stream.next()?.hasPrefix("event: put") == true)
      _ = try await keyed.server.send("DELETE", "/admin/v1/service-accounts/server", headers: APIServer.admin)
      #expect(try await stream.next()?.hasPrefix("event: auth_revoked") == true)
      #expect(try await stream.next() == nil)
    }
  }
}
