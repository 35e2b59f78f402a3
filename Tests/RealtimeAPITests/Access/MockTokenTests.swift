import NIOCore
import ServerTestSupport
import StorageCore
import Testing
import TextFormats
import TreeDatabase
import TreeModel

@testable import APISupport
@testable import RealtimeAPI

/// The tokens that `createMockUserToken` of Firebase's JavaScript SDK makes up: unsigned, issued in 1970, over an hour later,
/// for users who need not exist. Every `authenticatedContext()` of rules-unit-testing comes with one.
struct MockTokenTests {
  private static let rules = #"{"rules":{"own":{"$uid":{".read":"auth.uid === $uid",".write":"auth.uid === $uid"}}}}"#

  /// A token with the members and in the order that the SDK gives them.
  private static func token(_ uid: String, iat: Int64 = 0) -> String {
    let claims: JSON = [
      "iss": "https://securetoken.google.com/demo-project", "aud": "demo-project", "iat": .int(iat), "exp": .int(iat + 3600),
      "auth_time": .int(iat), "sub": .string(uid), "user_id": .string(uid),
      "firebase": ["sign_in_provider": "custom", "identities": [:]],
    ]
    var writer = JSONWriter()
    writer.write(claims)
    let header = Base64.encode(Array(#"{"alg":"none","type":"JWT"}"#.utf8), as: .url)
    return "\(header).\(Base64.encode(writer.bytes, as: .url))."
  }

  /// Tokens of the usual time, and of one that the test chose.
  static let times: [Int64] = [0, 1_600_000_000]

  private func run(_ test: (APIServer) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in
      try await server.expect(
        .init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin),
        .init("PUT", "/own/jim.json", "1", headers: APIServer.admin))
      try await test(server)
    }
  }

  @Test("A socket takes a mock token by auth and by gauth, and keeps it as long as it lasts", arguments: times)
  func sockets(issuedAt: Int64) async throws {
    try await run { server in
      for action in ["auth", "gauth"] {
        let (socket, _) = try await SocketClient.connect(to: server.port)
        try await socket.request(#"{"r":1,"a":"\#(action)","b":{"cred":"\#(Self.token("jim", iat: issuedAt))"}}"#)
        #expect(try await socket.answer() == #"{"r":1,"b":{"s":"ok","d":{"auth":{"uid":"jim"}}}}"#)
        try await socket.request(#"{"r":2,"a":"q","b":{"p":"/own/jim","h":""}}"#)
        #expect(try await socket.answer() == #"{"a":"d","b":{"p":"own/jim","d":1}}"#)
        #expect(try await socket.answer() == #"{"r":2,"b":{"s":"ok","d":{}}}"#)
        server.clock.advance(by: 90_000_000)
        try await socket.request(#"{"r":3,"a":"p","b":{"p":"/own/jim","d":1}}"#)
        #expect(try await socket.answer() == #"{"r":3,"b":{"s":"ok","d":""}}"#)
        try await socket.request(#"{"r":4,"a":"p","b":{"p":"/own/eve","d":1}}"#)
        #expect(try await socket.answer()?.hasPrefix(#"{"a":"sd","b":{"msg":"Denied: write /own/eve"#) == true)
        #expect(try await socket.answer() == #"{"r":4,"b":{"s":"permission_denied","d":"Permission denied"}}"#)
        try await socket.close()
      }
    }
  }

  @Test("A page that polls takes it too", arguments: times)
  func longPolling(issuedAt: Int64) async throws {
    try await run { server in
      var talk = LongPollRulesTests.Talk(try await LongPollTests.Page.open(server))
      let request = #"{"r":1,"a":"auth","b":{"cred":"\#(Self.token("jim", iat: issuedAt))"}}"#
      #expect(try await talk.ask(request)["s"] == "ok")
      #expect(try await talk.ask(#"{"r":2,"a":"q","b":{"p":"/own/jim","h":""}}"#)["s"] == "ok")
      #expect(try await talk.ask(#"{"r":3,"a":"p","b":{"p":"/own/jim","d":2}}"#)["s"] == "ok")
      #expect(try await talk.ask(#"{"r":4,"a":"p","b":{"p":"/own/eve","d":2}}"#)["s"] == "permission_denied")
    }
  }

  @Test("An event stream stays open past the keep-alives at which credentials are looked at", arguments: times)
  func streams(issuedAt: Int64) async throws {
    var limits = StreamLimits()
    limits.keepAliveInterval = .milliseconds(20)
    try await APIServer.run(streamLimits: limits, accounts: .development) { server in
      try await server.expect(.init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin))
      let stream = try await EventClient.open(
        "/own/jim.json?auth=\(Self.token("jim", iat: issuedAt))", port: server.port)
      #expect(try await stream.next()?.hasPrefix("HTTP/1.1 200") == true)
      #expect(try await stream.event() == #"put {"path":"/","data":null}"#)
      for _ in 0..<3 { #expect(try await stream.anyEvent() == "keep-alive null") }
      try await stream.close()
    }
  }

  @Test("What becomes of an account of the same name is nothing to a mock token: nobody issued it, nobody takes it back")
  func accounts() async throws {
    try await run { server in
      let client = IdentityClient(server: server)
      let (socket, _) = try await SocketClient.connect(to: server.port)
      try await socket.request(#"{"r":1,"a":"auth","b":{"cred":"\#(Self.token("jim"))"}}"#)
      #expect(try await socket.answer() == #"{"r":1,"b":{"s":"ok","d":{"auth":{"uid":"jim"}}}}"#)
      _ = try await client.admin("accounts", ["localId": "jim"])
      #expect(try await client.admin("accounts:delete", ["localId": "jim"]).status == 200)
      try await socket.request(#"{"r":2,"a":"p","b":{"p":"/own/jim","d":2}}"#)
      #expect(try await socket.answer() == #"{"r":2,"b":{"s":"ok","d":""}}"#)
      try await server.expect(.init("GET", "/own/jim.json?auth=\(Self.token("jim"))", is: "2"))
      try await socket.close()
    }
  }

  @Test("What this server issued ends after its hour, unsigned as it is")
  func ownTokens() async throws {
    try await run { server in
      let token = try await IdentityClient(server: server).anonymous().text("idToken")
      let (socket, _) = try await SocketClient.connect(to: server.port)
      server.clock.advance(by: 3_600_000)
      try await socket.request(#"{"r":1,"a":"auth","b":{"cred":"\#(token)"}}"#)
      #expect(
        try await socket.answer() == #"{"r":1,"b":{"s":"invalid_token","d":"Auth token is expired"}}"#)
      try await socket.close()
    }
  }

  @Test("Production takes none of them", arguments: times)
  func production(issuedAt: Int64) async throws {
    let access = AccessPolicy(mode: .production, adminTokens: [])
    try await APIServer.run(access: access, accounts: .production) { server in
      _ = try await server.database.openNamespace(named: "game")
      let token = Self.token("jim", iat: issuedAt)
      let (socket, _) = try await SocketClient.connect(to: server.port)
      try await socket.request(#"{"r":1,"a":"auth","b":{"cred":"\#(token)"}}"#)
      #expect(try await socket.answer()?.contains(#""s":"invalid_token""#) == true)
      #expect(try await server.send("GET", "/own/jim.json?auth=\(token)").status == 401)
      try await socket.close()
    }
  }
}
