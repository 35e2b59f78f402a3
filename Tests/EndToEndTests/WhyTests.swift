import DoubloonTesting
import Functions
import FunctionsKit
import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// A support person's question, answered from the log alone: why has bob 50 and alice nothing?
struct WhyTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]

  private func put(_ server: RunningServer, _ path: String, _ value: JSON, query: [QueryItem] = []) async throws {
    _ = try await server.client.put("/\(path).json", value, query: query, headers: Self.waits)
  }

  private func why(_ server: RunningServer, _ uid: String) async throws -> JSON {
    try await server.client.get("/admin/v1/why", query: [QueryItem("uid", uid)])
  }

  private func story(_ answer: JSON, _ function: String) -> [JSON] {
    answer["functions"]?.array?.first { $0["function"]?.string == function }?["changes"]?.array ?? []
  }

  private func fates(_ answer: JSON, _ function: String) -> [String] {
    story(answer, function).compactMap { $0["fate"]?.string }
  }

  private func lines(_ answer: JSON) -> String {
    (answer["lines"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
  }

  @Test("A sign-up that paid, a milestone that paid the referrer once, and both sides of the story")
  func paid() async throws {
    try await RunningServer.run { server in
      try await put(server, "users/alice", ["name": "Alice"])
      try await put(server, "users/bob", ["name": "Bob", "referred_by": "alice"])
      try await put(server, "users/bob/last_signin_at", 1)
      for level in [4, 5, 4, 5] as [Int64] { try await put(server, "users/bob/level", .int(level)) }
      let bob = try await why(server, "bob")
      #expect(fates(bob, "grantSignupReward") == ["paid"])
      #expect(fates(bob, "rewardReferrals") == ["unwanted", "paid", "unwanted", "skipped"])
      let text = lines(bob)
      for sentence in [
        "grantSignupReward runs on a creation at /users/bob/last_signin_at.",
        "last_signin_at was created as 1: paid 50 pieces_of_eight to user:bob (entry 1; referred by alice).",
        "level was created as 4: no run, for rewardReferrals runs on an update rising to 5.",
        "level went from 4 to 5: paid 50 pieces_of_eight to user:alice (entry 2).",
        "level went from 4 to 5: rewardReferrals skipped it: already paid: entry 2 of 1-6:/users/bob/level.",
        "Entry 1: +50 pieces_of_eight (signup), by grantSignupReward, because last_signin_at was created as 1 "
          + "(event 1-3:/users/bob/last_signin_at); referred by alice.",
      ] {
        #expect(text.contains(sentence), "\(sentence)\n\(text)")
      }
      #expect(!text.contains("doubloon "), "nothing is wrong, so nothing is to be repaired:\n\(text)")
      let alice = lines(try await why(server, "alice"))
      #expect(
        alice.contains(
          "+50 pieces_of_eight (level5), by rewardReferrals, because bob's level went from 4 to 5 (event 1-6:/users/bob/level)."
        ), "\(alice)")
      let reward = try await server.client.get(
        "/admin/v1/why", query: [QueryItem("uid", "bob"), QueryItem("reward", "grantSignupReward")])
      #expect(reward["functions"]?.array?.count == 1 && reward["payments"]?.array?.count == 1)
      await #expect(throws: AdminClientError.self) {
        _ = try await server.client.get("/admin/v1/why", query: [QueryItem("uid", "bob"), QueryItem("reward", "nothing")])
      }
    }
  }

  @Test("A level that was jumped over is told on both sides, with the command that pays all the same")
  func jumped() async throws {
    try await RunningServer.run { server in
      try await put(server, "users/bob", ["referred_by": "alice", "level": 3])
      try await put(server, "users/bob/level", 6)
      let bob = try await why(server, "bob")
      #expect(story(bob, "rewardReferrals").last?["reason"] == "jumped_over_5")
      let text = lines(bob)
      #expect(text.contains("level went from 3 to 6: rewardReferrals skipped it: jumped over 5."), "\(text)")
      let command = "doubloon functions invoke rewardReferrals --path /users/bob/level --before 4 --after 5 --reason TEXT"
      #expect(text.contains(command), "\(text)")
      #expect(story(bob, "rewardReferrals").last?["repair"]?.string == command)
      let alice = try await why(server, "alice")
      #expect(alice["mentions"]?.array?.first?["place"] == "/users/bob/referred_by" && alice["sawAllMentions"] == true)
      #expect(lines(alice).contains("No coins ever moved on an account of alice."))
      #expect(lines(alice).contains("rewardReferrals skipped it: jumped over 5."))
    }
  }

  @Test("A referrer without a record is paid, and the entry says so")
  func ghost() async throws {
    try await RunningServer.run { server in
      try await put(server, "users/bob", ["referred_by": "nobody", "level": 4])
      try await put(server, "users/bob/level", 5)
      let text = lines(try await why(server, "nobody"))
      #expect(text.contains("Entry 1: +50 pieces_of_eight (level5), by rewardReferrals"), "\(text)")
      #expect(text.contains("; ghost referrer."), "\(text)")
    }
  }

  @Test("A dead letter names the error and the replay; a paused function its reason and the way to go on")
  func failed() async throws {
    try await RunningServer.run { server in
      try await put(server, "users/alice/inventory/pieces_of_eight", "much")
      try await put(server, "users/bob", ["referred_by": "alice", "level": 4])
      try await put(server, "users/bob/level", 5)
      let dead = try await why(server, "bob")
      #expect(fates(dead, "rewardReferrals").last == "dead")
      let command = "doubloon replay --event 1-3:/users/bob/level --function rewardReferrals --reason TEXT"
      #expect(lines(dead).contains("rewardReferrals gave up after"), "\(lines(dead))")
      #expect(lines(dead).contains(command), "\(lines(dead))")

      _ = try await server.client.post("/admin/v1/functions/grantSignupReward/pause", ["reason": "bad deploy"])
      try await put(server, "users/bob/last_signin_at", 1)
      _ = try await server.client.post("/admin/v1/drain")
      let paused = try await why(server, "bob")
      #expect(fates(paused, "grantSignupReward") == ["paused"])
      #expect(lines(paused).contains("It is paused (bad deploy)."), "\(lines(paused))")
      #expect(lines(paused).contains("doubloon functions resume grantSignupReward"))
    }
  }

  @Test("An import that suppressed triggers, and a record that came with the level, say why nothing ran")
  func silent() async throws {
    try await RunningServer.run { server in
      try await put(server, "users/bob", ["referred_by": "alice", "level": 4])
      try await put(server, "users/bob/level", 5, query: [QueryItem("disableTriggers", "true")])
      try await put(server, "users/eve", ["referred_by": "alice", "level": 5])
      let bob = try await why(server, "bob")
      #expect(fates(bob, "rewardReferrals").last == "suppressed")
      #expect(lines(bob).contains("no run, for admin:owner wrote it with triggers suppressed."), "\(lines(bob))")
      #expect(lines(bob).contains("doubloon replay --event 1-2:/users/bob/level --function rewardReferrals --suppressed"))
      var replay = try await server.client.post(
        "/admin/v1/replays", ["mode": "gaps", "suppressed": true, "uid": "bob", "reason": "the import was to pay"])
      for _ in 0..<10_000 where replay["state"] == "running" {
        replay = try await server.client.get("/admin/v1/replays/\(replay["id"]?.int ?? 0)")
      }
      _ = try await server.client.post("/admin/v1/drain")
      let replayed = try await why(server, "bob")
      #expect(fates(replayed, "rewardReferrals").last == "paid")
      let eve = lines(try await why(server, "eve"))
      #expect(eve.contains("level was created as 5: no run, for rewardReferrals runs on an update rising to 5."), "\(eve)")
      #expect(
        eve.contains("grantSignupReward runs on a creation at /users/eve/last_signin_at.\n  Nothing was ever written there."))
    }
  }

  @Test("A function that was deployed later names the replay that makes up for it")
  func later() async throws {
    let folder = TemporaryFolder()
    let first = try await RunningServer(folder: folder) { _ in }
    _ = try await first.client.put("/users/bob.json", ["referred_by": "alice", "level": 4])
    _ = try await first.client.put("/users/bob/level.json", 5)
    await first.stop()
    let second = try await RunningServer(folder: folder)
    let text = lines(try await why(second, "bob"))
    await second.stop()
    #expect(text.contains("no run, for rewardReferrals was not there when it happened, or had another rule."), "\(text)")
    #expect(text.contains("doubloon replay --gaps --function rewardReferrals --uid bob --reason TEXT"))
  }
}
