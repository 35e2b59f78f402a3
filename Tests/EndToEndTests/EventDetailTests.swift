import FunctionsKit
import NIOHTTP1
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// What an administrator sees of one event.
struct EventDetailTests {
  private enum Places {
    static let level = TreePath<Int64, UserID>("/users/{uid}/level")
    static let badge = TreePath<String, UserID>("/users/{uid}/badge")
  }

  @Test("An event shows who wants it, the whole write, the events that its effects caused and its messages to the outside")
  func chain() async throws {
    let server = try await RunningServer { functions in
      functions.onUpdate(Places.level, name: "giveBadge", when: .rising(to: 5)) { event, context in
        try await context.set(Places.badge, event.params, to: "gold")
        try await context.send(["level": event.after], to: "mail")
        return .done
      }
      functions.onCreate(Places.badge, name: "admire") { _, _ in .skipped("seen") }
    }
    let client = server.client
    _ = try await client.put("/users/bob.json", ["level": 4])
    _ = try await client.patch("/users/bob.json", ["level": 5, "name": "Bob"], headers: ["X-Doubloon-Wait": "effects"])
    let event = try await client.get("/admin/v1/events/1-2:/users/bob/level")
    let chain = try await client.get("/admin/v1/events", query: [QueryItem("cause", "1-2:/users/bob/level")])
    await server.stop()
    let match = try #require(event["matches"]?.array?.first)
    #expect(match["function"] == "giveBadge" && match["captures"] == ["uid": "bob"])
    #expect(match["runsOn"] == "an update rising to 5")
    #expect(event["write"]?["changeCount"] == 2 && event["write"]?["triggers"] == true)
    #expect(event["children"] == [["id": "1-3:/users/bob/badge", "kind": "created"]])
    let message = try #require(event["outbox"]?.array?.first)
    #expect(message["outlet"] == "mail" && message["payload"] == ["level": 5])
    #expect((chain["events"]?.array ?? []).map { $0["id"]?.string } == ["1-3:/users/bob/badge", "1-2:/users/bob/level"])
  }

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
