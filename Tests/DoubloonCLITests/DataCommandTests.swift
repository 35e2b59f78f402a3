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

  @Test("an import replaces, in parts if it must, and nothing else is touched")
  func largeImport() async throws {
    let folder = TemporaryFolder()
    // A list, a wide map, a deep one, priorities, and a leaf that becomes a map.
    var people: [TreeMap.Entry] = []
    for index in 0..<57 {
      people.append(TreeMap.Entry(key: Key(unchecked: "p\(index)"), node: ["level": .leaf(.int(Int64(index))), "name": "x"]))
    }
    let wanted: TreeNode = [
      "people": .map(TreeMap(people), priority: .int(3)), "list": ["0": "a", "1": "b", "2": "c"],
      "deep": ["a": ["b": ["c": .leaf(.int(1), priority: .string("p"))]]], "was": ["leaf": 1],
    ]
    let old: TreeNode = ["people": ["stale": ["x": 1], "p1": ["other": 1]], "was": 5, "gone": ["a": 1, "b": 2]]
    try FileBytes.write(wanted.json(.export), to: folder.file("t.json"))
    for leavesMax in [4, 5, 9, 30, 1000] {
      let tree = TinyTree(["at": old, "beside": 7], leavesMax: leavesMax)
      let run = try await run(["import", "/at", folder.file("t.json")], on: tree) { server in
        for request in server.requests where request.method != .GET {
          #expect(request.uri.contains("import=true&disableTriggers=true"))
        }
      }
      #expect(run.err.isEmpty)
      #expect(run.code == 0)
      #expect(tree.node == ["at": wanted, "beside": 7], "limit \(leavesMax)")
    }
  }

  @Test("a priority that an import does not have is gone, however large it is")
  func oldPriority() async throws {
    let folder = TemporaryFolder()
    let wanted: TreeNode = ["people": ["a": 1, "b": 2, "c": 3, "d": ["e": 4, "f": 5, "g": 6, "h": 7]], "x": "y"]
    let people: TreeNode = .map(TreeMap([TreeMap.Entry(key: Key(unchecked: "a"), node: 9)]), priority: .int(3))
    let old: TreeNode = .map(TreeMap([TreeMap.Entry(key: Key(unchecked: "people"), node: people)]), priority: .string("old"))
    try FileBytes.write(wanted.json(.export), to: folder.file("t.json"))
    for leavesMax in [3, 4, 6, 1000] {
      for place in ["/", "/at"] {
        let (before, after): (TreeNode, TreeNode) = place == "/" ? (old, wanted) : (["at": old], ["at": wanted])
        let tree = TinyTree(before, leavesMax: leavesMax)
        let run = try await run(["import", place, folder.file("t.json")], on: tree)
        #expect(run.code == 0, "\(run.err)")
        #expect(tree.node == after, "\(place), limit \(leavesMax)")
      }
    }
    // Nothing is left that could have a priority.
    try FileBytes.write(Array("{\"a\":{},\"b\":null}".utf8), to: folder.file("none.json"))
    let tree = TinyTree(["at": ["a": 1, "b": 2, "c": 3, "d": 4]], leavesMax: 2)
    #expect(try await run(["import", "/at", folder.file("none.json")], on: tree).code == 0)
    #expect(tree.node == .absent)
  }

  @Test("an export of what is too large for one answer is the same as of what is not")
  func largeExport() async throws {
    let folder = TemporaryFolder()
    var people: [TreeMap.Entry] = []
    for index in 0..<40 { people.append(TreeMap.Entry(key: Key(unchecked: "p\(index)"), node: ["level": 1, "b": ["c": 2]])) }
    let node: TreeNode = ["people": .map(TreeMap(people), priority: .double(1.5)), "x": "y"]
    for leavesMax in [2, 3, 50, 1000] {
      let file = folder.file("\(leavesMax).json")
      let run = try await run(["export", "/", file], on: TinyTree(node, leavesMax: leavesMax))
      #expect(run.code == 0)
      #expect(run.out.isEmpty)
      #expect(try TreeNode(json: try JSONParser.parse(FileBytes.read(file))) == node)
    }
    let piped = try await self.run(["export", "/x"], on: TinyTree(node, leavesMax: 10))
    #expect(piped.out == "\"y\"\n")
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

  @Test("weights")
  func weights() throws {
    let weight = ImportWeight(try JSONParser.parse("{\"a\":[1,null,\"xyz\"],\"b\":{},\"c\":null}"), pathBytes: 10)
    #expect(weight.leaves == 2)
    #expect(weight.bytes == (10 + 3 + 6 + 9) + (10 + 3 + 6 + 3))
  }
}
