import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI

/// The rules as texts: read, checked, replaced, tested, their history.
struct RulesRouteTests {
  static let first = #"{"rules":{"users":{"$uid":{".read":"auth.uid === $uid"}}}}"#
  static let second = """
    {
      // levels go up by one
      "rules": {"users": {"$uid": {
        ".read": "auth.uid === $uid",
        "level": {".write": "auth.uid === $uid && newData.val() === data.val() + 1"}
      }}}
    }
    """

  private func send(_ server: APIServer, _ method: String, _ path: String, _ body: JSON? = nil, status: Int = 200) async throws
    -> JSON
  {
    let response = try await server.send(method, "/admin/v1/rules\(path)", body?.compactText, headers: APIServer.admin)
    #expect(response.status == status, "\(method) \(path): \(response.body.prefix(600))")
    return response.json ?? .null
  }

  private func put(_ server: APIServer, _ source: String, ifHash: String? = nil, status: Int = 200) async throws -> JSON {
    let order = JSON(fields: [
      ("source", .string(source)), ("ifHash", ifHash.map(JSON.string)), ("reason", .string("because")),
    ])
    return try await send(server, "PUT", "", order, status: status)
  }

  @Test("Rules are put with a reason and a condition; who was slower is told both hashes, and loses nothing")
  func replacing() async throws {
    try await APIServer.run { server in
      let nothing = try await send(server, "GET", "")
      #expect(nothing["exists"] == false && nothing["hash"] == "none")
      #expect(nothing["source"]?.string?.contains(#"".read": true"#) == true)
      let made = try await put(server, Self.first, ifHash: "none")
      #expect(made["version"] == 1 && made["changed"] == true)
      let read = try await send(server, "GET", "")
      #expect(read["source"]?.string == Self.first && read["exists"] == true && read["version"] == 1)
      #expect(read["hash"] == made["hash"] && read["bytes"]?.int == Int64(Self.first.utf8.count))
      // Somebody else, by the tools of Firebase.
      let other = try await server.send(
        "PUT", "/.settings/rules.json?reason=theirs", #"{"rules":{}}"#, headers: APIServer.admin)
      #expect(other.status == 200)
      let hash = try #require(made["hash"]?.string)
      let refused = try await put(server, Self.second, ifHash: hash, status: 412)
      #expect(refused["code"] == "conflict" && refused["expected"]?.string == hash)
      let current = try #require(refused["current"]?.string)
      #expect(current == RulesHistory.hash(of: #"{"rules":{}}"#))
      #expect(refused["yours"]?.string == RulesHistory.hash(of: Self.second))
      #expect(try await put(server, Self.second, ifHash: "none", status: 412)["current"]?.string == current)
      #expect(try await put(server, Self.second, ifHash: current)["version"] == 3)
      let same = try await put(server, Self.second)
      #expect(same["version"] == 3 && same["changed"] == false)
      try await server.expect(.init("GET", "/.settings/rules.json", headers: APIServer.admin, is: Self.second))
    }
  }

  @Test("Every way of changing rules is in the history: who, how, why; a version is read by number or hash, and put once more")
  func history() async throws {
    try await APIServer.run { server in
      #expect(try await send(server, "GET", "/history")["versions"]?.array?.isEmpty == true)
      let hash = try #require(try await put(server, Self.first)["hash"]?.string)
      _ = try await server.send("PUT", "/.settings/rules.json?reason=theirs", Self.second, headers: APIServer.admin)
      _ = try await send(
        server, "POST", "/rollback", ["version": "1", "ifHash": "wrong", "reason": "no"], status: 412)
      let back = try await send(server, "POST", "/rollback", ["version": .string(hash), "reason": "too strict"])
      #expect(back["version"] == 3 && back["hash"]?.string == hash)
      #expect(try await send(server, "POST", "/rollback", ["version": "3", "reason": "again"])["changed"] == false)
      let versions = try await send(server, "GET", "/history")["versions"]?.array ?? []
      #expect(versions.map { $0["version"]?.int } == [3, 2, 1])
      #expect(versions.map { $0["way"]?.string } == ["rollback", "put", "put"])
      #expect(versions.map { $0["reason"]?.string } == ["too strict", "theirs", "because"])
      #expect(versions.map { $0["current"]?.bool } == [true, false, false])
      #expect(versions[0]["restores"] == 1 && versions[0]["actor"] == "admin:owner")
      #expect(versions[1]["time"]?.int == server.clock.now() && versions[1]["bytes"]?.int == Int64(Self.second.utf8.count))
      #expect(try await send(server, "GET", "/history/2")["source"]?.string == Self.second)
      #expect(try await send(server, "GET", "/history/\(hash)")["version"]?["version"] == 3)
      for version in ["9", "x", "0", "-1", "%20"] {
        #expect(try await send(server, "GET", "/history/\(version)", status: 404)["code"] == "unknown_version")
      }
      #expect(
        try await send(server, "POST", "/rollback", ["version": "9", "reason": "x"], status: 404)["code"] == "unknown_version")
    }
  }

