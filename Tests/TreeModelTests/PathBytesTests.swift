import TestSupport
import Testing
import TreeModel

@Suite struct PathBytesTests {
  @Test("the byte order of paths is the order of their keys, a node before its descendants")
  func order() {
    var source = RandomTree(seed: 1)
    let paths = (0..<300).map { _ in source.path(depthMax: 3) }
    for a in paths {
      for b in paths {
        let expected = a.keys.lexicographicallyPrecedes(b.keys)
        if (PathBytes(a) < PathBytes(b)) != expected { Issue.record("\(a) and \(b)") }
      }
    }
  }

  @Test("a path comes back from its bytes, key ends included")
  func roundTrip() throws {
    var source = RandomTree(seed: 2)
    for _ in 0..<500 {
      let path = source.path(depthMax: 4)
      let bytes = PathBytes(path)
      #expect(bytes.path == path)
      #expect(bytes.priority.path == path)
      #expect(bytes.keyEnds.count == path.depth)
      #expect(bytes.keyEnds.enumerated().allSatisfy { PathBytes(Path(keys: Array(path.keys[...$0]))).bytes.count == $1 })
      #expect(bytes.priority.isPriority && !bytes.isPriority)
      #expect(bytes.parent?.path == path.parent)
    }
  }

  @Test("a subtree is one range: containment and the range agree")
  func range() throws {
    var source = RandomTree(seed: 3)
    for _ in 0..<2_000 {
      let a = source.path(depthMax: 2)
      let b = source.path(depthMax: 3)
      let inRange = PathBytes(a) <= PathBytes(b) && (PathBytes(a).subtreeEnd.map { PathBytes(b) < $0 } ?? true)
      #expect(inRange == a.contains(b))
      #expect(PathBytes(a).contains(PathBytes(b)) == a.contains(b))
    }
  }

  @Test("a priority sorts behind its node and before the node's children")
  func priority() {
    let node: Path = "/a"
    #expect(PathBytes(node) < PathBytes(node).priority)
    for key in RandomTree.keys { #expect(PathBytes(node).priority < PathBytes(node.child(Key(unchecked: key)))) }
  }
}

@Suite struct LeavesTests {
  @Test("a node comes back from its leaves, which are sorted")
  func roundTrip() throws {
    var source = RandomTree(seed: 4)
    for _ in 0..<300 {
      let node = source.node(depthMax: 4)
      let place = PathBytes(source.path(depthMax: 2))
      let leaves = node.leaves(at: place)
      #expect(zip(leaves, leaves.dropFirst()).allSatisfy { $0.path < $1.path })
      #expect(leaves.filter { !$0.path.isPriority }.count == node.leafCount)
      #expect(TreeNode(leaves: leaves, at: place) == node)
    }
  }

  @Test("setting a place changes the leaves there and nothing else")
  func setting() throws {
    var source = RandomTree(seed: 5)
    for _ in 0..<60 {
      var node = source.node(depthMax: 3)
      var model = LeafModel(node)
      for _ in 0..<20 {
        let path = source.path(depthMax: 3)
        let value = source.chance(4) ? TreeNode.absent : source.node(depthMax: 2)
        node = node.setting(path, to: value)
        model.set(path, value)
        try #require(node.leaves(at: .root) == model.leaves)
      }
    }
  }

  @Test("a priority can be set on what exists, and on nothing else")
  func priority() throws {
    let tree: TreeNode = ["a": ["b": 1]]
    #expect(tree.settingPriority("/a/b", to: 5)?["/a/b" as Path] == .leaf(1, priority: 5))
    #expect(tree.settingPriority("/a", to: "p")?["/a" as Path].priority == "p")
    #expect(tree.settingPriority("/x", to: 5) == nil)
    #expect(tree.settingPriority("/a", to: 5)?.settingPriority("/a", to: nil) == tree)
  }
}

/// The tree as a flat list of leaves: slow and obvious.
struct LeafModel {
  private var scalars: [PathBytes: Scalar] = [:]

  init(_ node: TreeNode) {
    for leaf in node.leaves(at: .root) { scalars[leaf.path] = leaf.scalar }
  }

  var leaves: [Leaf] {
    scalars.map { Leaf(path: $0.key, scalar: $0.value) }.sorted { $0.path < $1.path }
  }

  mutating func set(_ path: Path, _ node: TreeNode) {
    let place = PathBytes(path)
    scalars = scalars.filter { !place.contains($0.key) }
    if node.exists {
      for depth in 0..<path.depth { scalars[PathBytes(Path(keys: Array(path.keys[..<depth])))] = nil }
    }
    for leaf in node.leaves(at: place) { scalars[leaf.path] = leaf.scalar }
    // A priority without a node vanishes.
    let values = scalars.keys.filter { !$0.isPriority }
    scalars = scalars.filter { entry in
      guard entry.key.isPriority else { return true }
      let owner = PathBytes(bytes: Array(entry.key.bytes.dropLast()))
      return values.contains { owner.contains($0) }
    }
  }
}
