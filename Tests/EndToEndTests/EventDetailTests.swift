import NIOHTTP1
import ServerApp
import TestSupport
import Testing
import TreeModel

/// What an administrator sees of one event.
struct EventDetailTests {
  @Test("An event shows the write, the run, what it changed and the entry that came of it")
  func detail() async throws {
    try await RunningServer.run { server in
      let client = server.client
      _ = try await client.put(
        "/users/bob.json", .object([.init(key: "level", value: 4), .init(key: "referred_by", value: "alice")]))
      _ = try await client.put("/users/bob/level.json", 5, headers: ["X-Doubloon-Wait": "effects"])
      let event = try await client.get("/admin/v1/events/1-2:/users/bob/level")
      #expect(event["kind"] == "updated")
      #expect(event["before"] == 4)
      #expect(event["after"] == 5)
      let effect = try #require(event["effects"]?.array?.first)
      #expect(effect["path"] == "/users/alice/inventory/pieces_of_eight")
      #expect(effect["before"] == .null)
      #expect(effect["after"] == 50)
      let entry = try #require(event["entries"]?.array?.first)
      #expect(entry["key"] == "level5/bob")
      #expect(entry["credit"] == "user:alice")
      #expect(event["executions"]?.array?.first?["outcome"] == "done")
    }
  }
}
