import ServerTestSupport
import Testing
import TextFormats
import TreeDatabase
import TreeModel

@testable import APISupport

/// Who may read and write what, over REST and event streams (Firebase's security rules reference).
struct RulesTests {
  static let game = """
    {
      "rules": {
        "public": { ".read": true, "secret": { ".read": false } },
        "rooms": {
          "$room": {
            ".read": "root.child('members').child($room).hasChild(auth.uid)",
            ".write": "auth.uid === $room"
          }
        },
        "members": { ".write": false },
        "users": {
          "$uid": {
            ".read": "$uid === auth.uid",
            ".write": "$uid === auth.uid",
            ".validate": "newData.hasChildren(['name'])",
            "name": { ".validate": "newData.isString() && newData.val().length < 10" },
            "level": { ".validate": "newData.isNumber() && (!data.exists() || newData.val() <= data.val() + 1)" },
            "seen": { ".validate": "newData.val() === now" },
            "$other": { ".validate": false }
          }
        },
        "list": { ".read": "query.orderByKey && query.limitToFirst <= 100" },
        "vip": { ".read": "auth.token.admin === true && auth.token.firebase.identities['google.com'][0] == 'g1'" },
        "log": { "$key": { ".write": "!data.exists() && newData.exists()" } }
      }
    }
    """

  /// An unsigned token of a user, as emulators take it.
  static func token(_ uid: String, _ claims: String = "") -> String {
    let payload = #"{"sub":"\#(uid)","exp":3600\#(claims)}"#
    return "eyJhbGciOiJub25lIn0." + Base64.encode(payload.utf8, as: .url) + "."
  }

