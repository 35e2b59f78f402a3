import FunctionsKit
import Logging
import ServerTestSupport
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerApp
@testable import ServerConfiguration

/// A file of campaigns that a server in development looks at while it is being written.
@Suite struct WatchedCampaignsTests {
  /// What the log has said.
  private final class Lines: Sendable {
    private let written = Mutex<[String]>([])
    func add(_ line: [UInt8]) { written.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
    func have(_ text: String) -> Bool { written.withLock { lines in lines.contains { $0.contains(text) } } }
  }

  private static func campaign(_ id: String, _ title: String, more: String = "") -> String {
    #"{"id":"\#(id)","name":"A test","layout":"modal","triggers":[{"on":"launch"}]\#(more),"#
      + #""content":{"defaultLanguage":"en","texts":{"en":{"title":"\#(title)"}}}}"#
  }

  /// Waits until something has happened; the test's time limit is the bound.
  private func until(_ happened: () async throws -> Bool) async throws {
    while try await !happened() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test(
    "A changed file is applied; what is wrong with it, or conflicts, is told with its place and changes nothing",
    .timeLimit(.minutes(15)))
  func watching() async throws {
    let (folder, lines, clock) = (TemporaryFolder(), Lines(), AdjustableClock())
    let path = folder.file("messages.json")
    func write(_ campaigns: String...) throws {
      try FileBytes.write(Array("// Ours.\n{\"campaigns\": [\(campaigns.joined(separator: ",\n"))]}".utf8), to: path)
    }
    let first = Self.campaign("first", "Hello", more: #","publish":true"#)
    try write(first)
    var configuration = ServerConfiguration(storage: .memory)
    (configuration.port, configuration.clock, configuration.campaignFile) = (0, clock, CampaignFile(path))
    let logger = Logger(label: "test") { JSONLogHandler(label: $0, level: .notice, clock: clock, write: lines.add) }
    let application = try Application(configuration: configuration, logger: logger, functions: { _ in })
    let address = "http://127.0.0.1:\(try await application.start())"
    func list() async -> String { await CommandRun(["messages", "list", "--server", address]).out }
    do {
      // It is created first, and published then.
      try await until { await list().contains("published") }
      let before = await list()
      #expect(before.contains("published"), "\(before)")
      try write(first, Self.campaign("second", "{{nothing}}"))
      try await until { lines.have("campaigns[1].content.texts.en.title: No event of the campaign brings a value") }
      #expect(await list() == before)
      try write(first, "{")
      try await until { lines.have("messages.json:3:") }
      try write(Self.campaign("first", "Goodbye"), Self.campaign("second", "Hi"))
      try await until { lines.have("first: It is published and says something else") }
      #expect(await list() == before)
      try write(first, Self.campaign("second", "Hi"))
      try await until { await list().contains("second") }
      #expect(await list().contains("first"))
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }
}
