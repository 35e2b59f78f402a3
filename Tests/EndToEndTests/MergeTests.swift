import Accounts
import DoubloonTesting
import Functions
import FunctionsKit
import NIOHTTP1
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// Two accounts of one player: the referral goes along, and nothing is paid twice.
struct MergeTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]

  private func put(_ server: RunningServer, _ path: String, _ value: JSON) async throws {
    _ = try await server.client.put("/\(path).json", value, headers: Self.waits)
  }

  private func get(_ server: RunningServer, _ path: String) async throws -> JSON { try await server.client.get(path) }

  private func merge(_ server: RunningServer, _ from: String, _ body: JSON) async throws -> JSON {
    try await server.client.post("/admin/v1/accounts/\(from)/merge", body)
  }

  private func coins(_ server: RunningServer, _ uid: String) async throws -> Int64 {
    try await get(server, "/users/\(uid)/inventory/pieces_of_eight.json").int ?? 0
  }

  /// Anonymous `anon` was referred by alice and has its 50; `carol` is the account whose credential was taken.
  private func populate(_ server: RunningServer) async throws {
    try await put(server, "users/alice", ["name": "Alice"])
    try await put(server, "users/carol", ["name": "Carol", "level": 4, "last_signin_at": 1])
    try await put(server, "users/anon", ["name": "?", "referred_by": "alice", "pet": "parrot", "inventory": ["hat": true]])
    try await put(server, "users/anon/last_signin_at", 1)
    _ = try await server.client.post(
      "/identitytoolkit.googleapis.com/v1/projects/demo/accounts", ["localId": "anon"])
  }

  @Test("The referral moves with its rewards: what was paid is not paid again, what was not is paid once")
  func referral() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      #expect(try await coins(server, "anon") == 50)
      let plan = try await server.client.post("/admin/v1/accounts/anon/merge/preview", ["into": "carol"])
      #expect(plan["referrer"] == "alice" && plan["at"] == nil && plan["spent"] == ["signup/carol"])
      #expect(try await get(server, "/users/anon/referred_by.json") == "alice")
      let merged = try await merge(server, "anon", ["into": "carol", "reason": "ticket 118"])
      #expect(merged["referrer"] == "alice" && merged["balances"] == [] && merged["copied"] == [])
      #expect(try await get(server, "/users/carol/referred_by.json") == "alice")
      #expect(try await get(server, "/users/anon/referred_by.json") == .null)
      // The sign-up was paid for the other account; level 5 was not.
      try await put(server, "users/carol/last_signin_at", .null)
      try await put(server, "users/carol/last_signin_at", 2)
      #expect(try await coins(server, "carol") == 0)
      try await put(server, "users/carol/level", 5)
      #expect(try await coins(server, "alice") == 50)
      // Nobody plays on with the account that was left.
      try await put(server, "users/anon/level", 4)
      try await put(server, "users/anon/level", 5)
      #expect(try await coins(server, "alice") == 50)
      #expect(try await get(server, "/admin/v1/accounts/anon")["disabled"] == true)
      #expect(try await get(server, "/admin/v1/ledger/verify")["sound"] == true)
      #expect(try await get(server, "/admin/v1/log/verify")["sound"] == true)
      let audit = try await server.client.get("/admin/v1/audit", query: [QueryItem("action", "accounts.merge")])
      #expect(audit["actions"]?.array?.first?["result"] == "ok")
    }
  }

  @Test("A milestone that was paid to the referrer for the one account is not paid for the other")
  func milestone() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      try await put(server, "users/anon/level", 4)
      try await put(server, "users/anon/level", 5)
      #expect(try await coins(server, "alice") == 50)
      let merged = try await merge(server, "anon", ["into": "carol", "reason": "x"])
      #expect(merged["spent"]?.array?.compactMap(\.string).sorted() == ["level5/carol", "signup/carol"])
      try await put(server, "users/carol/level", 5)
      #expect(try await coins(server, "alice") == 50)
      // On to a third account: the keys go along.
      try await put(server, "users/dora", ["level": 4])
      let again = try await merge(server, "carol", ["into": "dora", "reason": "x"])
      #expect(again["spent"]?.array?.compactMap(\.string).sorted() == ["level5/dora", "signup/dora"])
      try await put(server, "users/dora/level", 5)
      #expect(try await coins(server, "alice") == 50)
      #expect(try await get(server, "/admin/v1/ledger/verify")["sound"] == true)
    }
  }

  @Test("Coins and what the other record does not have go along if it is asked for; what it has stays")
  func options() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      try await put(server, "users/carol/inventory/pieces_of_eight", 7)
      let merged = try await merge(
        server, "anon", ["into": "carol", "balances": true, "record": true, "reason": "x"])
      #expect(merged["balances"] == [["unit": "pieces_of_eight", "amount": 50]])
      #expect(try await coins(server, "carol") == 57)
      #expect(try await coins(server, "anon") == 0)
      let carol = try await get(server, "/users/carol.json")
      #expect(carol["name"] == "Carol" && carol["pet"] == "parrot" && carol["level"] == 4)
      #expect(carol["inventory"] == ["hat": true, "pieces_of_eight": 57])
      #expect(carol["last_signin_at"] == 1)
      #expect(try await get(server, "/admin/v1/ledger/verify")["sound"] == true)
    }
  }

  @Test("Nothing goes into an account that nobody can sign in to")
  func disabled() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      _ = try await merge(server, "anon", ["into": "carol", "reason": "wrong way round"])
      let refused = await #expect(throws: AdminClientError.self) {
        _ = try await merge(server, "carol", ["into": "anon", "reason": "back"])
      }
      #expect(refused?.status == 409 && refused?.message.contains("doubloon accounts enable anon") == true)
    }
  }

  @Test("A hold on the coins of the account that is left has to end first; the preview says so")
  func holds() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      _ = try await server.client.post(
        "/admin/v1/ledger/holds", ["from": "user:anon", "owner": "shop", "amount": 30, "key": "h1"])
      let plan = try await server.client.post("/admin/v1/accounts/anon/merge/preview", ["into": "carol"])
      #expect(plan["waiting"]?.array?.count == 1)
      let refused = await #expect(throws: AdminClientError.self) {
        _ = try await merge(server, "anon", ["into": "carol", "reason": "x"])
      }
      #expect(refused?.status == 409 && refused?.message.contains("30 pieces_of_eight from user:anon") == true)
      #expect(try await get(server, "/users/anon/referred_by.json") == "alice")
    }
  }

  @Test("A reward that waits for the referrer goes along; where one waits for each account, somebody has to choose")
  func heldReward() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      try await put(server, "held_referrals/alice", ["anon": 50, "carol": 50])
      let refused = await #expect(throws: AdminClientError.self) {
        _ = try await merge(server, "anon", ["into": "carol", "reason": "x"])
      }
      #expect(refused?.status == 409 && refused?.message.contains("waits for each of the accounts") == true)
      try await put(server, "held_referrals/alice/carol", .null)
      let merged = try await merge(server, "anon", ["into": "carol", "reason": "x"])
      #expect(merged["held"] == "/held_referrals/alice/carol")
      #expect(try await get(server, "/held_referrals.json") == ["alice": ["carol": 50]])
    }
  }

  @Test("Two holders of one currency are moved by an entry each")
  func holders() async throws {
    let server = try await RunningServer { functions in
      functions.currency("gems", at: TreePath<Int64, UserID>("/users/{uid}/gems"), holder: "user")
      functions.currency("gems", at: TreePath<Int64, UserID>("/pirates/{uid}/gems"), holder: "pirate")
    }
    do {
      try await put(server, "users/anon", ["gems": 3])
      try await put(server, "pirates/anon", ["gems": 4])
      try await put(server, "users/carol", ["name": "Carol"])
      let merged = try await merge(server, "anon", ["into": "carol", "balances": true, "reason": "x"])
      #expect(merged["balances"]?.array?.compactMap { $0["amount"]?.int }.sorted() == [3, 4])
      #expect(try await get(server, "/pirates/carol/gems.json") == 4)
      #expect(try await get(server, "/users/carol/gems.json") == 3)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test("Where a player has several balances of a currency, each goes along, and what was paid into it is not paid again")
  func balances() async throws {
    let purse = TreePath<Int64, UserID, String>("/users/{uid}/purses/{purse}")
    let server = try await RunningServer { functions in
      functions.currency("pearls", at: purse, holder: "purse")
      functions.onCreate(TreePath<Bool, UserID>("/users/{uid}/arrived"), name: "welcomePearls") { event, context in
        try await context.credit(
          purse, event.params, "main", amount: 7, code: "welcome", once: "welcome/\(event.params)")
        return .done
      }
    }
    do {
      try await put(server, "users/anon", ["purses": ["spare": 2]])
      try await put(server, "users/anon/arrived", true)
      try await put(server, "users/carol", ["purses": ["main": 1]])
      let merged = try await merge(server, "anon", ["into": "carol", "balances": true, "reason": "x"])
      #expect(merged["spent"] == ["welcome/carol"])
      try await put(server, "users/carol/arrived", true)
      #expect(try await get(server, "/users/carol/purses.json") == ["main": 8, "spare": 2])
      #expect(try await get(server, "/admin/v1/ledger/verify")["sound"] == true)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test("A node with a priority and nothing but coins below it does not keep the rest from being copied")
  func priority() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      try await put(server, "users/anon/inventory", [".priority": 1, "pieces_of_eight": 50])
      try await put(server, "users/anon/pet", [".priority": 2, ".value": "parrot"])
      let merged = try await merge(server, "anon", ["into": "carol", "record": true, "reason": "x"])
      #expect(merged["copied"] == ["/users/carol/pet"])
      let pet = try await server.client.get("/users/carol/pet.json", query: [QueryItem("format", "export")])
      #expect(pet[".priority"] == 2)
      #expect(try await get(server, "/users/carol/inventory.json") == .null)
    }
  }

  @Test("Ordered again it answers the same and moves nothing; ten at once move it once")
  func once() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      let body: JSON = ["into": "carol", "balances": true, "reason": "x"]
      let answers = try await withThrowingTaskGroup(of: JSON.self) { group in
        for _ in 0..<10 { group.addTask { try await merge(server, "anon", body) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(answers.compactMap { $0["at"]?.int }).count == 1)
      #expect(try await coins(server, "carol") == 50)
      let other = await #expect(throws: AdminClientError.self) {
        _ = try await merge(server, "anon", ["into": "alice", "reason": "x"])
      }
      #expect(other?.status == 409 && other?.message.contains("was merged into carol") == true)
    }
  }

  @Test("What cannot be merged is refused, and nothing has moved")
  func errors() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      try await put(server, "users/eve", ["referred_by": "mallory"])
      for (from, body, status, word) in [
        ("anon", ["into": "nobody", "reason": "x"], 404, "neither an account nor a record"),
        ("anon", ["into": "anon", "reason": "x"], 400, "both sides"),
        ("anon", ["into": "alice", "reason": "x"], 409, "nobody can invite themselves"),
        ("anon", ["into": "eve", "reason": "x"], 409, "was invited by mallory"),
        ("carol", ["into": "alice", "reason": "x"], 409, "carries no referral"), ("anon", ["into": "carol"], 400, "reason"),
      ] as [(String, JSON, Int, String)] {
        let refused = await #expect(throws: AdminClientError.self) { _ = try await merge(server, from, body) }
        #expect(refused?.status == status && refused?.message.contains(word) == true, "\(body): \(refused?.message ?? "")")
      }
      #expect(try await get(server, "/users/anon/referred_by.json") == "alice")
    }
  }
}
