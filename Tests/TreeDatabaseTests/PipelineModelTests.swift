import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// Random operations, compared with a naive tree after each.
struct PipelineModelTests {
  @Test("Random writes leave the tree that a naive model has", arguments: [1, 2, 3, 4] as [UInt64])
  func model(seed: UInt64) async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    var random = RandomTree(seed: seed)
    var model = NaiveTree()
    for step in 0..<250 {
      let (operation, apply) = Self.operation(&random)
      var next = model
      let accepted = apply(&next)
      let result = try? await fixture.write(operation)
      #expect((result != nil) == accepted, "seed \(seed), step \(step): \(operation)")
      if accepted {
        #expect(result?.changed == (next.root != model.root), "seed \(seed), step \(step): \(operation)")
        model = next
      }
      #expect(try fixture.node() == model.root, "seed \(seed), step \(step): \(operation)")
    }
    try Self.checkUndo(fixture, model.root)
  }

  private static func operation(_ random: inout RandomTree) -> (WriteOperation, (inout NaiveTree) -> Bool) {
    let path = random.path(depthMax: 3)
    switch Int.random(in: 0..<10, using: &random.random) {
    case 0, 1:
      return (
        .remove(path),
        {
          $0.set(path, to: .absent); return true
        }
      )
    case 2:
      let priority = random.chance(3) ? nil : random.priority()
      return (.setPriority(path, priority: .scalar(priority)), { $0.setPriority(path, to: priority) })
    case 3:
      let children = Set((0..<3).map { _ in random.key() }).map { (path.child($0), random.node(depthMax: 2)) }
      let assignments = children.map { WriteOperation.Assignment(path: $0.0, value: .node(WriteNode($0.1))) }
      guard let operation = try? WriteOperation.update(path, assignments) else { preconditionFailure("siblings never clash") }
      return (
        operation,
        { tree in
          for (place, node) in children { tree.set(place, to: node) }; return true
        }
      )
    default:
      let node = random.node(depthMax: 3)
      return (
        .set(path, node),
        {
          $0.set(path, to: node); return true
        }
      )
    }
  }

  /// Undoing every commit from the last to the first must lead back to nothing: records hold exactly what changed.
  private static func checkUndo(_ fixture: DatabaseFixture, _ root: TreeNode) throws {
    var leaves = Dictionary(uniqueKeysWithValues: root.leaves(at: .root).map { ($0.path, $0.scalar) })
    for commit in try fixture.commits().reversed() {
      for change in try #require(commit.changes) {
        #expect(leaves[change.path] == change.after)
        leaves[change.path] = change.before
      }
    }
    #expect(leaves.isEmpty)
  }
}

/// The tree as anyone would write it down: a value that is rebuilt for every write. What the pipeline is compared with.
struct NaiveTree {
  var root = TreeNode.absent

  mutating func set(_ path: Path, to node: TreeNode) {
    root = Self.setting(root, path.keys[...], to: node)
  }

  /// - Returns: false if there is nothing that could have a priority.
  mutating func setPriority(_ path: Path, to priority: Scalar?) -> Bool {
    let node = root[path]
    guard node.exists else { return false }
    set(path, to: TreeNode(node.content, priority: priority))
    return true
  }

  private static func setting(_ node: TreeNode, _ keys: ArraySlice<TreeModel.Key>, to value: TreeNode) -> TreeNode {
    guard let key = keys.first else { return value }
    let child = setting(node[key], keys.dropFirst(), to: value)
    // Below a leaf there is nothing to remove; something new turns the leaf into a map, and its priority stays.
    if case .leaf = node.content, !child.exists { return node }
    return .map(node.children.setting(key, to: child), priority: node.priority)
  }
}
