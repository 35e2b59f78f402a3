import AdminModel
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI

/// The trigger log by outcome and time.
struct EventHistogramTests {
  private func get(_ server: APIServer, _ query: String, status: Int = 200) async throws -> JSON {
    let response = try await server.send("GET", "/admin/v1/events/histogram?\(query)", headers: APIServer.admin)
    #expect(response.status == status, "\(query): \(response.body)")
    return response.json ?? .null
  }

  private func sums(_ answer: JSON) -> [String: Int64] {
    var sums: [String: Int64] = [:]
    for bucket in answer["buckets"]?.array ?? [] {
      for member in bucket.object ?? [] where member.key != "from" { sums[member.key, default: 0] += member.value.int ?? 0 }
    }
    return sums.filter { $0.value != 0 }
  }

  /// Ten events, a second apart: one that was done, one that was skipped, two dead letters, six of which nothing is known.
  private func prepare(_ server: APIServer) async throws {
    for level in 1...10 {
      if level > 1 { server.clock.advance(by: 1000) }
      try await server.expect(.init("PUT", "/users/bob/level.json", "\(level)"))
    }
    let namespace = try #require(server.database.namespace(named: "game"))
    for (revision, outcome) in [(2, ExecutionRecord.Outcome.done), (3, .skipped)] {
      var request = CommitRequest(namespace: namespace, actor: .function("f"))
      request.triggers.execution = ExecutionRecord(
        event: try #require(EventID("1-\(revision):/users/bob/level")), function: "f", outcome: outcome, reason: nil,
        attempt: 1,
        startedAt: 1, finishedAt: 2, settings: nil)
      _ = try await server.database.commit(request)
    }
    var request = CommitRequest(namespace: namespace, actor: .function("g"))
    request.triggers.deliveries = try [9, 10].map { revision in
      DeliveryRecord(
        event: try #require(EventID("1-\(revision):/users/bob/level")), kind: .updated, hop: 0, function: "g", state: .dead,
        attempts: 3, crashes: 0, nextAttemptAt: 0, lastError: "boom", updatedAt: 3)
    }
    _ = try await server.database.commit(request)
  }

  @Test("Outcomes are counted by time, as the list's count has them, with its filters")
  func outcomes() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await prepare(server)
      let start = APIServer.start
      let all = try await get(server, "buckets=3")
      #expect(all["since"]?.int == start && all["until"]?.int == start + 9000)
      #expect(all["scanned"] == 10 && all["complete"] == true)
      #expect(
        all["buckets"] == [
          ["from": .int(start), "done": 1, "skipped": 1, "waiting": 0, "paused": 0, "dead": 0, "none": 2],
          ["from": .int(start + 3001), "done": 0, "skipped": 0, "waiting": 0, "paused": 0, "dead": 0, "none": 3],
          ["from": .int(start + 6001), "done": 0, "skipped": 0, "waiting": 0, "paused": 0, "dead": 2, "none": 1],
        ])
      #expect(try await get(server, "")["buckets"]?.array?.count == 60)
      for query in ["outcome=dead", "function=f", "since=\(start + 2000)", "until=\(start + 5000)", "uid=eve", "reason=boom"] {
        let count = try await server.send("GET", "/admin/v1/events?count=true&\(query)", headers: APIServer.admin)
        let wanted = (count.json?["outcomes"]?.object ?? []).map { ($0.key == "pending" ? "none" : $0.key, $0.value.int ?? 0) }
        #expect(try await sums(get(server, query)) == Dictionary(uniqueKeysWithValues: wanted), "\(query)")
      }
      let part = try await get(server, "since=\(start + 2000)&until=\(start + 3999)&buckets=2")
      #expect(part["buckets"]?.array?.map { $0["from"]?.int } == [start + 2000, start + 3000])
      #expect(part["buckets"]?.array?.last?["none"] == 1)
    }
  }

  @Test("It looks at so many events and says so; what cannot be is refused")
  func bounded() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await prepare(server)
      let few = try await get(server, "scan=4&buckets=2")
      #expect(few["scanned"] == 4 && few["complete"] == false && few["since"]?.int == APIServer.start + 6000)
      #expect(sums(few) == ["dead": 2, "none": 2])
      for query in ["buckets=0", "buckets=201", "scan=0", "since=5&until=4", "limit=3", "outcome=great", "count=true"] {
        _ = try await get(server, query, status: 400)
      }
    }
  }

  @Test("Every moment is counted in the part that it belongs to, whatever the length")
  func division() {
    for (since, until, count) in [(0, 0, 3), (5, 6, 60), (0, 59, 60), (7, 1000, 7), (0, JSONSchema.timeMax, 200)]
      as [(Int64, Int64, Int)]
    {
      let starts = TimeDivision(since: since, until: until, count: count).buckets.map(\.from.milliseconds)
      #expect(starts.first == since && starts == starts.sorted() && starts.count == count)
      for time in starts.flatMap({ [$0 - 1, $0, $0 + 1] }) + [until] where (since...until).contains(time) {
        var division = TimeDivision(since: since, until: until, count: count)
        division.add(1, of: .done, at: time)
        let index = division.buckets.firstIndex { $0.done > 0 } ?? -1
        #expect(index == starts.lastIndex { $0 <= time }, "\(time) of \(since)…\(until)")
      }
    }
  }
}
