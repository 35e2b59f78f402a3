import ArgumentParser
import FunctionsKit
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerConfiguration

@Suite struct DevCommandTests {
  @Test("the options make the configuration")
  func configuration() throws {
    let plain = try DevCommand.parse([]).makeConfiguration()
    #expect(plain.host == "127.0.0.1")
    #expect(plain.port == 9000)
    #expect(plain.adminToken == "owner")
    #expect(plain.defaultNamespace == "demo-default-rtdb")
    #expect(plain.dispatchesFunctions)
    guard case .directory(let folder) = plain.storage else { throw CommandError("no folder") }
    #expect(folder.hasPrefix("/") && folder.hasSuffix("/.doubloon"))

    let open = try DevCommand.parse(["--host", "0.0.0.0", "--port", "0", "--in-memory", "--project", "game"])
      .makeConfiguration()
    #expect(open.storage == .memory)
    #expect(open.adminToken.utf8.count == 32)
    #expect(open.defaultNamespace == "game-default-rtdb")
    #expect(try DevCommand.parse(["--token"]).makeConfiguration().adminToken != "owner")
    let campaigns = TemporaryFolder()
    try campaigns.write("{}", to: "messages.json")
    let watched = try DevCommand.parse(["--messages", campaigns.file("messages.json")]).makeConfiguration()
    #expect(watched.campaignFile == CampaignFile(campaigns.file("messages.json")))
    #expect(throws: CommandError.self) { try DevCommand.parse(["--messages", "/nowhere.json"]).makeConfiguration() }
    let hosts = ["--allow-host", "game.studio.example", "--allow-host", "b.example"]
    #expect(try DevCommand.parse(hosts).makeConfiguration().allowedHosts == ["game.studio.example", "b.example"])
    #expect(throws: (any Error).self) { try DevCommand.parse(["--allow-host", "http://game.example"]) }
  }

  @Test("settings that no function has are refused before anything starts")
  func settings() async throws {
    let folder = TemporaryFolder()
    let rows = [
      ("{\"nobody\":{\"a\":1}}", "has settings of \"nobody\", but no function has that name"),
      ("[1]", "must hold an object of objects"), ("{\"f\":1}", "must hold an object of objects"), ("{", "Invalid JSON"),
    ]
    for (text, message) in rows {
      try FileBytes.write(Array(text.utf8), to: folder.file("s.json"))
      let run = await CommandRun(["dev", "--in-memory", "--port", "0", "--functions-config", folder.file("s.json")])
      #expect(run.code == 1)
      #expect(run.err.contains(message), "\(run.err)")
    }
  }

  private struct Reward: FunctionSettings {
    var amount: Int64 = 50
  }

  @Test("wrong settings of a function are named before anything starts, all of them")
  func wrongSettings() async throws {
    let folder = TemporaryFolder()
    let file = folder.file("s.json")
    try FileBytes.write(Array("{\"pay\":{\"amuont\":1,\"prize\":2},\"thank\":{\"amount\":\"x\"}}".utf8), to: file)
    let run = await CommandRun(["dev", "--in-memory", "--port", "0", "--functions-config", file]) { functions in
      for name in ["pay", "thank"] {
        functions.onCreate(TreePath<Int>("/a"), name: name, settings: Reward()) { _, _, _ in .done }
      }
    }
    #expect(run.code == 1)
    #expect(run.err.contains("\(file): pay has no setting amuont; it has amount.\n"), "\(run.err)")
    #expect(run.err.contains("\(file): pay has no setting prize; it has amount.\n"), "\(run.err)")
    #expect(run.err.contains("\(file): The settings of thank cannot be read"), "\(run.err)")
  }

  @Test("the notice says where everything is")
  func notice() throws {
    var configuration = ServerConfiguration(storage: .directory("/data"))
    let functions = Functions()
    functions.onWrite(TreePath<Int>("/a/b"), name: "watch") { _, _ in .done }
    let text = StartNotice(configuration: configuration, functions: functions.definitions).text(port: 9000)
    #expect(text.hasPrefix("Doubloon is running at http://127.0.0.1:9000\n"))
    for line in [
      "  Data       /data", "  Namespace  demo-default-rtdb", "  Console    http://127.0.0.1:9000/console/\n",
      "  Admin key  owner", "  Functions  watch  onWrite /a/b",
      "  doubloon triggers tail", "curl -X PUT http://127.0.0.1:9000/a/b.json -d '1'",
    ] {
      #expect(text.contains(line), "\(text)")
    }
    let games: [(String, @Sendable (Functions) -> Void)] = [
      (
        "  curl -X PUT http://127.0.0.1:9000/pirates/alice/chests/a1.json -d '\"gold\"'\n",
        { $0.onCreate(TreePath<String, UserID, String>("/pirates/{uid}/chests/{chest}"), name: "open") { _, _ in .done } }
      ),
      (
        "  curl -X PUT http://127.0.0.1:9000/rank/alice.json -d '4'\n  curl -X PUT http://127.0.0.1:9000/rank/alice.json -d '5'\n",
        { $0.onUpdate(TreePath<Int, UserID>("/rank/{uid}"), name: "rise", when: .rising(to: 5)) { _, _ in .done } }
      ),
      (
        "  curl -X DELETE http://127.0.0.1:9000/seats/1.json\n",
        { $0.onDelete(TreePath<Bool, Int>("/seats/{seat}"), name: "leave") { _, _ in .done } }
      ),
      (
        "curl -X PATCH http://127.0.0.1:9000/users/bob.json -d '{\"last_signin_at\":1767225600000,\"referred_by\":\"alice\"}'\n",
        { $0.onCreate(TreePath<Int64, UserID>("/users/{uid}/last_signin_at"), name: "greet") { _, _ in .done } }
      ),
    ]
    for (line, register) in games {
      let functions = Functions()
      register(functions)
      let text = StartNotice(configuration: configuration, functions: functions.definitions).text(port: 9000)
      #expect(text.contains(line), "\(text)")
    }
    configuration.host = "0.0.0.0"
    configuration.adminToken = "t0ken"
    configuration.storage = .memory
    let open = StartNotice(configuration: configuration, functions: [], program: ".build/release/doubloon").text(port: 4711)
    for line in [
      "Doubloon is running at http://127.0.0.1:4711\n", "  Listening  0.0.0.0, all addresses of this machine",
      "  Functions  none",
      "  Console    http://127.0.0.1:4711/console/#key=t0ken\n", "-H 'Authorization: Bearer t0ken'",
      "DOUBLOON_SERVER=http://127.0.0.1:4711 DOUBLOON_KEY=t0ken .build/release/doubloon triggers tail",
    ] {
      #expect(open.contains(line), "\(open)")
    }
  }
}
