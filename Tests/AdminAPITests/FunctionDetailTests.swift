import PlayerLifecycle
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI

/// One function, as the console shows it.
struct FunctionDetailTests {
  private static let record = FunctionRecord(
    name: "f", pattern: "/users/{uid}/level", kinds: "onUpdate", since: [:], isPaused: false, pauseReason: nil, updatedAt: 1)

  private static func delivery(
    _ event: String, of function: String = "f", state: DeliveryRecord.State, error: String = "", updatedAt: Int64 = 1
  ) throws -> DeliveryRecord {
    DeliveryRecord(
      event: try #require(EventID(event)), kind: .updated, hop: 0, function: function, state: state,
      attempts: error.isEmpty ? 0 : 3, crashes: 0, nextAttemptAt: 70, lastError: error, updatedAt: updatedAt)
  }

  private func functions() -> StubFunctions {
    var tally = FunctionTally(function: "f")
    tally.endings = [.done: 4, .failed: 2]
    (tally.timeouts, tally.deadLetters, tally.measuredRuns) = (1, 1, 6)
    (tally.nanoseconds, tally.slowest) = (600, 350)
    (tally.p50, tally.p95, tally.p99) = (55, 350, 350)
    tally.spans = [55: 3, 350: 3]
    let description = FunctionDescription(
      name: "f", pattern: "/users/{uid}/level", players: ["uid"], kinds: [.updated], runsOn: "an update",
      settings: ["amount": 60, "limit": "day"], defaults: ["amount": 50, "limit": "day"], admits: { _, _ in true })
    return StubFunctions(records: [Self.record], descriptions: [description], tallies: [tally])
  }

  private func show(_ server: APIServer, _ name: String) async throws -> JSON {
    let response = try await server.send("GET", "/admin/v1/functions/\(name)", headers: APIServer.admin)
    #expect(response.status == 200, "\(response.body)")
    return try #require(response.json)
  }

  @Test("One function shows its settings with their defaults, its runs, what waits for it and what it failed on last")
  func detail() async throws {
    try await APIServer.run(functions: functions(), participants: [EveryChange()]) { server in
      for level in 1...4 {
        try await server.expect(.init("PUT", "/users/bob/level.json", "\(level)"))
        server.clock.advance(by: 1000)
      }
      var request = CommitRequest(
        namespace: try #require(server.database.namespace(named: "game")), actor: .system("test"))
      request.triggers.deliveries = [
        try Self.delivery("1-2:/users/bob/level", state: .waiting, error: "no answer", updatedAt: 5),
        try Self.delivery("1-3:/users/bob/level", state: .waiting),
        try Self.delivery("1-1:/users/bob/level", state: .dead, error: "boom", updatedAt: 9),
        try Self.delivery("1-1:/users/bob/level", of: "g", state: .waiting, error: "another's", updatedAt: 99),
        try Self.delivery("1-1:/users/bob/level", of: "e", state: .waiting, error: "another's", updatedAt: 99),
        try Self.delivery("1-4:/users/bob/level", state: .paused),
      ]
      _ = try await server.database.commit(request)
      let detail = try await show(server, "f")
      #expect(detail["function"]?["name"] == "f" && detail["function"]?["deadLetters"]?["count"] == 1)
      #expect(
        detail["settings"] == [
          ["name": "amount", "value": 60, "default": 50, "overridden": true],
          ["name": "limit", "value": "day", "default": "day", "overridden": false],
        ])
      #expect(detail["runs"]?["outcomes"] == ["done": 4, "skipped": 0, "repeated": 0, "failed": 2])
      #expect(detail["runs"]?["timeouts"] == 1 && detail["runs"]?["measured"] == 6)
      #expect(detail["runs"]?["meanNanoseconds"] == 100 && detail["runs"]?["slowestNanoseconds"] == 350)
      #expect(detail["runs"]?["p50Nanoseconds"] == 55 && detail["runs"]?["p99Nanoseconds"] == 350)
      let recent = detail["function"]?["recent"]
      #expect(recent?["window"] == "24h" && recent?["runs"] == 6 && recent?["since"]?.int == APIServer.start)
      #expect(recent?["outcomes"] == ["done": 4, "skipped": 0, "repeated": 0, "failed": 2])
      #expect(recent?["p50Nanoseconds"] == 55 && recent?["p95Nanoseconds"] == 350)
      for window in ["1h", "6h", "24h"] {
        let list = try await server.send("GET", "/admin/v1/functions?window=\(window)", headers: APIServer.admin)
        let found = list.json?["functions"]?.array?.first?["recent"]
        #expect(found?["window"]?.string == window && found?["runs"] == 6, "\(list.body)")
      }
      try await server.expect(.init("GET", "/admin/v1/functions?window=2h", headers: APIServer.admin, status: 400))
      let deliveries = detail["deliveries"]
      #expect(deliveries?["waiting"] == 2 && deliveries?["paused"] == 1 && deliveries?["dead"] == 1)
      #expect(deliveries?["complete"] == true)
      #expect(deliveries?["oldestWaiting"]?["event"] == "1-2:/users/bob/level")
      #expect(deliveries?["oldestWaiting"]?["since"]?.int == APIServer.start + 1000)
      #expect(deliveries?["lastError"]?["error"] == "boom" && deliveries?["lastError"]?["time"] == 9)
    }
  }

  @Test("A function that is only remembered has no runs; one that never was is not found")
  func remembered() async throws {
    try await APIServer.run(functions: StubFunctions(records: [Self.record])) { server in
      let detail = try await show(server, "f")
      #expect(
        detail["runs"] == nil && detail["function"]?["recent"] == nil && detail["settings"] == []
          && detail["deliveries"]?["waiting"] == 0)
      try await server.expect(.init("GET", "/admin/v1/functions/none", headers: APIServer.admin, status: 404))
    }
  }
}
