import Credentials
import Glibc
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

@Suite struct ServiceAccountCommandTests {
  @Test("an account is made, its file opens the server, and it is revoked")
  func life() async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.file("data")))
    configuration.port = 0
    let application = try Application(configuration: configuration) { _ in }
    let port = try await application.start()
    let address = "http://127.0.0.1:\(port)"
    let file = folder.file("ci.json")
    let made = await CommandRun(
      ["service-account", "create", "ci", "--role", "viewer", "--out", file, "--server", address])
    #expect(made.code == 0 && made.out.hasPrefix("ci may sign in as viewer. Its key is in \(file)"), "\(made.err)")
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let key = try #require(ServiceAccountKey(file: try JSONParser.parse(try FileBytes.read(file))))
    #expect(key.tokenURI == "\(address)/token" && key.project == "demo")

    // The file says where the server is.
    let asked = await CommandRun(["service-account", "list", "--key", file])
    #expect(asked.code == 0 && asked.out.contains("ci") && asked.out.contains("viewer"), "\(asked.err)")
    let refused = await CommandRun(["ledger", "reverse", "1", "--reason", "x", "--key", file])
    #expect(refused.code == 1 && refused.err.contains("This takes the role support, and admin:ci is viewer"), "\(refused.err)")
    let twice = await CommandRun(
      ["service-account", "create", "ci", "--role", "admin", "--out", file, "--server", address])
    #expect(twice.code == 1 && twice.err.contains("is there already"))

    #expect(await CommandRun(["service-account", "revoke", "ci", "--server", address]).out == "ci is revoked.\n")
    let late = await CommandRun(["service-account", "list", "--key", file])
    #expect(late.code == 1 && late.err.contains("account not found"), "\(late.err)")
    let list = await CommandRun(["service-account", "list", "--server", address, "--json"])
    #expect(list.out.contains("revokedAt"))
    await application.stop()
  }

  @Test("the first account of a server is made on its data, for the project and address that are named")
  func onData() async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.file("data")))
    configuration.port = 0
    configuration.project = "my-game"
    let application = try Application(configuration: configuration) { _ in }
    let port = try await application.start()
    #expect(await CommandRun(["data", "set", "/a", "1", "--server", "http://127.0.0.1:\(port)"]).code == 0)
    await application.stop()
    let file = folder.file("ann.json")
    let arguments = ["service-account", "create", "ann", "--role", "admin", "--data", folder.file("data"), "--out", file]
    #expect(await CommandRun(arguments).code == 2)
    let made = await CommandRun(arguments + ["--url", "https://rewards.example.com", "--project", "my-game"])
    #expect(made.code == 0, "\(made.err)")
    let key = try #require(ServiceAccountKey(file: try JSONParser.parse(try FileBytes.read(file))))
    #expect(key.email == "ann@my-game.iam.gserviceaccount.com" && key.tokenURI == "https://rewards.example.com/token")
    // No namespace came into being for the account's sake.
    let status = await CommandRun(["status", "--data", folder.file("data"), "--ns", "my-game-default-rtdb", "--json"])
    #expect(try JSONParser.parse(status.out)["server"]?["namespaces"] == 1, "\(status.out) \(status.err)")
    let list = await CommandRun(["service-account", "list", "--data", folder.file("data")])
    #expect(list.code == 0 && list.out.contains("ann"), "\(list.err)")
  }

  @Test("a file that is no key of a service account is refused before anything is asked")
  func badFiles() async throws {
    let folder = TemporaryFolder()
    let file = folder.file("key.json")
    try FileBytes.write(Array("{\"type\":\"service_account\"}".utf8), to: file)
    let run = await CommandRun(["service-account", "list", "--key", file])
    #expect(run.code == 1 && run.err.contains("is no key file of a service account"))
    #expect(await CommandRun(["service-account", "create", "A B", "--role", "admin"]).code == 2)
    #expect(await CommandRun(["service-account", "create", "a", "--role", "boss"]).code == 2)
  }
}
