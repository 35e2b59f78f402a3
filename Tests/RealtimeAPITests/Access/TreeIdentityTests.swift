import ServerTestSupport
import StorageCore
import Testing
import TextFormats
import TreeDatabase
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

/// The tree trusts accounts.
struct TreeIdentityTests {
  /// Everybody who is somebody may read and write; an anonymous account may only read.
  private struct Members: AccessDeciding, Authenticating {
    var createsNamespaces: Bool { true }
    var isDevelopment: Bool { true }
    func caller(_ credentials: RequestCredentials) throws(AccessError) -> Caller {
      try AccessPolicy.development.caller(credentials)
    }
    func decideRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadDecision {
      ReadDecision(isAllowed: caller.auth != nil || caller.isAdmin)
    }
    func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
    func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
    func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool {
      caller.isAdmin || (caller.auth != nil && caller.auth?.json["provider"]?.string != "anonymous")
    }
  }

  @Test("A token on a live connection changes what the player may, and a new one after a link changes it again")
  func socket() async throws {
    try await APIServer.run(access: Members(), accounts: .development) { server in
      let client = IdentityClient(server: server)
      let made = try await client.anonymous()
      let (socket, _) = try await SocketClient.connect(to: server.port)
      func authenticate(_ number: Int, _ token: String) async throws -> String {
        try await socket.request(#"{"r":\#(number),"a":"auth","b":{"cred":"\#(token)"}}"#)
        return try await socket.answer() ?? ""
      }
      #expect(
        try await authenticate(1, made.text("idToken"))
          == #"{"r":1,"b":{"s":"ok","d":{"auth":{"uid":"\#(made.text("localId"))"}}}}"#)
      try await socket.request(#"{"r":2,"a":"p","b":{"p":"/a","d":1}}"#)
      #expect(try await socket.answer() == #"{"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}"#)
      server.clock.advance(by: 2000)
      let linked = try await client.link(made.text("idToken"), "jim@x.io")
      _ = try await authenticate(3, linked.text("idToken"))
      try await socket.request(#"{"r":4,"a":"p","b":{"p":"/a","d":1}}"#)
      #expect(try await socket.answer() == #"{"r":4,"b":{"s":"ok","d":""}}"#)
      try await socket.close()
    }
  }

  @Test("A player who is disabled, deleted or revoked is cut off where they are")
  func liveRevocation() async throws {
    try await APIServer.run(access: Members(), accounts: .development) { server in
      let client = IdentityClient(server: server)
      let ends: [(String, JSON)] = [
        ("accounts:update", ["disableUser": true]), ("accounts:delete", [:]),
        ("accounts:update", ["validSince": .int(APIServer.start / 1000 + 10)]),
      ]
      for (method, body) in ends {
        let made = try await client.anonymous()
        let (socket, _) = try await SocketClient.connect(to: server.port)
        try await socket.request(#"{"r":1,"a":"auth","b":{"cred":"\#(made.text("idToken"))"}}"#)
        _ = try await socket.answer()
        let uid = JSON.Member(key: "localId", value: .string(made.text("localId")))
        _ = try await client.admin(method, .object((body.object ?? []) + [uid]))
        #expect(try await socket.answer() == #"{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}"#)
        let read = try await server.send("GET", "/a.json?auth=\(made.text("idToken"))")
        #expect(read.status == 401)
        #expect(read.error == "Auth token is expired")
        try await socket.close()
      }
    }
  }

  @Test("A token is taken in every place that clients put it")
  func places() async throws {
    try await APIServer.run(access: Members(), accounts: .development) { server in
      let token = try await IdentityClient(server: server).anonymous().text("idToken")
      #expect(try await server.send("GET", "/a.json").status == 401)
      #expect(try await server.send("GET", "/a.json?auth=\(token)").status == 200)
      #expect(try await server.send("GET", "/a.json?access_token=\(token)").status == 200)
      #expect(try await server.send("GET", "/a.json", headers: ["Authorization": "Bearer \(token)"]).status == 200)
    }
  }

  @Test("In signed mode the tree takes only what this server signed, for this project, in its time")
  func signedOnly() async throws {
    try await APIServer.run(access: Members(), accounts: .production) { server in
      let client = IdentityClient(server: server)
      let made = try await client.anonymous()
      let token = made.text("idToken")
      #expect(try await server.send("GET", "/a.json?auth=\(token)").status == 200)
      let parts = token.split(separator: ".")
      let claims = String(parts[1])
      let header = Base64.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8), as: .url)
      for forged in ["\(header).\(claims).", "\(parts[0]).\(claims).AAAA"] {
        let answer = try await client.lookup(forged)
        #expect(answer.error == "INVALID_ID_TOKEN")
      }
      server.clock.advance(by: 3_600_000)
      #expect(try await server.send("GET", "/a.json?auth=\(token)").status == 401)
      #expect(try await client.lookup(token).error == "TOKEN_EXPIRED")
    }
  }
}
