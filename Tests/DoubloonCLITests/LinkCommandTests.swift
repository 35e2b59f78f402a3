import FunctionsKit
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

/// The links' commands against the whole server.
struct LinkCommandTests {
  private static let prefix = "https://go.acme.test/r"

  /// A server with link settings, and how a command is run against it.
  private func running(_ test: (_ call: ([String]) async -> CommandRun) async throws -> Void) async throws {
    let folder = TemporaryFolder()
    try folder.write(#"{"domains":["https://go.acme.test/r"],"hosts":["acme.test"],"apiKeys":["key-1"]}"#, to: "links.json")
    var configuration = ServerConfiguration(storage: .memory)
    configuration.port = 0
    let application = try Application(configuration: configuration, functions: { _ in })
    let address = "http://127.0.0.1:\(try await application.start())"
    do {
      let settings = await CommandRun(["links", "settings", folder.file("links.json"), "--server", address])
      #expect(settings.code == 0, "\(settings)")
      try await test { await CommandRun(["links"] + $0 + ["--server", address]) }
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  @Test("An export says which links are disabled, and an import creates those disabled; a table without states is read as ever")
  func states() async throws {
    let folder = TemporaryFolder()
    let table = folder.file("links.csv")
    try await running { call in
      for suffix in ["on", "off"] {
        let made = await call(
          ["create", "https://acme.test/\(suffix)", "--prefix", Self.prefix, "--suffix", suffix, "--name", "The \(suffix)"])
        #expect(made.code == 0 && made.out.contains("\(Self.prefix)/\(suffix)"), "\(made)")
      }
      #expect(await call(["disable", "\(Self.prefix)/off"]).out == "\(Self.prefix)/off is disabled.\n")
      #expect(await call(["export", "--out", table]).code == 0)
    }
    let rows = String(decoding: try FileBytes.read(table), as: UTF8.self).split(separator: "\r\n").map(String.init)
    #expect(
      rows == [
        "Link name,Short link,Long link,State",
        "The off,\(Self.prefix)/off,\(Self.prefix)/?link=https%3A%2F%2Facme.test%2Foff,disabled",
        "The on,\(Self.prefix)/on,\(Self.prefix)/?link=https%3A%2F%2Facme.test%2Fon,enabled",
      ])
    try await running { call in
      #expect(await call(["import", table]).out == "2 created, 0 there already, 0 refused\n")
      let list = await call(["list"]).out
      #expect(list.contains("\(Self.prefix)/off (disabled)") && !list.contains("/on (disabled)"), "\(list)")
      #expect(await call(["import", table]).out == "0 created, 2 there already, 0 refused\n")
      #expect(await call(["show", "\(Self.prefix)/off"]).out.contains("\ndisabled  "))
      #expect(await call(["enable", "\(Self.prefix)/off"]).out == "\(Self.prefix)/off is enabled.\n")
      let again = folder.file("again.csv")
      _ = await call(["export", "--out", again])
      #expect(!String(decoding: try FileBytes.read(again), as: UTF8.self).contains("disabled"))
      #expect(await call(["delete", "\(Self.prefix)/off"]).out == "\(Self.prefix)/off is deleted.\n")
      try folder.write("short link,long link\n\(Self.prefix)/old,https://acme.test/old\n", to: "old.csv")
      #expect(await call(["import", folder.file("old.csv")]).out == "1 created, 0 there already, 0 refused\n")
      #expect(!(await call(["list"]).out.contains("(disabled)")))
    }
  }
}
