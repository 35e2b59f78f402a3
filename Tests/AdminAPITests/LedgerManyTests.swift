import Credentials
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// Many holds, and tables of payments, as the console and the commands ask for them.
struct LedgerManyTests {
  private struct Client {
    let server: APIServer

    func post(_ path: String, _ body: JSON, status: Int = 200, headers: [String: String] = APIServer.admin) async throws -> JSON
    {
      let response = try await server.send("POST", "/admin/v1/ledger/\(path)", body.compactText, headers: headers)
      #expect(response.status == status, "\(path): \(response.body)")
      return try #require(response.json)
    }

    func get(_ path: String) async throws -> JSON {
      try #require(try await server.send("GET", "/admin/v1/\(path)", headers: APIServer.admin).json)
    }

    func hold(_ owner: String, _ amount: Int64, reason: String = "limit") async throws {
      _ = try await post(
        "holds",
        [
          "from": "issuance:level5", "owner": .string(owner), "amount": .int(amount), "key": .string("\(owner)/\(amount)"),
          "reason": .string(reason),
        ])
    }

    func balance(_ player: String) async throws -> Int64? {
      try await get("ledger/balance?account=user:\(player)")["balance"]?.int
    }
  }

  private func run(_ test: (Client) async throws -> Void) async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/users/ann/name.json", #""Ann""#), .init("PUT", "/users/bob/name.json", #""Bob""#))
      try await test(Client(server: server))
    }
  }

  @Test("All holds that match are looked at, ended once, and answered alike when asked for again; later ones are left alone")
  func matching() async throws {
    try await run { client in
      for (owner, amount, reason) in [("ann", 50, "limit"), ("bob", 30, "limit"), ("bob", 20, "address")]
        as [(String, Int64, String)]
      {
        try await client.hold(owner, amount, reason: reason)
      }
      let revision = try client.server.revision()
      let preview = try await client.post("holds/preview", ["action": "release", "matching": ["reason": "LIMIT"]])
      #expect(preview["count"] == 2 && preview["coins"] == ["pieces_of_eight": 80] && preview["refused"] == 0)
      #expect(preview["holds"] == [1, 2] && preview["through"] == 2 && preview["next"] == nil)
      #expect(try client.server.revision() == revision)
      try await client.hold("ann", 7)
      let order: JSON = ["action": "release", "holds": [1, 2], "reason": "a school"]
      let first = try await client.post("holds/end", order)
      let again = try await client.post("holds/end", order)
      #expect(first["repeated"] == 0 && again["repeated"] == 2)
      #expect(first["ended"] == again["ended"] && first["coins"] == again["coins"] && first["refusals"] == again["refusals"])
      #expect(first["coins"] == ["pieces_of_eight": 80])
      #expect(try await [client.balance("ann"), client.balance("bob")] == [50, 30])
      #expect(try await client.get("ledger/holds?reason=limit")["holds"]?.array?.map { $0["sequence"]?.int } == [4])
      #expect(try await client.get("ledger/holds?uid=bob")["count"] == 1)
      #expect(try await client.get("ledger/holds?unit=gems")["count"] == 0)
      let voided = try await client.post("holds/end", ["action": "void", "holds": [1, 3], "reason": "invented"])
      #expect(voided["ended"]?.array?.count == 1 && voided["refusals"]?.array?.first?["code"] == "hold_ended")
    }
  }

  @Test("One hold's preview says what becomes of balances: a new one, a release in part, one that would be refused")
  func previews() async throws {
    try await run { client in
      try await client.hold("ann", 50)
      let part = try await client.post("holds/preview", ["action": "release", "holds": [1], "amount": 20])
      #expect(part["balances"]?.array?.map { $0["account"]?.string } == ["user:ann", "issuance:level5"])
      #expect(part["balances"]?.array?.first?["after"] == 20)
      let much = try await client.post("holds/preview", ["action": "release", "holds": [1], "amount": 51])
      #expect(much["refused"] == 1 && much["coins"] == [:])
      let new: JSON = ["hold": ["from": "user:bob", "owner": "bob", "amount": 5, "key": "k"]]
      let made = try await client.post("holds/preview", new)
      #expect(made["refused"] == 1 && made["refusals"]?.array?.first?["code"] == "insufficient_funds")
      for body: JSON in [
        [:], ["action": "release"], ["holds": [1]], ["action": "void", "holds": []],
        ["action": "void", "holds": [1], "matching": [:]],
        ["action": "release", "holds": [1, 2], "amount": 5], ["action": "release", "matching": [:], "to": "user:bob"],
        ["action": "take", "holds": [1]], ["action": "void", "holds": .array((1...1001).map { .int($0) })],
      ] {
        _ = try await client.post("holds/preview", body, status: 400)
      }
      _ = try await client.post("holds/end", ["action": "void", "holds": [1], "reason": ""], status: 400)
      _ = try await client.post("holds/end", ["action": "void", "holds": [], "reason": "x"], status: 400)
    }
  }

  @Test("Amounts that add up beyond 64 bits are refused, and nothing ends")
  func sums() async throws {
    try await run { client in
      let most: JSON = .int(.max)
      for (owner, from) in [("ann", "a"), ("bob", "b")] {
        _ = try await client.post(
          "holds", ["from": .string(from), "owner": .string(owner), "amount": most, "key": .string(owner)])
      }
      let preview = try await client.post("holds/preview", ["action": "void", "matching": [:]], status: 400)
      #expect(preview["error"]?.string?.contains("do not fit") == true)
      #expect(try await client.get("ledger/holds")["count"] == 2)
    }
  }

  @Test("A table is looked at, paid once, refused whole where a line is at fault; the audit log says by whom and why")
  func compensation() async throws {
    try await run { client in
      func csv(_ lines: String) -> JSON { .string("account,amount,key,reason\n" + lines) }
      let good = csv("ann,50,o/ann,=cmd()\nbob,5,o/bob,")
      let preview = try await client.post("compensation/preview", ["csv": good])
      #expect(preview["pays"] == 2 && preview["coins"] == ["pieces_of_eight": 55] && preview["faultCount"] == 0)
      #expect(preview["payments"]?.array?.first?["reason"] == "=cmd()")
      _ = try await client.post("compensation", ["csv": good], status: 400)
      let paid = try await client.post("compensation", ["csv": good, "reason": "outage"])
      #expect(paid["paid"] == 2 && paid["repeated"] == 0 && paid["coins"] == ["pieces_of_eight": 55])
      let again = try await client.post("compensation", ["csv": good, "reason": "outage"])
      #expect(again["paid"] == 0 && again["repeated"] == 2 && again["coins"] == [:])
      let bad = csv("ann,1,n/1,\nbob,x,n/2,")
      let refused = try await client.post("compensation", ["csv": bad, "reason": "r"], status: 400)
      #expect(refused["error"]?.string?.contains("line 3, column amount") == true)
      let ghost = csv("ghost,1,n/3,")
      #expect(try await client.post("compensation", ["csv": ghost, "reason": "r"], status: 409)["code"] == "unknown_players")
      #expect(try await [client.balance("ann"), client.balance("ghost")] == [50, 0])
      _ = try await client.post("compensation", ["csv": ghost, "reason": "r", "allowUnknown": true])
      #expect(try await client.balance("ghost") == 1)
      let rows = try await client.get("audit?action=ledger.compensate")["actions"]?.array ?? []
      #expect(rows.count == 6 && rows.count { $0["result"] == "ok" } == 3)
      #expect(rows.contains { $0.compactText.contains("outage") })
    }
  }

  @Test("A long order leaves in the audit log why, and how much it was")
  func audited() async throws {
    try await run { client in
      let lines = (1...400).map { "bob,1,key-number-\($0)" }.joined(separator: "\n")
      _ = try await client.post(
        "compensation", ["csv": .string("account,amount,key\n" + lines), "reason": "the outage of March"])
      #expect(try await client.balance("bob") == 400)
      let log = try await client.get("audit?action=ledger.compensate")
      #expect(log.compactText.contains("the outage of March") && log.compactText.contains("bodyBytes"))
      #expect(!log.compactText.contains("key-number-7"))
    }
  }

  @Test("Who repairs ends holds for their own players, and pays nobody; who reads looks")
  func roles() async throws {
    try await KeyedServer.run { keyed in
      let client = Client(server: keyed.server)
      try await keyed.server.expect(.init("PUT", "/users/eve/name.json", #""Eve""#))
      try await client.hold("ann", 50)
      var headers: [String: [String: String]] = [:]
      for role in ["viewer", "support"] {
        headers[role] = ["Authorization": "Bearer \(try await keyed.token(try await keyed.account(role, role)))"]
      }
      let (viewer, support) = (headers["viewer"] ?? [:], headers["support"] ?? [:])
      let table: JSON = ["csv": "account,amount,key\neve,50,k", "reason": "mine"]
      _ = try await client.post("compensation/preview", table, headers: viewer)
      _ = try await client.post("holds/preview", ["action": "release", "holds": [1]], headers: viewer)
      #expect(try await client.post("compensation", table, status: 403, headers: support)["code"] == "role_needed")
      let order: JSON = ["action": "release", "holds": [1], "reason": "r"]
      #expect(try await client.post("holds/end", order, status: 403, headers: viewer)["code"] == "role_needed")
      _ = try await client.post(
        "holds", ["from": "issuance:x", "owner": "eve", "amount": 5, "key": "e"], status: 403, headers: support)
      // Neither a receiver of one's own nor a part can be named for many.
      let greedy: JSON = ["action": "release", "holds": [1], "reason": "r", "to": "user:eve", "amount": 50]
      _ = try await keyed.server.send("POST", "/admin/v1/ledger/holds/end", greedy.compactText, headers: support)
      #expect(try await client.balance("eve") == 0)
      _ = try await client.post("holds/end", order, headers: support)
      #expect(try await client.balance("ann") == 50)
    }
  }
}
