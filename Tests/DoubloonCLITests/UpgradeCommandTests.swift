import FunctionsKit
import ServerConfiguration
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerApp

/// What somebody is told, and what is done, where the data are of another version than the program.
@Suite struct UpgradeCommandTests {
  static let next = SchemaHistory(
    version: SchemaScript.version + 1,
    migrations: [SchemaMigration(from: SchemaScript.version, script: "CREATE TABLE song (id BIGINT NOT NULL PRIMARY KEY)")])

  private let current = SchemaScript.version

  /// Makes a data folder of the schema that there is.
  private func makeData(in folder: TemporaryFolder) async throws -> String {
    let path = folder.file("data")
    var configuration = ServerConfiguration(storage: .directory(path))
    configuration.port = 0
    let application = try Application(configuration: configuration, functions: { _ in })
    _ = try await application.start()
    await application.stop()
    return path
  }

  /// Runs a command of the next version.
  private func newer(_ arguments: [String]) async -> CommandRun {
    await DoubloonCommandLine.$schema.withValue(Self.next) { await CommandRun(arguments) }
  }

  @Test("upgrade says what it would do, does it, and has nothing more to do; the version before is told what to do")
  func upgrade() async throws {
    let folder = TemporaryFolder()
    let data = try await makeData(in: folder)
    let idle = await CommandRun(["upgrade", "--data", data])
    #expect(idle.code == 0)
    #expect(idle.out == "Nothing is to be done: the store in \(data) is of this program's schema, \(current).\n")

    let plan = await newer(["upgrade", "--data", data, "--dry-run"])
    #expect(plan.code == 0)
    #expect(
      plan.out.contains(
        "is of schema \(current), this program's is \(current + 1). It is copied to \(data)/doubloon.db.schema-\(current)."))
    let answer = try JSONParser.parse(await newer(["upgrade", "--data", data, "--dry-run", "--json"]).out)
    #expect(answer["due"] == true && answer["done"] == false)
    #expect(answer["from"] == .int(Int64(current)) && answer["to"] == .int(Int64(current + 1)))

    // What only looks changes nothing.
    let look = await newer(["status", "--data", data])
    #expect(look.code == 1)
    #expect(look.err.contains("Do that with \"doubloon upgrade --data \(data)\""), "\(look.err)")
    #expect(await CommandRun(["status", "--data", data]).code == 0)

    let done = await newer(["upgrade", "--data", data])
    #expect(done.code == 0, "\(done.err)")
    let lines = done.out.split(separator: "\n")
    #expect(lines.count == 4 && lines.last == "Upgrade: done, from schema \(current) to \(current + 1).", "\(done.out)")
    #expect(await newer(["verify", "--data", data]).code == 0)
    #expect(await newer(["upgrade", "--data", data]).out.hasPrefix("Nothing is to be done"))

    for arguments in [["upgrade", "--data", data], ["dev", "--data", data, "--port", "0"]] {
      let refused = await CommandRun(arguments)
      #expect(refused.code == 2, "\(arguments)")
      #expect(refused.err.contains("has schema \(current + 1), this program knows up to \(current)"), "\(refused.err)")
      #expect(refused.err.contains("doubloon data export"))
    }
    let none = await CommandRun(["upgrade", "--data", folder.file("none")])
    #expect(none.code == 1 && none.err.contains("There is no store in"))
  }

  @Test("a server does it when it starts, with a copy; a backup of an older version is restored as well")
  func atStart() async throws {
    let folder = TemporaryFolder()
    let data = try await makeData(in: folder)
    let backup = await CommandRun(["backup", folder.file("backup.db"), "--data", data])
    #expect(backup.code == 0, "\(backup.err)")
    var configuration = ServerConfiguration(storage: .directory(data))
    configuration.port = 0
    configuration.schema = Self.next
    let application = try Application(configuration: configuration, functions: { _ in })
    _ = try await application.start()
    await application.stop()
    #expect(await newer(["upgrade", "--data", data]).out.hasPrefix("Nothing is to be done"))
    #expect(await CommandRun(["upgrade", "--data", data]).err.contains("/doubloon.db.schema-\(current)."))
    let restored = await newer(["restore", folder.file("backup.db"), "--data", folder.file("restored")])
    #expect(restored.code == 0, "\(restored.err)")
    #expect(await newer(["upgrade", "--data", folder.file("restored")]).out.hasPrefix("Nothing is to be done"))
  }
}
