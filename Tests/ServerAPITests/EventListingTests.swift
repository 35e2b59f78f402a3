import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import ServerAPI

/// The trigger log as administrators read it.
struct EventListingTests {
  private func rows(_ server: APIServer, _ query: String) async throws -> (ids: [String], next: String?) {
    let response = try await server.send("GET", "/admin/v1/events?\(query)", headers: APIServer.admin)
    #expect(response.status == 200, "\(response.body)")
    let ids = (response.json?["events"]?.array ?? []).compactMap { $0["id"]?.string }
    return (ids, response.json?["next"]?.string)
  }

  /// Three commits of a player, a second apart; the second was handled by `f`, the third is a dead letter of `g`.
  private func prepare(_ server: APIServer) async throws {
    for level in 1...3 {
      try await server.expect(.init("PUT", "/users/bob/level.json", "\(level)", headers: ["X-Request-ID": "r\(level)"]))
      server.clock.advance(by: 1000)
    }
    try await server.expect(.init("PUT", "/users/eve/name.json", "1"))
    var request = CommitRequest(
      namespace: try #require(server.database.namespace(named: "game")), actor: .function("f"), operations: [])
    let event = try #require(EventID("1-2:/users/bob/level"))
    request.execution = ExecutionRecord(
      event: event, function: "f", outcome: .skipped, reason: "already_paid", attempt: 1, startedAt: 1, finishedAt: 2,
      settings: nil)
    let dead = try #require(EventID("1-3:/users/bob/level"))
    request.deliveries = [
      DeliveryRecord(
        event: dead, kind: .updated, hop: 0, function: "g", state: .dead, attempts: 12, crashes: 0, nextAttemptAt: 0,
        lastError: "boom", updatedAt: 3)
    ]
    _ = try await server.database.commit(request)
  }

  @Test("Newest first, page by page, with filters that are all applied")
  func listing() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await prepare(server)
      let all = ["1-4:/users/eve/name", "1-3:/users/bob/level", "1-2:/users/bob/level", "1-1:/users/bob/level"]
      #expect(try await rows(server, "").ids == all)
      let first = try await rows(server, "limit=3")
      #expect(first.ids == Array(all[..<3]))
      let cursor = try #require(first.next)
      let second = try await rows(server, "limit=3&cursor=\(cursor)")
      #expect(second.ids == [all[3]] && second.next == nil)
      for (query, expected) in [
        ("path=users/bob", Array(all[1...])), ("uid=eve", [all[0]]), ("function=f", [all[2]]), ("outcome=dead", [all[1]]),
        ("outcome=skipped&function=g", []), ("outcome=pending", [all[0], all[3]]),
        ("since=\(APIServer.start + 2000)", Array(all[..<2])),
      ] {
        #expect(try await rows(server, query).ids == expected, "\(query)")
      }
    }
  }

  @Test("One event tells its commit, its executions and its deliveries")
  func one() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await prepare(server)
      let event = try await server.send("GET", "/admin/v1/triggers/1-2:/users/bob/level", headers: APIServer.admin)
      #expect(event.json?["kind"] == "updated" && event.json?["actor"] == "anonymous" && event.json?["requestId"] == "r2")
      #expect(event.json?["time"]?.int == APIServer.start + 1000)
      #expect(event.json?["executions"]?.array?.first?["reason"] == "already_paid")
      let dead = try await server.send("GET", "/admin/v1/dead-letters", headers: APIServer.admin)
      #expect(dead.json?["deadLetters"]?.array?.first?["lastError"] == "boom")
      let executions = try await server.send(
        "GET", "/admin/v1/executions?event=1-2:%2Fusers%2Fbob%2Flevel", headers: APIServer.admin)
      #expect(executions.json?["executions"]?.array?.count == 1)
      try await server.expect(
        .init("GET", "/admin/v1/events/9-9:/none", headers: APIServer.admin, status: 404),
        .init("GET", "/admin/v1/events?cursor=odd", headers: APIServer.admin, status: 400))
    }
  }

  @Test("X-Doubloon-Wait asks for the write's own events, and says if they are not settled in time")
  func waiting() async throws {
    let effects = HeldEffects(isSettled: false)
    try await APIServer.run(effects: effects, participants: [EveryChange()]) { server in
      try await server.expect(
        .init(
          "PUT", "/a/b.json", "1", headers: ["X-Doubloon-Wait": "effects"], is: "1",
          having: ["x-doubloon-effects": "pending"]))
      #expect(effects.events.map(\.id.description) == ["1-1:/a/b"])
    }
  }
}
