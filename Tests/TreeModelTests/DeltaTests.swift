import TestSupport
import Testing
import TreeModel

/// The sparse difference of event bodies (spec: triggers-ledger §1.1 and §8.20).
struct DeltaTests {
  @Test(
    "null removes, an object merges, anything else replaces",
    arguments: [
      (["a": 1, "b": 2], ["a": 1, "c": 3], ["b": nil, "c": 3]),
      (["a": ["x": 1, "y": 2]], ["a": ["x": 1, "y": 3]], ["a": ["y": 3]]),
      (["a": 1], 5, 5), (5, ["a": 1], ["a": 1]), (["a": 1], .absent, nil), (["a": 1], ["a": 1], [:]),
    ] as [(TreeNode, TreeNode, JSON)])
  func table(before: TreeNode, after: TreeNode, delta: JSON) {
    #expect(before.delta(to: after) == delta)
    #expect(before.applying(delta: delta) == after)
  }

  @Test("The value before with the difference applied is the value after, for random trees", arguments: [11, 12] as [UInt64])
  func random(seed: UInt64) {
    var random = RandomTree(seed: seed)
    for _ in 0..<400 {
      let before = random.node(depthMax: 3)
      let after = random.node(depthMax: 3)
      let applied = before.applying(delta: before.delta(to: after))
      // Priorities are no part of an event; without them both must be the same node.
      #expect(applied == TreeNode.absent.applying(delta: TreeNode.absent.delta(to: after)))
    }
  }
}
