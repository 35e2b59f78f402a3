import Credentials
import NIOCore
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TextFormats
import TreeDatabase
import TreeModel

@testable import APISupport
@testable import RealtimeAPI

/// The tree of a server in production form, whose rules ask who a player is.
struct ProductionIdentityTests {
  private static let rules = """
    {"rules": {
      "vault": {
        ".read": "auth != null && auth.token.firebase.sign_in_provider != 'anonymous'",
        ".write": "auth != null && auth.token.firebase.sign_in_provider != 'anonymous'"
      },
      "hall": { ".read": "auth != null", ".write": "auth != null" }
    }}
    """

  private func run(_ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    let access = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "owner", secret: "owner")])
    let limits = StreamLimits(keepAliveInterval: .milliseconds(20))
    try await APIServer.run(access: access, streamLimits: limits, accounts: .production) { server in
      _ = try await server.database.openNamespace(named: "game")
      let put = try await server.send("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin)
      #expect(put.status == 200, "\(put.body)")
      try await test(server, IdentityClient(server: server))
    }
  }

  @Test("A rule on sign_in_provider denies an anonymous player, and allows them on the same socket after the link")
  func link() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      let (socket, _) = try await SocketClient.connect(to: server.port)
      var number = 0
      func ask(_ action: String, _ body: String) async throws -> String {
        number += 1
        try await socket.request(#"{"r":\#(number),"a":"\#(action)","b":\#(body)}"#)
        return try await socket.answer() ?? ""
      }
      let write = #"{"p":"/vault/coins","d":1}"#
      #expect(try await ask("auth", #"{"cred":"\#(made.text("idToken"))"}"#).contains(#""s":"ok""#))
      #expect(try await ask("p", #"{"p":"/hall/name","d":"jim"}"#).contains(#""s":"ok""#))
      #expect(try await ask("p", write).contains(#""s":"permission_denied""#))
      #expect(try await ask("g", #"{"p":"/vault","q":{}}"#).contains(#""s":"permission_denied""#))
      server.clock.advance(by: 2000)
      let linked = try await client.link(made.text("idToken"), "jim@x.io")
      #expect(linked.text("localId") == made.text("localId"))
      #expect(try await ask("auth", #"{"cred":"\#(linked.text("idToken"))"}"#).contains(#""s":"ok""#))
      #expect(try await ask("p", write) == #"{"r":\#(number),"b":{"s":"ok","d":""}}"#)
      #expect(try await ask("unauth", "{}").contains(#""s":"ok""#))
      #expect(try await ask("p", write).contains(#""s":"permission_denied""#))
      try await socket.close()
    }
  }

  /// Tokens that this server did not issue, for this project, at this time.
  private static func forged(from token: String, at now: Int64) throws -> [(what: String, token: String)] {
    func part(_ json: JSON) -> String { Base64.encode(Array(json.compact.utf8), as: .url) }
    let parts = token.split(separator: ".").map(String.init)
    let claims = IdentityClient.Answer.claims(of: token)
    func with(_ name: String, _ value: JSON) -> JSON {
      .object((claims.object ?? []).filter { $0.key != name } + [JSON.Member(key: name, value: value)])
    }
    let none = part(["alg": "none", "typ": "JWT"])
    let (own, foreign) = (try SigningKey(pem: TestKeys.first), try SigningKey(pem: TestKeys.second))
    let seconds = now / 1000
    let expired = JSON.object(
      (with("exp", .int(seconds - 1)).object ?? []).filter { $0.key != "iat" } + [
        JSON.Member(key: "iat", value: .int(seconds - 3601))
      ])
    return [
      ("alg none", "\(none).\(parts[1])."), ("alg none with a signature", "\(none).\(parts[1]).\(parts[2])"),
      ("a signature of nothing", "\(parts[0]).\(parts[1]).AAAA"),
      ("other claims below the signature", "\(parts[0]).\(part(with("sub", "admin"))).\(parts[2])"),
      ("another key", try foreign.token(claims)), ("another project", try own.token(with("aud", "other"))),
      ("another issuer", try own.token(with("iss", "https://securetoken.google.com/other"))),
      ("its time is over", try own.token(expired)),
    ]
  }

  @Test("The tree takes no forged token: not in auth=, not behind Bearer, not on a socket")
  func forged() async throws {
    try await run { server, client in
      let token = try await client.anonymous().text("idToken")
      let bearer = ["Authorization": "Bearer "]
      func statuses(_ token: String) async throws -> [Int] {
        [
          try await server.send("GET", "/hall.json?auth=\(token)").status,
          try await server.send("GET", "/hall.json?access_token=\(token)").status,
          try await server.send("GET", "/hall.json", headers: bearer.mapValues { $0 + token }).status,
          try await server.send("PUT", "/hall.json?auth=\(token)", "1").status,
        ]
      }
      #expect(try await statuses(token) == [200, 200, 200, 200])
      for (what, token) in try Self.forged(from: token, at: server.clock.now()) {
        #expect(try await statuses(token) == [401, 401, 401, 401], "\(what)")
        let (socket, _) = try await SocketClient.connect(to: server.port)
        try await socket.request(#"{"r":1,"a":"auth","b":{"cred":"\#(token)"}}"#)
        let answer = try await socket.answer() ?? ""
        #expect(!answer.contains(#""s":"ok""#) && answer.contains(#""r":1"#), "\(what): \(answer)")
        try await socket.request(#"{"r":2,"a":"p","b":{"p":"/hall","d":2}}"#)
        let write = try await socket.answer() ?? ""
        #expect(!write.contains(#""s":"ok""#), "\(what): \(write)")
        try? await socket.close()
      }
      #expect(try await server.send("GET", "/hall.json", headers: APIServer.admin).body == "1")
    }
  }

  @Test("An event stream ends with auth_revoked when its ID token does, and when an administrator makes it void")
  func stream() async throws {
    try await run { server, client in
      func open(_ token: String) async throws -> EventClient {
        let stream = try await EventClient.open("/hall.json?auth=\(token)", port: server.port)
        let head = try #require(try await stream.next())
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try await stream.event() == #"put {"path":"/","data":null}"#)
        return stream
      }
      let ends: [(String, JSON)] = [
        ("accounts:update", ["validSince": .int(APIServer.start / 1000 + 10)]), ("accounts:update", ["disableUser": true]),
        ("accounts:delete", [:]),
      ]
      for (method, body) in ends {
        let made = try await client.anonymous()
        let stream = try await open(made.text("idToken"))
        let uid = JSON.Member(key: "localId", value: .string(made.text("localId")))
        #expect(try await client.admin(method, .object((body.object ?? []) + [uid])).status == 200)
        #expect(try await Self.last(stream) == "auth_revoked credential is no longer valid", "\(method) \(body.compact)")
      }
      let stream = try await open(try await client.anonymous().text("idToken"))
      server.clock.advance(by: 3_600_001)
      #expect(try await Self.last(stream) == "auth_revoked credential is no longer valid")
    }
  }

  /// The last event before the server closes, keep-alives aside.
  private static func last(_ client: EventClient) async throws -> String? {
    var last: String?
    while let event = try await client.event() { last = event }
    return last
  }

  @Test("An invited player who links stays who they are, and stays invited")
  func invited() async throws {
    try await APIServer.run(accounts: .development) { server in
      let put = try await server.send("PUT", "/admin/v1/links/settings", LinkServer.settings, headers: APIServer.admin)
      #expect(put.status == 200, "\(put.body)")
      let links = LinkServer(api: server)
      let client = IdentityClient(server: server)
      let made = try await client.anonymous()
      let place = "/users/\(made.text("localId"))/referred_by.json"
      let query = "link=https://acme.test/?gameid%3D7%26invitedby%3Dalice&apn=test.acme.app&ibi=test.acme.ios"
      let copied = try await links.clipboard(try await links.link(query))
      let body = "{\"link\":\(JSON.string(copied).compact)}"
      func claim(_ token: String) async throws -> (status: Int, json: JSON) {
        try await links.post("/v1/referrals:claim", body, key: nil, headers: ["Authorization": "Bearer \(token)"])
      }
      let first = try await claim(made.text("idToken"))
      #expect(first.status == 200, "\(first.json.compact)")
      #expect(try await server.value(place) == "\"alice\"")
      server.clock.advance(by: 2000)
      let linked = try await client.link(made.text("idToken"), "jim@x.io")
      #expect(linked.text("localId") == made.text("localId"))
      #expect(linked.claims["firebase"]?["sign_in_provider"] == "password")
      #expect(try await server.value(place) == "\"alice\"")
      // The claim is the player's still: asked for again it is the same one, and nobody else's.
      let again = try await claim(linked.text("idToken"))
      #expect(again.status == 200 && again.json.compact == first.json.compact)
      #expect(try await server.value(place) == "\"alice\"")
    }
  }
}
