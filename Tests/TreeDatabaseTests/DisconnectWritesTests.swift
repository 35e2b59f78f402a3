import TestSupport
import Testing
import TreeModel

@testable import TreeDatabase

/// What is registered for a connection's end.
struct DisconnectWritesTests {
  enum Step: Sendable {
    case set(Path, WriteNode)
    case update(Path, [(String, WriteNode)])
    case cancel(Path)
  }

  static func writes(_ steps: [Step]) throws -> DisconnectWrites {
    var writes = DisconnectWrites()
    for step in steps {
      switch step {
      case .set(let path, let node): writes.register(.set(path, node))
      case .update(let path, let children):
        writes.register(
          try .update(
            path,
            children.map { .init(path: path.appending(try Path(parsing: $0.0)), value: .node($0.1)) }))
      case .cancel(let path): writes.cancel(path)
      }
    }
    return writes
  }

  static func text(_ writes: DisconnectWrites) -> [String] {
    writes.assignments.map { assignment in
      switch assignment.value {
      case .node(let node):
        "\(assignment.path)=\(String(decoding: node.node.json(.export), as: UTF8.self))"
          + node.slots.map { " \($0.path)\($0.isPriority ? "!" : ""):\($0.value)" }.joined()
      case .priority(let value): "\(assignment.path)!\(value)"
      }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let steps: [Step]
    let result: [String]
    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "a set", steps: [.set("/a", WriteNode(1))], result: ["/a=1"]),
    Row(name: "a later set replaces", steps: [.set("/a", WriteNode(1)), .set("/a", WriteNode(2))], result: ["/a=2"]),
    Row(name: "and what lies below", steps: [.set("/a/b", WriteNode(1)), .set("/a", .absent)], result: ["/a=null"]),
    Row(
      name: "a set below changes the node above", steps: [.set("/a", WriteNode(["b": 1])), .set("/a/c", WriteNode(2))],
      result: [#"/a={"b":1,"c":2}"#]),
    Row(
      name: "a removal below removes from the node above",
      steps: [.set("/a", WriteNode(["b": 1, "c": 2])), .set("/a/b", .absent)], result: [#"/a={"c":2}"#]),
    Row(
      name: "an update is child by child",
      steps: [.set("/a/b", WriteNode(1)), .update("/a", [("c", WriteNode(2)), ("d/e", WriteNode(3))])],
      result: ["/a/b=1", "/a/c=2", "/a/d/e=3"]),
    Row(
      name: "cancel forgets", steps: [.set("/a/b", WriteNode(1)), .set("/c", WriteNode(2)), .cancel("/a")], result: ["/c=2"]),
    Row(name: "cancel all", steps: [.set("/a/b", WriteNode(1)), .set("/c", WriteNode(2)), .cancel("/")], result: []),
    Row(
      name: "cancel carves", steps: [.set("/a", WriteNode(["b": ["x": 1, "y": 2], "c": 3])), .cancel("/a/b/x")],
      result: ["/a/b/y=2", "/a/c=3"]),
    Row(name: "cancel below a leaf does nothing", steps: [.set("/a", WriteNode(1)), .cancel("/a/b")], result: ["/a=1"]),
    Row(name: "cancel below a removal cancels it", steps: [.set("/a", .absent), .cancel("/a/b")], result: []),
    Row(name: "cancel elsewhere does nothing", steps: [.set("/a/b", WriteNode(1)), .cancel("/a/c")], result: ["/a/b=1"]),
    Row(
      name: "server values stay where they are", steps: [.set("/a", WriteNode(["b": 1])), .set("/a/t", .timestamp)],
      result: [#"/a={"b":1,"t":0} /t:timestamp"#]),
    Row(
      name: "and go with what they were in", steps: [.set("/a/t", .timestamp), .set("/a", WriteNode(["b": 1]))],
      result: [#"/a={"b":1}"#]),
    Row(
      name: "a leaf to be filled becomes a map",
      steps: [.set("/a", WriteNode(["b": 1])), .set("/a/t", .timestamp), .set("/a/t/x", WriteNode(1))],
      result: [#"/a={"b":1,"t":{"x":1}}"#]),
    Row(
      name: "carving keeps them", steps: [.set("/a", WriteNode(["b": 1])), .set("/a/t", .timestamp), .cancel("/a/b")],
      result: ["/a/t=0 /:timestamp"]),
  ]

  @Test("60: registrations replace, merge and carve as clients expect", arguments: rows)
  func table(_ row: Row) throws {
    #expect(Self.text(try Self.writes(row.steps)) == row.result)
  }

  @Test("A priority alone, and inside a registered node")
  func priorities() throws {
    var writes = DisconnectWrites()
    writes.register(.setPriority("/a", priority: .scalar(5)))
    #expect(Self.text(writes) == ["/a!scalar(Optional(TreeModel.Scalar.int(5)))"])
    writes.register(.set("/a", WriteNode(1)))
    writes.register(.setPriority("/a", priority: .server(.timestamp)))
    #expect(Self.text(writes) == [#"/a={".value":1,".priority":0} /!:timestamp"#])
    writes.cancel("/a")
    #expect(writes.isEmpty)
  }

  @Test("60: what is left says the same as all that was registered, one after the other", arguments: 1...150)
  func sequence(seed: UInt64) throws {
    var source = RandomTree(seed: seed)
    let before = source.node(depthMax: 3)
    var writes = DisconnectWrites()
    var expected = before
    for _ in 0..<Int.random(in: 1...8, using: &source.random) {
      let path = source.path(depthMax: 3)
      let node = source.node(depthMax: 2)
      writes.register(.set(path, node))
      expected = expected.setting(path, to: node)
    }
    var result = before
    for assignment in writes.assignments {
      guard case .node(let node) = assignment.value else { continue }
      result = result.setting(assignment.path, to: node.node)
    }
    #expect(result == expected)
    #expect(throws: Never.self) { try WriteOperation.update(.root, writes.assignments) }
  }

  @Test("60: a flat list of places, kept by the same rules, agrees, cancellations included", arguments: 1...150)
  func model(seed: UInt64) throws {
    var source = RandomTree(seed: seed)
    var writes = DisconnectWrites()
    var model = FlatRegister()
    for _ in 0..<Int.random(in: 1...14, using: &source.random) {
      let path = source.path(depthMax: 3)
      if source.chance(3) {
        writes.cancel(path)
        model.cancel(path)
      } else {
        let node = source.node(depthMax: 2)
        writes.register(.set(path, node))
        model.set(path, node)
      }
      let found = writes.assignments.reduce(into: [Path: TreeNode]()) { found, assignment in
        if case .node(let node) = assignment.value { found[assignment.path] = node.node }
      }
      #expect(found == model.paths)
      #expect(writes.isEmpty == model.paths.isEmpty)
    }
  }
}

/// The rules of what is written at the end of a connection, on a dictionary: no tree, no recursion over children.
private struct FlatRegister {
  private(set) var paths: [Path: TreeNode] = [:]

  private func above(_ path: Path) -> Path? { paths.keys.first { $0.contains(path) && $0 != path } }

  mutating func set(_ path: Path, _ node: TreeNode) {
    if let above = above(path) {
      paths[above] = paths[above]?.setting(Path(keys: Array(path.keys.dropFirst(above.depth))), to: node)
    } else {
      paths = paths.filter { !path.contains($0.key) }
      paths[path] = node
    }
  }

  mutating func cancel(_ path: Path) {
    while let above = above(path), let node = paths[above], node.scalar == nil {
      paths[above] = nil
      for entry in node.children { paths[above.child(entry.key)] = entry.node }
    }
    paths = paths.filter { !path.contains($0.key) }
  }
}