  @Test("A hundred versions are kept; sources that no version has any more are not")
  func bounds() async throws {
    try await APIServer.run { server in
      for number in 1...104 { _ = try await put(server, #"{"rules":{".read":"now > \#(number % 103)"}}"#) }
      let versions = try await send(server, "GET", "/history")["versions"]?.array ?? []
      #expect(versions.count == 100 && versions.first?["version"] == 104 && versions.last?["version"] == 5)
      #expect(try await send(server, "GET", "/history/5")["source"]?.string == #"{"rules":{".read":"now > 5"}}"#)
      _ = try await send(server, "GET", "/history/4", status: 404)
      let namespace = try #require(server.database.namespace(named: "game"))
      let kept = try server.database.engine.read { snapshot in
        try snapshot.records(in: namespace, kind: "rules_source", after: nil, isDescending: false, limit: 1000)
      }
      // The version that was written again under another number shares its source.
      #expect(Set(kept.map(\.key)) == Set(versions.compactMap { $0["hash"]?.string }))
    }
  }

  @Test("Every fault has its line and column, and nothing is put that has one")
  func faults() async throws {
    let bad =
      "{\"rules\": {\n  \".read\": \"auth.uid === \",\n  \".wirte\": true,\n  \"a\": {\".write\": \"nobody\"},\n  \"b\": 5\n}}"
    try await APIServer.run { server in
      let check = try await send(server, "POST", "/check", ["source": .string(bad)])
      let faults = check["faults"]?.array ?? []
      #expect(check["sound"] == false)
      #expect(faults.map { [$0["line"]?.int, $0["column"]?.int] } == [[2, 26], [3, 3], [4, 20], [5, 8]], "\(faults)")
      #expect(faults.allSatisfy { $0["message"]?.string?.isEmpty == false })
      let refused = try await put(server, bad, status: 400)
      #expect(refused["code"] == "invalid_rules" && refused["faults"] == .array(faults))
      let sound = try await send(server, "POST", "/check", ["source": .string(Self.second)])
      #expect(sound["sound"] == true && sound["rules"] == 2 && sound["places"] == 4 && sound["faults"]?.array?.isEmpty == true)
      for source in ["", "{", "[]", "\u{0}", "{\"rules\":{\"$a\":{}", String(repeating: "[", count: 100_000)] {
        #expect(try await send(server, "POST", "/check", ["source": .string(source)])["sound"] == false)
      }
      #expect(try await send(server, "GET", "")["exists"] == false)
    }
  }

  @Test("The audit log has the reason of every change, and no source")
  func audit() async throws {
    try await APIServer.run { server in
      _ = try await put(server, Self.second + String(repeating: " ", count: 5000))
      _ = try await put(server, "{\"rules\":{\".read\":\"secret\",\".wirte\":1}}", status: 400)
      _ = try await send(server, "POST", "/rollback", ["version": "9", "reason": "oh"], status: 404)
      let log = try await server.send("GET", "/admin/v1/audits?action=rules", headers: APIServer.admin)
      let rows = log.json?["actions"]?.array ?? []
      #expect(rows.map { $0["action"]?.string } == ["rules.rollback", "rules.put", "rules.put"])
      #expect(rows.last?["detail"]?["body"] == ["reason": "because"])
      #expect(rows.first?["detail"]?["body"] == ["version": "9", "reason": "oh"])
      #expect(
        rows[1]["result"]?.string?.hasSuffix("And 1 more.") == true && rows[1]["detail"]?["body"] == ["reason": "because"])
      #expect(!log.body.contains("levels go up"))
    }
  }

  @Test("Cases are run on rules that are not put, with what they prove by line; how many, how large and how long is bounded")
  func testing() async throws {
    let cases: JSON = [
      "users": ["bob": ["uid": "bob"]], "data": ["users": ["bob": ["level": 4]]],
      "cases": [
        ["name": "up", "as": "bob", "set": "/users/bob/level", "value": 5, "expect": "allowed"],
        ["name": "jump", "as": "bob", "set": "/users/bob/level", "value": 7, "expect": "allowed"],
      ],
    ]
    try await APIServer.run { server in
      #expect(try await send(server, "POST", "/test", ["cases": cases], status: 400)["code"] == "no_rules")
      let report = try await send(server, "POST", "/test", ["cases": cases, "source": .string(Self.second)])
      #expect(report["passed"] == 1 && report["failed"] == 1 && report["notRun"] == 0)
      let failed = try #require(report["cases"]?.array?.last)
      #expect(
        failed["problem"] == "must be allowed, but is denied" && failed["text"]?.string?.contains("newData.val() = 7") == true)
      #expect(report["ruleCount"] == 2 && report["covered"] == 0)
      let lines = (report["rules"]?.array ?? []).map { [$0["line"]?.int, $0["trueCount"]?.int, $0["falseCount"]?.int] }
      #expect(lines == [[4, 0, 0], [5, 1, 1]])
      #expect(report["rules"]?.array?.first?["gaps"]?.array?.first?["what"] == "never judged")
      _ = try await put(server, Self.second)
      #expect(try await send(server, "POST", "/test", ["cases": cases])["passed"] == 1)
      let one: JSON = ["as": .null, "read": "/a", "expect": "denied"]
      let many: JSON = ["cases": .array(Array(repeating: one, count: 501))]
      for (order, code) in [
        (["cases": many], "invalid_cases"),
        (["cases": ["cases": [["as": "eve", "read": "/", "expect": "denied"]]]], "invalid_cases"),
        (["cases": ["cases": []]], "invalid_cases"), (["cases": cases, "source": "{"], "invalid_rules"),
      ] as [(JSON, String)] {
        #expect(try await send(server, "POST", "/test", order, status: 400)["code"]?.string == code)
      }
      let large: JSON = ["cases": ["data": .string(String(repeating: "x", count: 5 << 20)), "cases": [one]]]
      #expect(try await send(server, "POST", "/test", large, status: 413)["code"] == "too_large")
      #expect(try await send(server, "GET", "/history")["versions"]?.array?.count == 1)
    }
  }

