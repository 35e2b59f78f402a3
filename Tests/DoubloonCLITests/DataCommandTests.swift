import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerConfiguration

@Suite struct DataCommandTests {
  private func run(_ arguments: [String], on tree: TinyTree, limitChecks: (TinyServer) -> Void = { _ in }) async throws
    -> CommandRun
  {
    try await TinyServer.run({ tree.answer($0) }) { server in
      let run = await CommandRun(["data"] + arguments + ["--server", server.address])
      limitChecks(server)
      return run
    }
  }

  @Test("get, set, update and remove say what they did")
  func small() async throws {
    let tree = TinyTree(["a": 1], leavesMax: 1000)
    #expect(try await run(["get", "/a"], on: tree).out == "1\n")
    #expect(try await run(["set", "/users/bob/level", "5"], on: tree).out == "Set /users/bob/level.\n")
    #expect(
      try await run(["update", "/users/bob", "{\"level\":6,\"x/y\":true}"], on: tree).out
        == "Updated 2 places below /users/bob.\n")
    #expect(tree.node == ["a": 1, "users": ["bob": ["level": 6, "x": ["y": true]]]])
    #expect(try await run(["remove", "users"], on: tree).out == "Removed /users.\n")
    #expect(tree.node == ["a": 1])
  }

  @Test("the flags become parameters")
  func parameters() async throws {
    let tree = TinyTree(leavesMax: 1000)
    let rows: [([String], String)] = [
      (["get", "/a", "--shallow", "--ns", "n"], "/a.json?ns=n&shallow=true"),
      (["get", "/a", "--pretty", "--export-format"], "/a.json?print=pretty&format=export"),
      (["set", "/a", "1", "--no-triggers"], "/a.json?disableTriggers=true"),
      (["set", "/a", "1"], "/a.json"),
      (["remove", "/a", "--no-triggers", "--ns", "n"], "/a.json?ns=n&disableTriggers=true"),
    ]
    for (arguments, uri) in rows {
      _ = try await run(arguments, on: tree) { #expect($0.requests.map(\.uri) == [uri]) }
    }
  }

  @Test("what is too large to remove at once is removed in parts")
  func largeRemoval() async throws {
    var people: [TreeMap.Entry] = []
    for index in 0..<40 {
      people.append(TreeMap.Entry(key: Key(unchecked: "p\(index)"), node: ["a": 1, "b": ["c": 2, "d": 3, "e": 4]]))
    }
    for leavesMax in [1, 2, 3, 7, 1000] {
      let tree = TinyTree(["people": .map(TreeMap(people)), "x": 1], leavesMax: leavesMax)
      let run = try await run(["remove", "/people"], on: tree)
      #expect(run.code == 0, "\(run.err)")
      #expect(tree.node == ["x": 1])
    }
  }

  @Test("a file that is no tree is refused before anything is written")
  func badFiles() async throws {
    let folder = TemporaryFolder()
    for (text, message) in [
      ("{\"a\":", "Invalid JSON at byte"), ("{\"ok\":1,\"a.b\":2}", "Nothing was written."), ("", "there is no value"),
    ] {
      try FileBytes.write(Array(text.utf8), to: folder.file("bad.json"))
      let tree = TinyTree(["a": 1], leavesMax: 10)
      let run = try await run(["import", "/", folder.file("bad.json")], on: tree) { #expect($0.requests.isEmpty) }
      #expect(run.code == 1)
      #expect(run.err.contains(message), "\(run.err)")
    }
  }
}
