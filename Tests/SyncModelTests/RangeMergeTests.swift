import Testing
import TreeModel

@testable import SyncModel

/// Ranges of a node, as a server sends them to who knows the rest.
@Suite struct RangeMergeTests {
  private static let old: TreeNode = ["a": 1, "b": ["x": 1, "y": 2, "z": 3], "c": 4, "d": ["e": 5]]

  static let cases: [(after: Path?, through: Path?, node: TreeNode, result: TreeNode, what: String)] = [
    (nil, nil, ["n": 1], ["n": 1], "everything"),
    (
      nil, "/b", ["a": 9], ["a": 9, "b": ["x": 1, "y": 2, "z": 3], "c": 4, "d": ["e": 5]],
      "up to a leaf of a name that is a map here"
    ),
    (
      nil, "/b/x", ["a": 2, "b": ["w": 0]], ["a": 2, "b": ["w": 0, "y": 2, "z": 3], "c": 4, "d": ["e": 5]], "up to a leaf below"
    ),
    (
      "/b/x", "/b/y", ["b": ["xx": 7]], ["a": 1, "b": ["x": 1, "xx": 7, "z": 3], "c": 4, "d": ["e": 5]],
      "between two leaves of a map"
    ),
    ("/b/y", "/c", .absent, ["a": 1, "b": ["x": 1, "y": 2], "d": ["e": 5]], "from a map's leaf to a leaf behind it"),
    (
      "/c", nil, ["d": ["e": 6, "f": 7], "g": 8],
      ["a": 1, "b": ["x": 1, "y": 2, "z": 3], "c": 4, "d": ["e": 6, "f": 7], "g": 8], "the rest"
    ),
    ("/c", "/d/e", ["d": 1], ["a": 1, "b": ["x": 1, "y": 2, "z": 3], "c": 4, "d": 1], "a leaf in a map's place"),
    ("/x", nil, .absent, Self.old, "behind all"),
  ]

  @Test("a range is replaced, and nothing else", arguments: cases.indices)
  func ranges(index: Int) {
    let example = Self.cases[index]
    let merge = RangeMerge(after: example.after, through: example.through, node: example.node)
    #expect(merge.applied(to: Self.old) == example.result, "\(example.what)")
  }

  @Test("priorities in the range come with it, others stay")
  func priorities() {
    let old = TreeNode.map(TreeMap([.init(key: Key(unchecked: "a"), node: 1)]), priority: .int(1))
    let new = TreeNode.map(TreeMap([.init(key: Key(unchecked: "b"), node: 2)]), priority: .int(2))
    #expect(RangeMerge(after: nil, through: nil, node: new).applied(to: old) == new)
    let behind = RangeMerge(after: "/a", through: nil, node: ["b": 2]).applied(to: old)
    #expect(
      behind
        == TreeNode.map(
          TreeMap([.init(key: Key(unchecked: "a"), node: 1), .init(key: Key(unchecked: "b"), node: 2)]), priority: .int(1)))
  }

  @Test("what a server sends in ranges is one change of the view; a range of nothing known is nothing")
  func received() {
    var tree = ClientTree()
    let listener = tree.listen(ListenSpec(path: "/l"), to: [.value, .added, .removed])
    guard case .listen(let wire)? = tree.takeEffects().first else {
      Issue.record("the listen is asked of the server")
      return
    }
    tree.receive([RangeMerge(after: nil, through: nil, node: ["x": 1])], at: "/other", tag: nil)
    #expect(tree.takeEffects().isEmpty)
    tree.receive([("/l", ["a": 1, "b": 2])], tag: nil)
    tree.accept(wire)
    _ = tree.takeEffects()
    tree.receive([RangeMerge(after: "/a", through: nil, node: ["c": 3])], at: "/l", tag: nil)
    let events = tree.takeEffects().compactMap { effect -> TreeEvent? in
      if case .event(listener, let event) = effect { event } else { nil }
    }
    #expect(events.map(\.kind) == [.removed, .added, .value])
    #expect(events.last?.node == ["a": 1, "c": 3])
  }
}
