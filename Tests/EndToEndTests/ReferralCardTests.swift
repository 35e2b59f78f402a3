import NIOHTTP1
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// The product's card: post user records over HTTP, onCreate and onUpdate fire, transactional increments pay 50 and 50.
struct ReferralCardTests {
  @Test("User records are posted, the functions fire, and both players have their 50")
  func card() async throws {
    try await RunningServer.run { server in
      let client = server.client
      // A player of old, and a friend whom she invites.
      _ = try await client.put("/users/alice.json", .object([.init(key: "name", value: .string("Alice"))]))
      _ = try await client.put(
        "/users/bob.json",
        .object([.init(key: "name", value: .string("Bob")), .init(key: "referred_by", value: .string("alice"))]))

      // Bob signs in for the first time: onCreate fires.
      _ = try await client.put("/users/bob/last_signin_at.json", .object([.init(key: ".sv", value: .string("timestamp"))]))
      // Bob plays: only the step from 4 to 5 is one that onUpdate pays for.
      for level in 1...5 as ClosedRange<Int64> {
        _ = try await client.put("/users/bob/level.json", .int(level))
      }

      _ = try await client.post("/admin/v1/drain")
      #expect(try await client.get("/users/bob/inventory/pieces_of_eight.json") == .int(50))
      #expect(try await client.get("/users/alice/inventory/pieces_of_eight.json") == .int(50))
    }
  }

  @Test("A write that waits for its effects is answered when the coins are there")
  func waiting() async throws {
    try await RunningServer.run { server in
      let client = server.client
      _ = try await client.put(
        "/users/bob.json",
        .object([.init(key: "level", value: .int(4)), .init(key: "referred_by", value: .string("alice"))]))
      _ = try await client.put("/users/bob/level.json", .int(5), headers: ["X-Doubloon-Wait": "effects"])
      #expect(try await client.get("/users/alice/inventory/pieces_of_eight.json") == .int(50))
    }
  }

  @Test("After a stop and a start on the same data everything is there")
  func restart() async throws {
    let folder = TemporaryFolder()
    let first = try await RunningServer(folder: folder)
    _ = try await first.client.put(
      "/users/bob.json",
      .object([
        .init(key: "referred_by", value: .string("alice")), .init(key: "last_signin_at", value: .int(1)),
      ]), headers: ["X-Doubloon-Wait": "effects"])
    let before = try await first.client.get("/.json", query: [QueryItem("format", "export")])
    await first.stop()
    let second = try await RunningServer(folder: folder)
    #expect(try await second.client.get("/.json", query: [QueryItem("format", "export")]) == before)
    #expect(try await second.client.get("/users/bob/inventory/pieces_of_eight.json") == .int(50))
    await second.stop()
  }
}
