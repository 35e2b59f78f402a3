import TestSupport
import Testing
import TreeModel

@testable import SyncModel

/// Many changes of one node at once.
@Suite struct TreeChangeTests {
  /// The node without priorities.
  private static func plain(_ node: TreeNode) -> TreeNode {
    guard node.scalar == nil else { return TreeNode(node.content) }
    return .map(TreeMap(node.children.map { TreeMap.Entry(key: $0.key, node: plain($0.node)) }))
  }

  /// With even seeds nodes vanish, and have no priorities; with odd ones they have, and stay.
  private static func node(_ source: inout RandomTree, removes: Bool) -> TreeNode {
    let node = source.node(depthMax: 2)
    return removes ? plain(node) : node.exists ? node : 1
  }

  /// Changes of a node, and of places in it; where nodes vanish, of places that have nothing to do with each other.
  private static func changes(_ source: inout RandomTree, removes: Bool) -> [TreeChange] {
    var changes: [TreeChange] = []
    for _ in 0..<source.pick([1, 3, 40]) {
      let path = source.chance(20) ? .root : Path(keys: [source.key()]).appending(source.path(depthMax: 2))
      if removes, changes.contains(where: { $0.path.contains(path) || path.contains($0.path) }) { continue }
      let isPriority = !removes && source.chance(4)
      let value: TreeChange.Value = isPriority ? .priority(source.priority()) : .node(node(&source, removes: removes))
      changes.append(TreeChange(path: path, value: value))
    }
    return changes
  }

  @Test("changes that are made at once leave what they leave one by one", arguments: 0..<200)
  func together(seed: Int) {
    var source = RandomTree(seed: UInt64(seed))
    let removes = seed.isMultiple(of: 2)
    let old = Self.node(&source, removes: removes)
    let changes = Self.changes(&source, removes: removes)
    var expected = old
    for change in changes {
      switch change.value {
      case .node(let node): expected = expected.setting(change.path, to: node)
      case .priority(let priority): expected = expected.settingPriority(change.path, to: priority) ?? expected
      }
    }
    var known = false
    let made = old.applying(changes, at: .root, known: &known)
    #expect(made == expected)
    #expect(known == changes.contains { $0.isNode && $0.path.isRoot })
    // The same, seen from above and from the side.
    let below = Path(keys: [Key(unchecked: "x"), Key(unchecked: "y")])
    let moved = changes.map { TreeChange(path: below.appending($0.path), value: $0.value) }
    let aside = TreeChange(path: "/x/other", value: .node(7))
    #expect(TreeNode.absent.setting(below, to: old).applyingAll([aside] + moved)[below] == expected)
    var isKnown = false
    let seen = old.applying([aside] + moved, at: below, known: &isKnown)
    #expect(seen == expected && isKnown == known)
  }

  @Test("a write above a place, and a removal of it, make it known", arguments: [["a": ["b": 5]], .absent] as [TreeNode])
  func above(written: TreeNode) {
    var known = false
    let place: Path = "/x/a/b"
    let node = TreeNode.leaf(.int(1)).applying([TreeChange(path: "/x", value: .node(written))], at: place, known: &known)
    #expect(known)
    #expect(node == written["/a/b"])
  }

  @Test("one message of many children of a large node is one event")
  func large() {
    let count = 5000
    func entries(_ value: Int64) -> [TreeMap.Entry] {
      (0..<count).map { TreeMap.Entry(key: Key(unchecked: "k\($0)"), node: .leaf(.int(value))) }
    }
    var tree = ClientTree()
    let listener = tree.listen(ListenSpec(path: "/l"), to: [.value])
    tree.receive([("/l", .map(TreeMap(entries(0))))], tag: nil)
    _ = tree.takeEffects()
    tree.receive(entries(1).map { (Path(keys: [Key(unchecked: "l"), $0.key]), $0.node) }, tag: nil)
    let told = tree.takeEffects().compactMap { effect -> TreeNode? in
      if case .event(listener, let event) = effect { event.node } else { nil }
    }
    #expect(told == [.map(TreeMap(entries(1)))])
  }
}

extension TreeNode {
  fileprivate func applyingAll(_ changes: [TreeChange]) -> TreeNode {
    var known = false
    return applying(changes, at: .root, known: &known)
  }
}
