import Accounts
import DoubloonTesting
import Functions
import FunctionsKit
import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminClient

/// A player who leaves: what everybody is told afterwards, over a real socket and with the functions of the deployment.
struct ErasureTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]
  private static let name = "Robert the Dread Pirate"

  private enum Board {
    static let note = TreePath<String, UserID>("/notes/{uid}")
    static let name = TreePath<String, UserID>("/users/{uid}/name")
  }

  /// Writes a note about everybody who gets a name or leaves.
  private static func takeNotes(_ functions: Functions) {
    registerFunctions(functions)
    functions.onCreate(Board.name, name: "greet") { event, context in
      guard event.value != "trouble" else { throw TroubleAhead(name: event.value) }
      return .done
    }
    functions.onDelete(Board.name, name: "farewell") { event, context in
      try await context.set(Board.note, event.params, to: "farewell, \(event.value)")
      return .done
    }
  }

  private struct TroubleAhead: Error, CustomStringConvertible {
    let name: String
    var description: String { "what a name: \(name)" }
  }

  private func running(_ test: (RunningServer) async throws -> Void) async throws {
    let server = try await RunningServer(functions: Self.takeNotes)
    do {
      try await test(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private func put(_ server: RunningServer, _ path: String, _ value: JSON) async throws {
    _ = try await server.client.put("/\(path).json", value, headers: Self.waits)
  }

  private func get(_ server: RunningServer, _ path: String, _ query: [(String, String)] = []) async throws -> JSON {
    try await server.client.get(path, query: query.map { QueryItem($0.0, $0.1) })
  }

  private func populate(_ server: RunningServer) async throws {
    try await put(server, "users/alice", ["name": "Alice"])
    try await put(server, "users/bob", ["name": .string(Self.name), "referred_by": "alice"])
    try await put(server, "users/bob/last_signin_at", 1)
    for level in 1...5 as ClosedRange<Int64> { try await put(server, "users/bob/level", .int(level)) }
    // One commit of two players.
    _ = try await server.client.patch(
      "/users.json", ["alice/mood": "merry", "bob/mood": .string("mood of \(Self.name)")], headers: Self.waits)
    _ = try await server.client.post(
      "/identitytoolkit.googleapis.com/v1/projects/demo/accounts",
      ["localId": "bob", "email": "robert@pirates.example", "displayName": .string(Self.name)])
  }

  @Test("Record, account and past are gone; the coins add up, the chains verify, and who asks is told why")
  func erased() async throws {
    try await running { server in
      try await populate(server)
      let before = try await get(server, "/admin/v1/ledger/balance", [("account", "alice")])
      let head = try await get(server, "/admin/v1/data", [("path", "/")])["revision"]?.int ?? 0
      let preview = try await server.client.post("/admin/v1/accounts/bob/erase/preview")
      #expect(preview["account"] == true)
      #expect(preview["balances"]?.array?.first?["balance"] == 50)
      #expect(preview["waiting"] == [])
      let erasure = try await server.client.post(
        "/admin/v1/accounts/bob/erase", ["reason": "ticket 4711", "paths": ["/notes/{uid}"]])
      #expect(erasure["state"] == "done")
      #expect(erasure["places"]?.array?.compactMap(\.string).sorted() == ["/.accounts/bob", "/notes/bob", "/users/bob"])

      // Now.
      #expect(try await get(server, "/users/bob.json") == .null)
      #expect(try await get(server, "/notes.json") == .null)
      #expect(try await get(server, "/users/alice/mood.json") == "merry")
      #expect(try await get(server, "/admin/v1/ledger/balance", [("account", "alice")]) == before)
      #expect(try await get(server, "/admin/v1/ledger/verify")["sound"] == true)
      let log = try await get(server, "/admin/v1/log/verify")
      #expect(log["sound"] == true && log["unsealed"] == [])
      #expect(log["erased"] == erasure["commits"])
      let rebuilt = try await server.client.post("/admin/v1/replays/rebuild")
      #expect(rebuilt["equal"] == true, "\(rebuilt)")

      // Then.
      let gone = await #expect(throws: AdminClientError.self) {
        _ = try await get(server, "/admin/v1/data", [("path", "/users/bob/level"), ("revision", "\(head)")])
      }
      #expect(gone?.status == 410 && gone?.message.contains("/users/bob was erased") == true)
      #expect(gone?.message.contains("ticket 4711") == true)
      let users = try await get(server, "/admin/v1/data", [("path", "/users"), ("revision", "\(head)")])
      #expect(users["value"]?["alice"]?["mood"] == "merry")
      #expect(users["value"]?["bob"] == nil)
      #expect(users["erased"]?.array?.compactMap { $0["path"]?.string } == ["/users/bob"])
      let diff = try await get(server, "/admin/v1/data/diff", [("path", "/users"), ("from", "1")])
      #expect(diff["erased"]?.array?.first?["reason"] == "ticket 4711")
      #expect(diff["changes"]?.array?.contains { $0["path"]?.string?.contains("bob") == true } == false)
      #expect(try await get(server, "/admin/v1/data/log", [("path", "/users/bob")])["commits"] == [])
      #expect(try await get(server, "/admin/v1/data/log", [("path", "/users/bob")])["erased"]?.array?.count == 1)
      let commit = try await get(server, "/admin/v1/data/log", [("path", "/users/alice/mood")])["commits"]?.array?.first
      #expect(commit?["changeCount"] == 1)

      // Who asks about the player.
      let why = try await get(server, "/admin/v1/why", [("uid", "bob")])
      let lines = (why["lines"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
      #expect(lines.hasPrefix("bob was erased on "), "\(lines)")
      #expect(lines.contains("What was written there before was erased."))
      #expect(lines.contains("+50 pieces_of_eight (signup)"), "\(lines)")
      #expect(lines.contains("-50 pieces_of_eight"), "\(lines)")
      let triggers = try await get(server, "/admin/v1/triggers", [("uid", "bob")])
      #expect(triggers["erased"]?["state"] == "done")
      let referral = try await get(server, "/admin/v1/why", [("uid", "alice")])
      #expect((referral["lines"]?.array ?? []).contains { $0.string?.contains("+50 pieces_of_eight (level5)") == true })
    }
  }

  @Test("Nothing of what the player wrote is left in any file of the store")
  func files() async throws {
    let server = try await RunningServer(functions: Self.takeNotes)
    try await populate(server)
    _ = try await server.client.post(
      "/admin/v1/accounts/bob/erase", ["reason": "x", "paths": ["/notes/{uid}"]])
    await server.stop()
    for word in [Self.name, "robert@pirates.example"] {
      #expect(try !DiskFiles.holds(word, server.folder.file("data/doubloon.db")), "\(word)")
    }
  }

  @Test("An event of the player's past is shown without its values, and can be neither delivered again nor replayed")
  func events() async throws {
    try await running { server in
      try await populate(server)
      let event = "1-2:/users/bob/name"
      #expect(try await get(server, "/admin/v1/events/\(event)")["after"] == .string(Self.name))
      _ = try await server.client.post("/admin/v1/accounts/bob/erase", ["reason": "x"])
      let row = try await get(server, "/admin/v1/events/\(event)")
      #expect(row["after"] == .null && row["erased"]?["path"] == "/users/bob")
      #expect(row["executions"]?.array?.first?["outcome"] == "done")
      for (path, body) in [
        ("/admin/v1/events/\(event)/redeliver", JSON.object([])),
        ("/admin/v1/replays", ["mode": "all", "event": .string(event), "reason": "x"]),
      ] as [(String, JSON)] {
        let refused = await #expect(throws: AdminClientError.self) { _ = try await server.client.post(path, body) }
        #expect(refused?.status == 409 && refused?.message.contains("was erased") == true, "\(path): \(refused?.message ?? "")")
      }
      let survey = try await server.client.post("/admin/v1/replays/preview", ["mode": "all", "reason": "x"])
      #expect(survey["failed"]?.int ?? 0 == 0)
    }
  }

  @Test("A retry that is due for the player has to end first; the error names it, and nothing is gone")
  func waiting() async throws {
    try await running { server in
      try await put(server, "users/bob", ["name": "trouble"])
      let refused = await #expect(throws: AdminClientError.self) {
        _ = try await server.client.post("/admin/v1/accounts/bob/erase", ["reason": "x"])
      }
      #expect(refused?.status == 409)
      #expect(refused?.message.contains("greet for 1-1:/users/bob/name is waiting") == true, "\(refused?.message ?? "")")
      #expect(try await get(server, "/users/bob/name.json") == "trouble")
      let preview = try await server.client.post("/admin/v1/accounts/bob/erase/preview")
      #expect(preview["waiting"]?.array?.count == 1)
    }
  }

  @Test("A hold that is open goes back with a reason before the record goes, and the preview names it")
  func held() async throws {
    try await running { server in
      try await populate(server)
      let held = try await server.client.post(
        "/admin/v1/ledger/holds", ["from": "user:bob", "owner": "shop", "amount": 30, "key": "h1"])
      let sequence = try #require(held["entry"]?["sequence"]?.int)
      let preview = try await server.client.post("/admin/v1/accounts/bob/erase/preview")
      #expect(preview["waiting"] == [])
      #expect(preview["holds"]?.array?.compactMap { $0["sequence"]?.int } == [sequence])
      // Nobody else is concerned.
      #expect(try await server.client.post("/admin/v1/accounts/alice/erase/preview")["holds"] == [])
      #expect(try await server.client.post("/admin/v1/accounts/bob/erase", ["reason": "x"])["state"] == "done")
      #expect(try await get(server, "/users/bob.json") == .null)
      let back = try await get(server, "/admin/v1/ledger/statement", [("account", "hold:shop")])["entries"]?.array?.first
      #expect(back?["credit"] == "user:bob" && back?["reason"] == "bob was erased" && back?["code"] == "void")
      #expect(try await get(server, "/admin/v1/ledger/holds")["holds"] == [])
      #expect(try await get(server, "/admin/v1/ledger/verify")["sound"] == true)
      // Who wants to pay it out by now is told which entry ended it.
      let late = await #expect(throws: AdminClientError.self) {
        _ = try await server.client.post("/admin/v1/ledger/holds/\(sequence)/release", ["to": "user:shop"])
      }
      #expect(late?.status == 409 && late?.message.contains("A hold ends once") == true, "\(late?.message ?? "")")
    }
  }

  @Test("Orders that cannot be meant are refused with what to do")
  func errors() async throws {
    try await running { server in
      try await populate(server)
      for (uid, body, status) in [
        ("bob", [:], 400), ("bob", ["reason": "x", "paths": ["/leaderboard"]], 400),
        ("bob", ["reason": "x", "paths": ["/a/{b}/{c}"]], 400), ("bob", ["reason": "x", "paths": ["/a/{b=**}"]], 400),
        ("nobody", ["reason": "x"], 404),
      ] as [(String, JSON, Int)] {
        let refused = await #expect(throws: AdminClientError.self) {
          _ = try await server.client.post("/admin/v1/accounts/\(uid)/erase", body)
        }
        #expect(refused?.status == status, "\(uid) \(body): \(refused?.message ?? "")")
      }
      let audit = try await get(server, "/admin/v1/audit", [("action", "accounts.erase")])
      #expect(audit["actions"]?.array?.count == 5)
    }
  }
}
