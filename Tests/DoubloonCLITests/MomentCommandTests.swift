import FunctionsKit
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerApp
@testable import ServerConfiguration

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
