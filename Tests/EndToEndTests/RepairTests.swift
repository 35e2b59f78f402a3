import DoubloonTesting
import FunctionsKit
import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a support person does, over the administrators' surface.
struct RepairTests {
  private static func reward(_ broken: Switch, gift: Switch = Switch(false)) -> @Sendable (Functions) -> Void {
    { functions in
      functions.onUpdate(Game.level, name: "reward", options: FunctionOptions(retry: RetryPolicy(attempts: 1))) {
        event, context in
        if broken.isOn { throw Oops() }
        guard let referrer = try await context.get(Game.referrer, event.params).flatMap({ UserID($0) }) else {
          return .skipped("not_referred")
        }
        try await context.credit(Game.gold, referrer, amount: 50, code: "level", once: "level/\(event.params)")
        return .done
      }
      if gift.isOn {
        functions.onCreate(Game.level, name: "gift") { event, context in
          try await context.credit(Game.gold, event.params, amount: 5, code: "gift", once: "gift/\(event.params)")
          return .done
        }
      }
    }
  }

  @Test("A bad deploy failed for 300 players: they are found, previewed, replayed, verified; one is reversed; history is paid")
  func story() async throws {
    let broken = Switch(false), gift = Switch(false)
    let folder = try await Self.lastNight(broken, gift)
    // The morning: a corrected version is deployed, with a new function in it.
    broken.set(false)
    gift.set(true)
    let server = try await RunningServer(folder: folder, functions: Self.reward(broken, gift: gift))
    do {
      try await Self.morning(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private static func lastNight(_ broken: Switch, _ gift: Switch) async throws -> TemporaryFolder {
    let server = try await RunningServer(functions: reward(broken, gift: gift))
    var players: [JSON.Member] = []
    var levels: [JSON.Member] = []
    for player in 0..<301 {
      players.append(.init(key: "p\(player)", value: ["referred_by": .string("r\(player % 10)"), "level": 4]))
      levels.append(.init(key: "p\(player)/level", value: 5))
    }
    _ = try await server.client.put("/users.json", .object(players))
    _ = try await server.client.put(
      "/users/p300/level.json", 5, headers: ["X-Doubloon-Wait": "effects"])
    broken.set(true)
    _ = try await server.client.patch(
      "/users.json", .object(Array(levels.dropLast())), headers: ["X-Doubloon-Wait": "effects"])
    await server.stop()
    return server.folder
  }

  private static func morning(_ server: RunningServer) async throws {
    let client = server.client
    // Found.
    let dead = try await client.get("/admin/v1/dead-letters", query: [QueryItem("limit", "1000")])
    #expect(dead["deadLetters"]?.array?.count == 300)
    // Previewed.
    let order: JSON = ["mode": "failed", "function": "reward", "reason": "deploy of last night, ticket 512"]
    let preview = try await client.post("/admin/v1/replays/preview", order)
    #expect(preview["survey"]?["run"] == 300)
    let counted = try #require(preview["survey"]?["functions"]?.array?.first?.object)
    #expect(counted.map(\.key) == ["name", "run", "alreadyDone", "resting"], "a member that says nothing is left out")
    #expect(preview["coins"] == ["pieces_of_eight": 15_000])
    // Replayed.
    let replay = try await ended(try await client.post("/admin/v1/replays", order), client)
    #expect(replay["progress"]?["outcomes"] == ["done": 300])
    #expect(replay["progress"]?["coins"] == ["pieces_of_eight": 15_000])
    // Verified.
    #expect(try await client.get("/admin/v1/ledger/verify")["sound"] == true)
    #expect(try await client.get("/admin/v1/log/verify")["sound"] == true)
    #expect(try await client.get("/users/r1/inventory/pieces_of_eight.json").int == 1500)
    // p300's referrer should not have been paid: found by the key, and reversed.
    let entry = try await client.get("/admin/v1/ledger/entries", query: [QueryItem("key", "level/p300")])
    let sequence = try #require(entry["entries"]?.array?.first?["sequence"]?.int)
    let reversal = try await client.post(
      "/admin/v1/ledger/reverse", ["sequence": .int(sequence), "reason": "same device, ticket 513"])
    #expect(reversal["entry"]?["reverses"] == .int(sequence))
    #expect(try await client.get("/users/r0/inventory/pieces_of_eight.json").int == 1500)
    // The new function pays history, once.
    for given in [301, 0] {
      let gaps = try await client.post(
        "/admin/v1/replays", ["mode": "gaps", "function": "gift", "reason": "gift for everyone since the start"])
      #expect(try await ended(gaps, client)["progress"]?["given"] == .int(Int64(given)))
    }
    #expect(try await client.get("/users/p7/inventory/pieces_of_eight.json").int == 5)
    let rebuild = try await client.post("/admin/v1/replays/rebuild", ["rerun": true])
    #expect(rebuild["equal"] == true, "\(rebuild)")
    #expect(rebuild["rerun"]?["divergent"] == 0, "\(rebuild)")
    // What is built stays where it is wanted, and never beside what is somebody else's.
    let target = TemporaryFolder()
    let kept = try await client.post("/admin/v1/replays/rebuild", ["into": .string(target.path + "/built")])
    #expect(kept["equal"] == true && access(target.path + "/built/doubloon.db", F_OK) == 0, "\(kept)")
    await #expect(throws: AdminClientError.self) {
      _ = try await client.post("/admin/v1/replays/rebuild", ["into": .string(target.path)])
    }
    #expect(access(target.path + "/doubloon.db", F_OK) != 0)
    let audits = try await client.get("/admin/v1/audit", query: [QueryItem("limit", "20")])
    let actions = audits["actions"]?.array?.compactMap { $0["action"]?.string } ?? []
    #expect(actions.filter { $0 == "replays.start" }.count == 3)
    #expect(actions.filter { $0 == "replays.done" }.count == 3)
  }

  static func ended(_ started: JSON, _ client: AdminClient) async throws -> JSON {
    let id = try #require(started["id"]?.int)
    for _ in 0..<20_000 {
      let record = try await client.get("/admin/v1/replays/\(id)")
      if record["state"] != "running" { return record }
    }
    throw NeverCame()
  }

  @Test("A function is run by hand once, under an id of its own; a dead letter is closed with a reason")
  func byHand() async throws {
    let broken = Switch(false)
    let server = try await RunningServer(functions: Self.reward(broken))
    let client = server.client
    _ = try await client.put("/users/bob.json", ["referred_by": "alice", "level": 5])
    let order: JSON = ["path": "/users/bob/level", "before": 4, "after": 5, "as": "user:bob", "reason": "ticket 514"]
    let first = try await client.post("/admin/v1/functions/reward/invoke", order)
    #expect(first["event"] == "0-1:/users/bob/level")
    #expect(first["outcome"] == "done")
    let shown = try await client.get("/admin/v1/events/\(first["event"]?.string ?? "")")
    #expect(shown["invocation"]?["actor"] == "admin:owner" && shown["id"] == first["event"] && shown["write"] == .null)
    #expect(shown["executions"]?.array?.first?["outcome"]?.string != nil)
    let second = try await client.post("/admin/v1/functions/reward/invoke", order)
    #expect(second["outcome"] == "skipped")
    #expect(second["reason"]?.string?.hasPrefix("already_paid: entry 1") == true)
    #expect(try await client.get("/users/alice/inventory/pieces_of_eight.json").int == 50)
    let listed = try await client.get("/admin/v1/invocations")
    #expect(listed["invocations"]?.array?.map { $0["as"]?.string } == ["user:bob", "user:bob"])
    for wrong: JSON in [
      ["path": "/elsewhere", "before": 4, "after": 5, "reason": "x"],
      ["path": "/users/bob/level", "before": 5, "after": 5, "reason": "x"],
      ["path": "/users/bob/level", "after": 5, "reason": "x"], ["path": "/users/bob/level", "before": 4, "after": 5],
    ] {
      await #expect(throws: AdminClientError.self, "\(wrong)") {
        try await client.post("/admin/v1/functions/reward/invoke", wrong)
      }
    }
    broken.set(true)
    _ = try await client.put("/users/bob/level.json", 6, headers: ["X-Doubloon-Wait": "effects"])
    let closed = try await client.post(
      "/admin/v1/dead-letters/acknowledge", ["function": "reward", "reason": "paid by hand"])
    #expect(closed["acknowledged"] == 1)
    let executions = try await client.get("/admin/v1/executions", query: [QueryItem("event", "1-3:/users/bob/level")])
    #expect(executions["executions"]?.array?.first?["reason"] == "acknowledged: paid by hand", "\(executions)")
    #expect(try await client.get("/admin/v1/log/verify")["sound"] == true)
    await server.stop()
  }

  @Test("After a prune every look and every replay works on what is left, and says what is not there any more")
  func prune() async throws {
    let broken = Switch(false)
    let server = try await RunningServer(functions: Self.reward(broken))
    let client = server.client
    for player in 0..<20 {
      _ = try await client.put("/users/p\(player).json", ["referred_by": "r", "level": 4])
      _ = try await client.put("/users/p\(player)/level.json", 5, headers: ["X-Doubloon-Wait": "effects"])
    }
    broken.set(true)
    _ = try await client.put("/users/p1/level.json", 6, headers: ["X-Doubloon-Wait": "effects"])
    let head = try #require(try await client.get("/admin/v1/namespaces")["namespaces"]?.array?.first?["revision"]?.int)
    let tree = try await client.get("/.json")
    _ = try await client.post("/admin/v1/drain")
    // A dead letter holds the rest back.
    let report = try await client.post("/admin/v1/log/prune", ["through": .int(head), "reason": "retention"])
    #expect(report["pruned"] == .int(head - 1), "\(report)")
    #expect(report["heldBack"]?.string?.contains("dead letter") == true)
    _ = try await client.put("/users/p2/name.json", "Two")
    // The tree, the proofs, and the rebuild from the checkpoint.
    var pruned = try await client.get("/.json")
    #expect(pruned["users"]?["p2"]?["name"] == "Two")
    _ = try await client.delete("/users/p2/name.json")
    pruned = try await client.get("/.json")
    #expect(pruned == tree)
    let log = try await client.get("/admin/v1/log/verify")
    #expect(log["sound"] == true, "\(log)")
    #expect(log["forgotten"] == .int(head - 1))
    #expect(try await client.get("/admin/v1/ledger/verify")["sound"] == true)
    let rebuild = try await client.post("/admin/v1/replays/rebuild", [:])
    #expect(rebuild["equal"] == true, "\(rebuild)")
    #expect(rebuild["checkpoint"] == .int(head - 1))
    // The trigger log shows what is left of an old event; its values are gone, and it cannot be run.
    #expect(try await client.get("/admin/v1/events")["events"]?.array?.count == 21)
    let refused = await #expect(throws: AdminClientError.self) {
      try await client.post("/admin/v1/replays", ["event": "1-2:/users/p0/level", "reason": "x"])
    }
    #expect(refused?.message.contains("pruned up to revision") == true, "\(String(describing: refused))")
    // What the dead letter needs is there: after the fix it runs.
    broken.set(false)
    let failed = try await Self.ended(
      try await client.post("/admin/v1/replays", ["mode": "failed", "reason": "fixed"]), client)
    #expect(failed["progress"]?["outcomes"] == ["skipped: already_paid": 1], "\(failed)")
    let all = try await Self.ended(try await client.post("/admin/v1/replays", ["mode": "all", "reason": "x"]), client)
    #expect(all["progress"]?["alreadyDone"] == 1)
    #expect(all["progress"]?["pruned"] == .int(head - 1))
    await server.stop()
    // And after a restart.
    let again = try await RunningServer(folder: server.folder, functions: Self.reward(broken))
    #expect(try await again.client.get("/.json") == tree)
    #expect(try await again.client.get("/admin/v1/log/verify")["sound"] == true)
    _ = try await again.client.put("/users/p3/level.json", 7, headers: ["X-Doubloon-Wait": "effects"])
    #expect(try await again.client.post("/admin/v1/replays/rebuild", [:])["equal"] == true)
    await again.stop()
  }
}