  private func run(_ test: (APIServer) async throws -> Void) async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/.settings/rules.json", Self.game, headers: APIServer.admin))
      try await test(server)
    }
  }

  static let denied = APIServer.error("Permission denied")

  @Test("70, 76. Reading cascades downwards, a child cannot take it back, a parent is not opened by its children; 401, exactly")
  func reading() async throws {
    try await run { server in
      try await server.expect(
        .init("PUT", "/public.json", #"{"a":1,"secret":{"b":2}}"#, headers: APIServer.admin),
        .init("GET", "/public/a.json", is: "1"), .init("GET", "/public/secret/b.json", is: "2"),
        .init("GET", "/.json", status: 401, is: Self.denied), .init("GET", "/unknown.json", status: 401, is: Self.denied),
        .init("GET", "/users.json?auth=\(Self.token("bob"))", status: 401, is: Self.denied),
        .init("GET", "/users/bob.json?auth=\(Self.token("bob"))", is: "null"),
        .init("GET", "/users/bob.json?shallow=true", status: 401, is: Self.denied),
        .init("GET", "/users/bob.json?auth=\(Self.token("eve"))", status: 401, is: Self.denied))
    }
  }

  @Test("71, 72. What may be written: own record, merged data, known children only; deleting is not validated")
  func writing() async throws {
    let bob = "auth=\(Self.token("bob"))"
    try await run { server in
      try await server.expect(
        .init("PUT", "/users/bob.json?\(bob)", #"{"name":"Bob"}"#), .init("PUT", "/users/eve.json?\(bob)", "{}", status: 401),
        // The record is valid only with a name, and a part of it is judged with the rest.
        .init("PUT", "/users/bob.json?\(bob)", #"{"level":1}"#, status: 401, is: Self.denied),
        .init("PUT", "/users/bob/level.json?\(bob)", "1"), .init("PUT", "/users/bob/level.json?\(bob)", "3", status: 401),
        .init("PATCH", "/users/bob.json?\(bob)", #"{"level":2,"name":"Robert"}"#),
        .init("PATCH", "/users/bob.json?\(bob)", #"{"level":3,"name":"Robert the Great"}"#, status: 401, is: Self.denied),
        .init("GET", "/users/bob.json?\(bob)", is: #"{"level":2,"name":"Robert"}"#),
        .init("PUT", "/users/bob/gold.json?\(bob)", "1000000", status: 401, is: Self.denied),
        .init("POST", "/users/bob.json?\(bob)", "1", status: 401, is: Self.denied),
        .init("PUT", "/users/bob/level/.priority.json?\(bob)", "1"),
        .init("DELETE", "/users/bob/name.json?\(bob)", is: "null"),
        // Now the record has no name: nothing but that is valid.
        .init("PUT", "/users/bob/level.json?\(bob)", "3", status: 401),
        .init("PATCH", "/.json?\(bob)", #"{"users/bob":null,"users/eve/name":"Eve"}"#, status: 401, is: Self.denied),
        .init("DELETE", "/users/bob.json?\(bob)", is: "null"), .init("DELETE", "/users.json?\(bob)", status: 401))
    }
  }

  @Test("73. now is the time that a server value gets in the same operation")
  func now() async throws {
    let bob = "auth=\(Self.token("bob"))"
    try await run { server in
      try await server.expect(
        .init("PUT", "/users/bob.json?\(bob)", #"{"name":"Bob","seen":{".sv":"timestamp"}}"#),
        .init("PUT", "/users/bob/seen.json?\(bob)", #"{".sv":"timestamp"}"#),
        .init("PUT", "/users/bob/seen.json?\(bob)", "1700000000001", status: 401))
    }
  }

  @Test("Who may write and not read learns nothing of what stands there by a condition that does not hold")
  func dropBox() async throws {
    try await APIServer.run { server in
      #expect(try await server.send("PUT", "/box.json", #"{"s":"secret"}"#).status == 200)
      let rules = #"{"rules":{"box":{".write":true}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      for (method, tag) in [("PUT", "zzz"), ("PUT", "null_etag"), ("DELETE", "zzz")] {
        let answer = try await server.send(method, "/box.json", method == "PUT" ? "1" : nil, headers: ["if-match": tag])
        #expect(answer.status == 412 && !answer.body.contains("secret") && answer["etag"] == nil, "\(answer.body)")
      }
      let shown = try await server.send("PUT", "/box.json", "1", headers: APIServer.admin.merging(["if-match": "x"]) { $1 })
      #expect(shown.status == 412 && shown.body.contains("secret"))
    }
  }

  @Test("74. Rules of queries allow and deny")
  func queries() async throws {
    try await run { server in
      try await server.expect(
        .init("GET", "/list.json?orderBy=%22%24key%22&limitToFirst=100", is: "null"),
        .init("GET", "/list.json?orderBy=%22%24key%22&limitToFirst=101", status: 401, is: Self.denied),
        .init("GET", "/list.json?orderBy=%22%24key%22&limitToLast=5", status: 401), .init("GET", "/list.json", status: 401))
    }
  }

  @Test("75, 77, 78. Overrides of auth, the administrator, and tokens that ended in 1970 with all their claims")
  func callers() async throws {
    let claims = #","admin":true,"firebase":{"identities":{"google.com":["g1","g2"]},"sign_in_provider":"google.com"}"#
    try await run { server in
      try await server.expect(
        .init("PUT", #"/users/bob.json?auth_variable_override={"uid":"bob"}"#, #"{"name":"B"}"#, headers: APIServer.admin),
        .init(
          "PUT", #"/users/bob.json?auth_variable_override={"uid":"eve"}"#, #"{"name":"B"}"#, headers: APIServer.admin,
          status: 401, is: Self.denied),
        .init("GET", "/users/bob.json?auth_variable_override=null", headers: APIServer.admin, status: 401, is: Self.denied),
        .init("GET", #"/users/bob.json?auth_variable_override={"uid":"bob"}"#, headers: APIServer.admin, is: #"{"name":"B"}"#),
        .init("PUT", "/anything.json", "1", headers: APIServer.admin), .init("GET", "/.json", headers: APIServer.admin),
        .init("GET", "/vip.json?auth=\(Self.token("bob", claims))", is: "null"),
        .init("GET", "/vip.json?auth=\(Self.token("bob"))", status: 401))
    }
  }

  @Test("A denied write says nothing of what stands there: neither a stale condition nor a missing node")
  func silence() async throws {
    let (bob, eve) = ("auth=\(Self.token("bob"))", "auth=\(Self.token("eve"))")
    let stale = ["If-Match": "stale"]
    try await run { server in
      try await server.expect(
        .init("PUT", "/users/bob.json?\(bob)", #"{"name":"Bob"}"#),
        .init("PUT", "/users/bob.json?\(eve)", "1", headers: stale, status: 401, is: Self.denied),
        .init("DELETE", "/users/bob.json?\(eve)", headers: ["If-Match": "null_etag"], status: 401, is: Self.denied),
        .init("PUT", "/users/none/.priority.json?\(eve)", "1", status: 401, is: Self.denied),
        .init("PUT", "/users/bob.json?\(bob)", #"{"name":"B"}"#, headers: stale, status: 412, is: #"{"name":"Bob"}"#),
        .init("PUT", "/users/eve/.priority.json?\(eve)", "1", status: 400),
        .init("PUT", "/log/a.json", "1"), .init("PUT", "/log/a.json", "2", status: 401),
        .init("DELETE", "/log/a.json", status: 401))
    }
  }

  @Test("In development, and to an administrator in another's name, a denial says why; to a client in production never")
  func reasons() async throws {
    try await run { server in
      let answer = try await server.send("PUT", "/users/bob/level.json?auth=\(Self.token("eve"))", "1")
      let reason = try #require(answer["x-firebase-auth-debug"])
      #expect(reason.contains(#"14:19 .write of /users/$uid (/users/bob) is false: $uid === auth.uid"#), "\(reason)")
      #expect(reason.contains(#"$uid = "bob""#) && reason.contains(#"auth.uid = "eve""#), "\(reason)")
      #expect(
        try await server.send("GET", "/users/bob.json")["x-firebase-auth-debug"]?.contains(".read of /users/$uid") == true)
    }
    let access = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ops", secret: "s")])
    let admin = ["Authorization": "Bearer s"]
    try await APIServer.run(access: access) { server in
      _ = try await server.database.openNamespace(named: "game")
      let before = try await server.send("GET", "/public.json")
      #expect(before.status == 401 && before["x-firebase-auth-debug"] == nil)
      try await server.expect(
        .init("PUT", "/log/a.json", "1", status: 401, is: Self.denied),
        .init("PUT", "/.settings/rules.json", Self.game, headers: admin), .init("GET", "/public.json", is: "null"),
        .init("PUT", "/log/a.json", "1"))
      for method in ["GET", "PUT"] {
        let answer = try await server.send(method, "/users/bob.json", method == "PUT" ? "1" : nil)
        #expect(answer.status == 401 && answer.body == Self.denied && answer["x-firebase-auth-debug"] == nil)
      }
      let path = #"/users/bob.json?auth_variable_override={"uid":"eve"}"#
      #expect(try await server.send("PUT", path, "1", headers: admin)["x-firebase-auth-debug"] != nil)
    }
  }

  @Test("40. New rules end a stream that they no longer allow; so does a commit that its rule depends on")
  func streams() async throws {
    let bob = "auth=\(Self.token("bob"))"
    try await run { server in
      _ = try await server.send("PUT", "/members/r1/bob.json", "true", headers: APIServer.admin)
      let room = try await EventClient.open("/rooms/r1.json?\(bob)", port: server.port)
      let own = try await EventClient.open("/users/bob.json?\(bob)", port: server.port)
      for client in [room, own] {
        _ = try await client.next()
        #expect(try await client.event() == #"put {"path":"/","data":null}"#)
      }
      // Another member comes, and it stays; then bob is put out.
      _ = try await server.send("PUT", "/members/r1/eve.json", "true", headers: APIServer.admin)
      _ = try await server.send("PUT", "/rooms/r1.json", "1", headers: APIServer.admin)
      #expect(try await room.event() == #"put {"path":"/","data":1}"#)
      _ = try await server.send("DELETE", "/members/r1/bob.json", headers: APIServer.admin)
      #expect(try await room.event() == "cancel null")
      #expect(try await room.next() == nil)
      _ = try await server.send(
        "PUT", "/.settings/rules.json", #"{"rules":{".read":"auth.uid == 'eve'"}}"#, headers: APIServer.admin)
      #expect(try await own.event() == "cancel null")
      #expect(try await own.next() == nil)
      let answer = try await server.send("GET", "/rooms/r1.json?\(bob)", headers: ["Accept": "text/event-stream"])
      #expect(answer.status == 401 && answer.body == Self.denied)
    }
  }
}

extension RulesTests {
  @Test("Explaining tries an operation in somebody's name, says what the rules say, and does nothing")
  func explaining() async throws {
    try await APIServer.run { server in
      let path = "/admin/v1/rules/explain"
      let level = #"{"operation":"set","path":"/users/bob/level","value":VALUE,"auth":{"uid":"bob"}}"#
      try await server.expect(
        .init("POST", path, level, status: 401), .init("PUT", "/users/bob.json", #"{"name":"Bob","level":4}"#),
        .init("POST", path, #"{"operation":"read","path":"/"}"#, headers: APIServer.admin),
        .init("PUT", "/.settings/rules.json", Self.game, headers: APIServer.admin),
        .init("POST", path, #"{"operation":"read","path":"/a.b"}"#, headers: APIServer.admin, status: 400),
        .init("POST", path, #"{"operation":"set","path":"/a"}"#, headers: APIServer.admin, status: 400),
        .init("POST", path, #"{"operation":"read","path":"/a","auth":5}"#, headers: APIServer.admin, status: 400),
        .init("POST", path, #"{"operation":"jump","path":"/a"}"#, headers: APIServer.admin, status: 400))
      for (value, isAllowed, text) in [
        ("5", true, #"is true: $uid === auth.uid"#), ("7", false, "data.val() = 4"),
      ] {
        let body = String(level.replacing("VALUE", with: value))
        let answer = try await server.send("POST", path, body, headers: APIServer.admin)
        #expect(answer.status == 200 && answer.json?["allowed"]?.bool == isAllowed, "\(answer.body)")
        #expect(answer.json?["text"]?.string?.contains(text) == true, "\(answer.body)")
      }
      let read = #"{"operation":"read","path":"/list","query":{"i":".key","l":5,"vf":"l"}}"#
      #expect(try await server.send("POST", path, read, headers: APIServer.admin).json?["allowed"] == true)
      let update = #"{"operation":"update","path":"/users","value":{"bob/name":"B","eve/name":"E"},"auth":{"uid":"bob"}}"#
      #expect(try await server.send("POST", path, update, headers: APIServer.admin).json?["allowed"] == false)
      let delete = #"{"operation":"delete","path":"/users/bob","auth":{"uid":"bob"}}"#
      #expect(try await server.send("POST", path, delete, headers: APIServer.admin).json?["allowed"] == true)
      try await server.expect(.init("GET", "/users/bob.json", headers: APIServer.admin, is: #"{"level":4,"name":"Bob"}"#))
    }
  }
}
