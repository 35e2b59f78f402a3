import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// Entries, accounts and previews, as the console asks for them.
struct LedgerRouteTests {
  private struct Client {
    let server: APIServer

    func get(_ path: String, status: Int = 200) async throws -> JSON {
      let response = try await server.send("GET", "/admin/v1/ledger/\(path)", headers: APIServer.admin)
      #expect(response.status == status, "\(path): \(response.body)")
      return try #require(response.json)
    }

    func post(_ path: String, _ body: String, status: Int = 200) async throws -> JSON {
      let response = try await server.send("POST", "/admin/v1/ledger/\(path)", body, headers: APIServer.admin)
      #expect(response.status == status, "\(path): \(response.body)")
      return try #require(response.json)
    }

    func pay(_ player: String, _ amount: Int, code: String = "gift") async throws {
      _ = try await post(
        "transfer",
        #"{"debit":"issuance:\#(code)","credit":"user:\#(player)","amount":\#(amount),"code":"\#(code)","key":"\#(code)/\#(player)"}"#
      )
    }

    func sequences(_ path: String) async throws -> [Int64] {
      try await get(path)["entries"]?.array?.compactMap { $0["sequence"]?.int } ?? []
    }
  }

  private func run(_ test: (Client) async throws -> Void) async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/a.json", "1"))
      try await test(Client(server: server))
    }
  }

  @Test("Entries go up behind one and down before one, of all accounts and of one; a code is looked for and says how far")
  func entries() async throws {
    try await run { client in
      for player in ["ann", "bob", "cem"] { try await client.pay(player, 50, code: "signup") }
      try await client.pay("bob", 50, code: "level5")
      for (path, expected) in [
        ("entries", [1, 2, 3, 4]), ("entries?after=2", [3, 4]), ("entries?before=9007199254740992", [4, 3, 2, 1]),
        ("entries?before=4&limit=2", [3, 2]), ("entries?code=level5", [4]), ("entries?before=4&code=signup", [3, 2, 1]),
        ("statement?account=user:bob", [4, 2]), ("statement?account=user:bob&before=4", [2]),
        ("statement?account=user:bob&after=0", [2, 4]), ("statement?account=user:bob&after=2", [4]),
        ("statement?account=user:bob&code=signup", [2]), ("statement?account=issuance:signup&after=0&limit=2", [1, 2]),
        ("entries?key=signup/bob", [2]),
      ] as [(String, [Int64])] {
        #expect(try await client.sequences(path) == expected, "\(path)")
      }
      let first = try await client.get("entries?before=9007199254740992&code=signup&limit=2")
      #expect(first["next"] == 2 && first["scanned"] == 3)
      let rest = try await client.get("entries?before=2&code=signup&limit=2")
      #expect(rest["next"] == nil && rest["entries"]?.array?.count == 1)
      #expect(try await client.get("entries")["scanned"] == nil)
      #expect(try await client.get("entries?before=3&after=1", status: 400)["error"]?.string?.contains("not both") == true)
    }
  }

  @Test("Entries of a time are found in both directions, of all accounts and of one, with a code and without")
  func times() async throws {
    try await run { client in
      try await client.pay("ann", 50, code: "signup")
      client.server.clock.advance(by: 1000)
      for player in ["bob", "cem"] { try await client.pay(player, 50, code: "signup") }
      client.server.clock.advance(by: 1000)
      try await client.pay("bob", 50, code: "level5")
      let (first, second, third) = (APIServer.start, APIServer.start + 1000, APIServer.start + 2000)
      for (path, expected) in [
        ("entries?since=\(second)", [2, 3, 4]), ("entries?until=\(second)", [1, 2, 3]),
        ("entries?since=\(second)&until=\(second)", [2, 3]), ("entries?since=\(third + 1)", []),
        ("entries?until=\(first - 1)", []), ("entries?before=9007199254740992&since=\(second)&limit=2", [4, 3]),
        ("entries?before=9007199254740992&until=\(second)&limit=2", [3, 2]), ("entries?before=3&since=\(second)", [2]),
        ("entries?after=2&until=\(second)", [3]), ("entries?since=\(second)&code=signup", [2, 3]),
        ("statement?account=user:bob&since=\(second)", [4, 2]), ("statement?account=user:bob&until=\(second)", [2]),
        ("statement?account=user:bob&after=0&since=\(third)", [4]),
        ("statement?account=issuance:signup&since=\(first)&until=\(second)&after=1", [2, 3]),
      ] as [(String, [Int64])] {
        #expect(try await client.sequences(path) == expected, "\(path)")
      }
      #expect(try await client.get("entries?since=2&until=1", status: 400)["error"]?.string?.contains("not be later") == true)
    }
  }

  @Test("An entry that was taken back says by which, wherever entries are listed; the reversal says of which")
  func reversed() async throws {
    try await run { client in
      try await client.pay("bob", 50)
      _ = try await client.post("reverse", #"{"sequence":1,"reason":"mistake"}"#)
      for path in ["entries", "entries?key=gift/bob", "statement?account=user:bob&after=0"] {
        let entries = try await client.get(path)["entries"]?.array ?? []
        #expect(entries.first?["reversedBy"] == 2, "\(path)")
        if entries.count > 1 { #expect(entries[1]["reverses"] == 1 && entries[1]["reversedBy"] == nil) }
      }
    }
  }

  @Test("Accounts stand by name with their balances, those in the tree too, page by page, by prefix and by unit")
  func accounts() async throws {
    try await run { client in
      for player in ["ann", "bob", "cem"] { try await client.pay(player, 50, code: "signup") }
      try await client.pay("bob", 20, code: "level5")
      _ = try await client.post(
        "transfer", #"{"debit":"till","credit":"shop","amount":5,"unit":"gems","key":"g"}"#)
      func rows(_ query: String) async throws -> (rows: [String], next: String?) {
        let answer = try await client.get("accounts?\(query)")
        let rows = (answer["accounts"]?.array ?? []).map { row in
          "\(row["account"]?.string ?? "") \(row["balance"]?.int ?? 0) \(row["unit"]?.string ?? "") \(row["entries"]?.int ?? 0)"
        }
        return (rows, answer["next"]?.string)
      }
      let all = [
        "issuance:level5 -20 pieces_of_eight 1", "issuance:signup -150 pieces_of_eight 3", "shop 5 gems 1", "till -5 gems 1",
        "user:ann 50 pieces_of_eight 1", "user:bob 70 pieces_of_eight 2", "user:cem 50 pieces_of_eight 1",
      ]
      #expect(try await rows("").rows == all)
      #expect(try await rows("").next == nil)
      #expect(try await rows("prefix=user:").rows == Array(all[4...]))
      #expect(try await rows("prefix=user:b").rows == [all[5]])
      #expect(try await rows("prefix=nobody").rows == [])
      #expect(try await rows("unit=gems").rows == Array(all[2...3]))
      #expect(try await rows("unit=gems&prefix=user:").rows == [])
      var found: [String] = []
      var next: String?
      repeat {
        let page = try await rows("limit=2" + (next.map { "&after=\($0)" } ?? ""))
        found += page.rows
        next = page.next
      } while next != nil
      #expect(found == all)
      // A balance that is not there any more is 0, in the unit of its last entry.
      try await client.server.expect(.init("DELETE", "/users/ann.json"))
      #expect(try await rows("prefix=user:ann").rows == ["user:ann 0 pieces_of_eight 2"])
      #expect(try await client.get("accounts?limit=201", status: 400)["code"] == "invalid_argument")
    }
  }

  @Test("A reversal's preview says what it would do, judged like it: spent, refused, repeated; and changes nothing")
  func reversals() async throws {
    try await run { client in
      try await client.pay("bob", 50)
      func preview(_ body: String, status: Int = 200) async throws -> JSON {
        let revision = try client.server.revision()
        let answer = try await client.post("reverse/preview", body, status: status)
        #expect(try client.server.revision() == revision)
        return answer
      }
      let plain = try await preview(#"{"sequence":1}"#)
      #expect(plain["entry"]?["key"] == "gift/bob" && plain["reversedBy"] == nil && plain["spent"] == false)
      #expect(plain["refusal"] == nil)
      #expect(
        plain["balances"] == [
          ["account": "user:bob", "unit": "pieces_of_eight", "before": 50, "after": 0],
          ["account": "issuance:gift", "unit": "pieces_of_eight", "before": -50, "after": 0],
        ])
      try await client.server.expect(.init("PUT", "/users/bob/inventory/pieces_of_eight.json", "20"))
      let spent = try await preview(#"{"sequence":1,"policy":"allowNegative"}"#)
      #expect(spent["spent"] == true && spent["balances"]?.array?.first?["after"] == -30 && spent["refusal"] == nil)
      let refused = try await preview(#"{"sequence":1,"policy":"refuse"}"#)
      #expect(refused["spent"] == true && refused["balances"]?.array?.first?["after"] == 20)
      #expect(refused["refusal"]?["code"] == "insufficient_funds")
      #expect(refused["refusal"]?["error"]?.string?.contains("user:bob has 20 pieces_of_eight") == true)
      let real = try await client.post("reverse", #"{"sequence":1,"reason":"x","policy":"refuse"}"#, status: 409)
      #expect(real["error"] == refused["refusal"]?["error"] && real["code"] == refused["refusal"]?["code"])
      _ = try await client.post("reverse", #"{"sequence":1,"reason":"mistake"}"#)
      let again = try await preview(#"{"sequence":1,"reason":"another"}"#)
      #expect(again["reversedBy"] == 3 && again["spent"] == false && again["refusal"]?["code"] == "already_reversed")
      #expect(again["balances"]?.array?.first?["after"] == -30)
      #expect(try await preview(#"{"sequence":1,"reason":"mistake"}"#)["refusal"] == nil)
      #expect(try await preview(#"{"sequence":3}"#)["refusal"]?["code"] == "invalid_transfer")
      #expect(try await preview(#"{"sequence":99}"#, status: 404)["code"] == "not_found")
    }
  }

  @Test("A transfer's preview is judged like the transfer: funds, keys, accounts that cannot be")
  func transfers() async throws {
    try await run { client in
      try await client.pay("bob", 50)
      func preview(_ body: String) async throws -> JSON {
        let revision = try client.server.revision()
        let answer = try await client.post("transfer/preview", body)
        #expect(try client.server.revision() == revision)
        return answer
      }
      let good = try await preview(#"{"debit":"user:bob","credit":"user:eve","amount":20,"key":"t"}"#)
      #expect(good["refusal"] == nil && good["repeats"] == nil && good["spent"] == false)
      #expect(good["balances"]?.array?.map { $0["after"]?.int } == [30, 20])
      let poor = try await preview(#"{"debit":"user:bob","credit":"user:eve","amount":60,"key":"t"}"#)
      #expect(poor["refusal"]?["code"] == "insufficient_funds" && poor["spent"] == true)
      let debt = try await preview(#"{"debit":"user:bob","credit":"user:eve","amount":60,"key":"t","allowNegative":true}"#)
      #expect(debt["refusal"] == nil && debt["spent"] == true && debt["balances"]?.array?.first?["after"] == -10)
      let same = #"{"debit":"issuance:gift","credit":"user:bob","amount":50,"code":"gift","key":"gift/bob"}"#
      let repeated = try await preview(same)
      #expect(repeated["repeats"] == 1 && repeated["refusal"] == nil)
      #expect(repeated["balances"]?.array?.map { $0["before"] == $0["after"] } == [true, true])
      let taken = try await preview(#"{"debit":"issuance:gift","credit":"user:bob","amount":51,"key":"gift/bob"}"#)
      #expect(taken["refusal"]?["code"] == "key_conflict" && taken["repeats"] == nil)
      let nowhere = try await preview(#"{"debit":"user:a/b","credit":"user:eve","amount":1,"key":"t"}"#)
      #expect(nowhere["refusal"]?["code"] == "invalid_transfer" && nowhere["balances"]?.array?.count == 1)
    }
  }

  @Test("Previews take the role viewer, and are no deeds that the audit log keeps")
  func roles() async throws {
    try await KeyedServer.run { keyed in
      let token = try await keyed.token(try await keyed.account("low", "viewer"))
      let low = ["Authorization": "Bearer \(token)"]
      let transfer = #"{"debit":"issuance:x","credit":"user:bob","amount":5,"key":"k"}"#
      let made = try await keyed.server.send("POST", "/admin/v1/ledger/transfer", transfer, headers: APIServer.admin)
      #expect(made.status == 200)
      for (path, body) in [("transfer/preview", transfer), ("reverse/preview", #"{"sequence":1}"#)] {
        let answer = try await keyed.server.send("POST", "/admin/v1/ledger/\(path)", body, headers: low)
        #expect(answer.status == 200, "\(path): \(answer.body)")
      }
      let log = try await keyed.server.send("GET", "/admin/v1/audit?action=ledger", headers: APIServer.admin)
      #expect(log.json?["actions"]?.array?.compactMap { $0["action"]?.string } == ["ledger.transfer"])
    }
  }
}
