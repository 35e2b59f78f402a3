@testable import DoubloonCLI
import FunctionsKit
import Glibc
@testable import ServerApp
@testable import ServerConfiguration
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

@Suite struct TimeCommandTests {
  /// 2026-07-30T09:15:00.250Z
  static let now = TimePoint(milliseconds: 1_785_402_900_250)

  static let readable: [(String, String)] = [
    ("now", "2026-07-30T09:15:00.250Z"),
    ("12h", "2026-07-29T21:15:00.250Z"),
    ("30m", "2026-07-30T08:45:00.250Z"),
    ("90s", "2026-07-30T09:13:30.250Z"),
    ("7d", "2026-07-23T09:15:00.250Z"),
    ("2w", "2026-07-16T09:15:00.250Z"),
    ("2026-07-30T09:15:00Z", "2026-07-30T09:15:00.000Z"),
    ("2026-07-30t09:15:00z", "2026-07-30T09:15:00.000Z"),
    ("2026-07-30 09:15:00+02:00", "2026-07-30T07:15:00.000Z"),
    ("2026-07-30T09:15:00.1259-05:30", "2026-07-30T14:45:00.125Z"),
    ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"),
    ("2000-02-29T00:00Z", "2000-02-29T00:00:00.000Z"),
    ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
  ]

  @Test("times with a zone, and spans", arguments: readable)
  func reads(_ text: String, _ expected: String) {
    #expect(TimePoint(parsing: text, now: Self.now)?.description == expected)
  }

  static let nonsense = [
    "", "h", "-5h", "5", "5y", "12 h", "1.5h", "2026-13-01", "2026-02-29", "2026-00-10", "2026-7-30", "2026-07-30T24:00Z",
    "2026-07-30T10:60Z", "2026-07-30T10:00:60Z", "2026-07-30T10:00:00.Z", "2026-07-30T10:00:00+2", "2026-07-30x10:00",
    "2026-07-30T", "1969-01-01", "99999999999999999999d", "9000000000000000000h", "tomorrow", "2026-07-30T10:00:00+02:00x",
    "٣d",
  ]

  @Test("what is no time is none", arguments: nonsense)
  func refuses(_ text: String) {
    #expect(TimePoint(parsing: text, now: Self.now) == nil)
  }

  @Test("local times go back to what the C library makes of them")
  func local() throws {
    for text in ["2026-07-30", "2026-01-15 18:00", "2026-01-15T18:00:30"] {
      let point = try #require(TimePoint(parsing: text, now: Self.now))
      var seconds = time_t(point.milliseconds / 1000)
      var parts = tm()
      localtime_r(&seconds, &parts)
      #expect(parts.tm_year == 126)
      #expect(parts.tm_mon == (text.hasPrefix("2026-07") ? 6 : 0))
      #expect(parts.tm_hour == (text.count == 10 ? 0 : 18))
      #expect(parts.tm_sec == (text.hasSuffix(":30") && text.count == 19 ? 30 : 0))
    }
  }

  @Test("today and yesterday are midnights")
  func midnights() throws {
    let today = try #require(TimePoint(parsing: "today", now: Self.now))
    let yesterday = try #require(TimePoint(parsing: "Yesterday", now: Self.now))
    #expect(today.milliseconds <= Self.now.milliseconds)
    #expect(Self.now.milliseconds - today.milliseconds < 25 * 3_600_000)
    #expect((23...25).contains((today.milliseconds - yesterday.milliseconds) / 3_600_000))
  }
}

/// A moment means the same for every command: what was committed at it counts.
struct MomentCommandTests {
  private static let start: Int64 = 1_700_000_000_000

  private static func register(_ functions: Functions) {
    functions.onWrite(TreePath<Int64, UserID>("/users/{uid}/level"), name: "look") { _, _ in .done }
  }

  /// A server with three commits, a minute apart, and how a command is run against it.
  private func running(_ test: (_ call: ([String]) async -> String) async throws -> Void) async throws {
    let clock = AdjustableClock(frozenAt: Self.start)
    var configuration = ServerConfiguration(storage: .memory)
    configuration.port = 0
    configuration.clock = clock
    let application = try Application(configuration: configuration, functions: Self.register)
    let address = "http://127.0.0.1:\(try await application.start())"
    func call(_ arguments: [String]) async -> String {
      let run = await CommandRun(arguments + ["--server", address])
      #expect(run.code == 0, "\(arguments): \(run.err)")
      return run.out
    }
    do {
      for level in 1...3 {
        _ = await call(["data", "set", "/users/bob/level", String(level)])
        _ = await call(["drain"])
        _ = await call(["functions", "pause", "look", "--reason", "seen \(level)"])
        _ = await call(["functions", "resume", "look"])
        clock.advance(by: 60_000)
      }
      try await test(call)
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  @Test("--at, --to, --since and --until take in what was committed at their moment, and nothing later or earlier")
  func inclusive() async throws {
    let (first, second) = (TimePoint(milliseconds: Self.start), TimePoint(milliseconds: Self.start + 60_000))
    let before = TimePoint(milliseconds: Self.start + 59_999)
    try await running { call in
      #expect(await call(["data", "get", "/users/bob/level", "--at", "\(second)"]) == "2\n")
      #expect(await call(["data", "get", "/users/bob/level", "--at", "\(before)"]) == "1\n")
      #expect(await call(["data", "export", "/users/bob/level", "--at", "\(second)"]) == "2\n")
      let diff = await call(["data", "diff", "/users/bob", "--from", "\(first)", "--to", "\(second)"])
      #expect(diff.contains("/users/bob/level  1       2\n"), "\(diff)")
      let moment = ["--since", "\(second)", "--until", "\(second)"]
      let log = await call(["data", "log", "/users/bob/level"] + moment)
      #expect(log.contains("/users/bob/level  1       2") && log.split(separator: "\n").count == 2, "\(log)")
      let events = await call(["triggers", "list"] + moment)
      #expect(events.contains("2:/users/bob/level") && events.split(separator: "\n").count == 2, "\(events)")
      #expect(await call(["triggers", "count"] + moment) == "1 event: done 1.\n")
      let audit = await call(["audit", "list", "--action", "functions.pause"] + moment)
      #expect(audit.contains("seen 2") && audit.split(separator: "\n").count == 2, "\(audit)")
      let replay = await call(["replay", "--all", "--dry-run", "--json", "--reason", "test"] + moment)
      let counts = try JSONParser.parse(replay)
      #expect(counts["survey"]?["alreadyDone"] == 1, "\(replay)")
    }
  }
}