  @Test("Where there are no rules an explanation says so; an account is asked for as it would sign in")
  func explaining() async throws {
    try await APIServer.run(accounts: AccountKind()) { server in
      func explain(_ order: JSON, status: Int = 200) async throws -> JSON {
        try await send(server, "POST", "/explain", order, status: status)
      }
      let open = try await explain(["operation": "set", "path": "/users/bob", "value": 1])
      #expect(open["hasRules"] == false && open["allowed"] == true && open["rules"]?.array?.isEmpty == true)
      #expect(open["text"]?.string?.contains("doubloon rules put") == true)
      _ = try await put(
        server, #"{"rules":{".read":"auth.token.email === 'ann@example.com' && auth.provider === 'password'"}}"#)
      let made = try await server.send(
        "POST", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k",
        #"{"email":"ann@example.com","password":"secret-1"}"#)
      let uid = try #require(made.json?["localId"]?.string)
      for account in [uid, "ann@example.com"] {
        let answer = try await explain(["operation": "read", "path": "/", "account": .string(account)])
        #expect(answer["allowed"] == true && answer["hasRules"] == true && answer["auth"]?["uid"]?.string == uid)
      }
      let nobody = try await explain(["operation": "read", "path": "/"])
      #expect(nobody["allowed"] == false && nobody["auth"] == .null)
      #expect(try await explain(["operation": "read", "path": "/", "account": "eve"], status: 404)["code"] == "not_found")
      _ = try await explain(["operation": "read", "path": "/", "account": .string(uid), "auth": ["uid": "x"]], status: 400)
    }
  }
}
