import APISupport
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// Health, metrics and the wait for effects.
struct OperationTests {
  @Test("healthz, readyz and metrics")
  func surface() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("GET", "/healthz", is: #"{"status":"ok"}"#), .init("GET", "/readyz", is: #"{"status":"ready"}"#),
        .init("POST", "/healthz", status: 405, having: ["allow": "GET"]), .init("PUT", "/a.json", "1"), .init("GET", "/a.json"),
        .init("PUT", "/a.json", "{", status: 400))
      let text = try await server.send("GET", "/metrics")
      #expect(text["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      for line in [
        #"doubloon_http_requests_total{route="tree_write",status="2xx"} 1"#,
        #"doubloon_http_requests_total{route="tree_write",status="4xx"} 1"#,
        #"doubloon_http_requests_total{route="tree_read",status="2xx"} 1"#, "doubloon_commits_total 1",
        "doubloon_commit_seconds_count 1", #"doubloon_effect_seconds_bucket{le="0.005"} 0"#, "doubloon_effect_seconds_count 0",
        "doubloon_writer_queue_depth 0", "doubloon_writer_failed 0",
      ] {
        #expect(text.body.contains(line + "\n"), "\(line)")
      }
    }
  }

  @Test("The status says which program runs since when, who listens, and how the last verification and backup ended")
  func status() async throws {
    try await APIServer.run { server in
      func status() async throws -> JSON {
        try #require(try await server.send("GET", "/admin/v1/status", headers: APIServer.admin).json)
      }
      server.clock.advance(by: 5000)
      let first = try await status()
      #expect(first["version"] == "unknown" && first["startedAt"]?.int == APIServer.start)
      #expect(first["time"]?.int == APIServer.start + 5000)
      #expect(first["sockets"] == 0 && first["streams"] == 0 && first["listens"] == 0)
      #expect(first["lastVerification"] == nil && first["lastBackup"] == nil)
      let folder = TemporaryFolder()
      try await server.expect(
        .init("PUT", "/a.json", "1"), .init("GET", "/admin/v1/verify", headers: APIServer.admin),
        .init("POST", "/admin/v1/backup", #"{"path":"\#(folder.file("copy.db"))"}"#, headers: APIServer.admin))
      let second = try await status()
      #expect(second["lastVerification"] == ["at": .int(APIServer.start + 5000), "durationMs": 0, "sound": true])
      #expect(second["lastBackup"] == ["at": .int(APIServer.start + 5000)])
      server.metrics.maintenance.noteBackup(.init(time: APIServer.start + 9000, duration: 1, failure: "The disk is full."))
      #expect(try await status()["lastBackup"]?["failure"] == "The disk is full.")
    }
  }

  @Test("The copies that were ordered are listed, failed ones with why, and what the schedule finds in its folder")
  func copies() async throws {
    try await APIServer.run { server in
      let folder = TemporaryFolder()
      let path = folder.file("copy.db")
      try await server.expect(
        .init("PUT", "/a.json", "1"), .init("POST", "/admin/v1/backup", #"{"path":"\#(path)"}"#, headers: APIServer.admin))
      server.metrics.maintenance.noteCopy(
        .init(place: "nightly", outcome: .init(time: APIServer.start + 9000, duration: 1, failure: "full"), isScheduled: true))
      let answer = try await server.send("GET", "/admin/v1/backups", headers: APIServer.admin)
      let copies = try #require(answer.json?["copies"]?.array)
      #expect(answer.json?["schedule"] == nil && copies.count == 2)
      #expect(copies[0]["place"] == "nightly" && copies[0]["failure"] == "full" && copies[0]["verified"] == nil)
      #expect(copies[1]["place"] == .string(path) && copies[1]["scheduled"] == false && (copies[1]["bytes"]?.int ?? 0) > 0)
      #expect(copies[1]["verified"] == false)
    }
  }

  @Test("A backup of before the start is known from the schedule's record, until one ends")
  func recalledBackup() async throws {
    try await APIServer.run { server in
      server.metrics.maintenance.recallBackup(endedAt: 77)
      let status = try await server.send("GET", "/admin/v1/status", headers: APIServer.admin)
      #expect(status.json?["lastBackup"] == ["at": 77])
    }
  }

  @Test("readyz fails with the functions' problems")
  func problems() async throws {
    try await APIServer.run(functions: StubFunctions(problems: ["rewardReferrals is paused."])) { server in
      try await server.expect(
        .init("GET", "/readyz", status: 503, is: #"{"status":"not ready","reasons":["rewardReferrals is paused."]}"#),
        .init("GET", "/healthz"))
    }
  }

  @Test("An error that nothing says an answer for is answered as internal, and tells nothing of the inside")
  func surprises() async throws {
    try await APIServer.run(functions: StubFunctions(problems: [])) { server in
      let words = "The server failed to answer this request; its operators find the reason in its log."
      try await server.expect(
        .init("PUT", "/a.json", "1"),
        .init(
          "POST", "/admin/v1/functions/surprising/retry", headers: APIServer.admin, status: 500,
          is: #"{"error":"\#(words)","code":"internal"}"#))
    }
  }

  @Test("X-Doubloon-Wait: effects answers when the write's own events are settled, or says that they are not")
  func waiting() async throws {
    let wait = ["X-Doubloon-Wait": "effects"]
    try await APIServer.run(effects: HeldEffects()) { server in
      try await server.expect(.init("PUT", "/a.json", "1", headers: wait, is: "1", having: ["x-doubloon-effects": "settled"]))
    }
  }

  @Test("Functions are paused, resumed and retried by name; drain reports what is left")
  func functions() async throws {
    let functions = StubFunctions(problems: [])
    try await APIServer.run(functions: functions) { server in
      try await server.expect(
        .init("PUT", "/a.json", "1"),
        .init("POST", "/admin/v1/functions/f/pause", #"{"reason":"bug"}"#, headers: APIServer.admin),
        .init("POST", "/admin/v1/functions/f/resume", headers: APIServer.admin),
        .init("POST", "/admin/v1/functions/f/retry", headers: APIServer.admin, is: #"{"status":"ok","retried":3}"#),
        .init("POST", "/admin/v1/functions/none/pause", headers: APIServer.admin, status: 404),
        .init("POST", "/admin/v1/events/1-1:/a/redeliver", headers: APIServer.admin, status: 404),
        .init("POST", "/admin/v1/events/nonsense/redeliver", headers: APIServer.admin, status: 400),
        .init(
          "GET", "/admin/v1/events", headers: APIServer.admin,
          is: #"{"events":[],"scanned":0,"scannedThrough":0,"complete":true}"#),
        .init("GET", "/admin/v1/triggers?outcome=odd", headers: APIServer.admin, status: 400),
        .init("GET", "/admin/v1/dead-letters", headers: APIServer.admin, is: #"{"deadLetters":[]}"#),
        .init(
          "POST", "/admin/v1/drain?timeout=1s", headers: APIServer.admin, status: 504,
          is: #"{"settled":false,"running":[{"event":"1-1:/a","function":"f","state":"running","error":null}],"unfinished":[]}"#
        ),
        .init("POST", "/admin/v1/drain?timeout=never", headers: APIServer.admin, status: 400))
      #expect(functions.calls == ["pause f bug admin:owner", "resume f", "retry f"])
    }
  }
}
