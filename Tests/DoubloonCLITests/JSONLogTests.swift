import Logging
import ServerConfiguration
import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import DoubloonCLI

/// The log for what collects logs.
@Suite struct JSONLogTests {
  private final class Lines: Sendable {
    private let written = Mutex<[[UInt8]]>([])
    func add(_ line: [UInt8]) { written.withLock { $0.append(line) } }
    var all: [[UInt8]] { written.withLock(\.self) }
    var last: JSON? { all.last.flatMap { try? JSONParser.parse($0.dropLast()) } }
  }

  private let lines = Lines()

  private func logger(_ level: Logger.Level = .notice) -> Logger {
    let clock = AdjustableClock(frozenAt: 1_769_860_800_123)
    var logger = Logger(label: "doubloon") { [lines] in
      JSONLogHandler(label: $0, level: level, clock: clock, write: lines.add)
    }
    logger.logLevel = level
    return logger
  }

  @Test("An event is one object on one line: time, level, label, message and what belongs to it")
  func line() throws {
    logger().notice("mail\n\"sent\"", metadata: ["kind": "invite", "to": ["a", "b"], "more": ["x": "1"]])
    #expect(lines.all.count == 1)
    #expect(lines.all[0].last == UInt8(ascii: "\n") && !lines.all[0].dropLast().contains(UInt8(ascii: "\n")))
    #expect(
      lines.last == [
        "time": "2026-01-31T12:00:00.123Z", "level": "notice", "label": "doubloon", "message": "mail\n\"sent\"",
        "metadata": ["kind": "invite", "more": ["x": "1"], "to": ["a", "b"]],
      ])
  }

  @Test("What is below the level is not written; what a logger carries stands in each line")
  func level() {
    var logger = logger(.warning)
    logger[metadataKey: "node"] = "a"
    logger.notice("no")
    logger.error("yes", metadata: ["why": "x"])
    #expect(lines.all.count == 1)
    #expect(lines.last?["metadata"] == ["node": "a", "why": "x"] && lines.last?["level"] == "error")
    var quiet = self.logger()
    quiet.logLevel = .error
    quiet.warning("no")
    #expect(lines.all.count == 1)
  }

  @Test("A line is bounded, however much is said")
  func bounds() throws {
    let long = String(repeating: "é", count: 100_000)
    var metadata: Logger.Metadata = [:]
    for number in 0..<1000 { metadata["k\(number)"] = .string(long) }
    metadata["a-list"] = .array(Array(repeating: "x", count: 1000))
    var deep: Logger.Metadata.Value = "bottom"
    for _ in 0..<100 { deep = ["in": deep] }
    metadata["a-deep"] = deep
    logger().notice("\(long)", metadata: metadata)
    let values = JSONLogHandler.valuesMax * 2 * JSONLogHandler.valueBytesMax
    #expect(lines.all[0].count < 2 * JSONLogHandler.messageBytesMax + values)
    let message = try #require(lines.last?["message"]?.string)
    #expect(message.hasSuffix("…") && message.utf8.count <= JSONLogHandler.messageBytesMax + 8)
    #expect(lines.last?["metadata"]?.object?.count ?? 0 <= JSONLogHandler.valuesMax)
  }

  @Test(
    "What is called a secret is not shown", arguments: ["password", "idToken", "Authorization", "set-cookie", "smtpSecret"])
  func secrets(_ name: String) {
    logger().error("x", metadata: [name: "hunter2hunter2", "uid": "bob"])
    #expect(lines.last?["metadata"]?[name] == "(not shown)" && lines.last?["metadata"]?["uid"] == "bob")
    #expect(!String(decoding: lines.all[0], as: UTF8.self).contains("hunter2"))
  }

  @Test("The error of an event stands in its line")
  func error() {
    struct Oops: Error, CustomStringConvertible { let description = "the hat is lost" }
    logger().error("x", error: Oops())
    #expect(lines.last?["error"] == "the hat is lost")
  }
}
