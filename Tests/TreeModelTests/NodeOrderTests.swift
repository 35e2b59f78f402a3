import Testing
import TreeModel

@Suite struct NodeOrderTests {
  private static let values: [TreeNode] = [
    false, true, .leaf(.int(.min)), -1, 0, 0.5, 1, .leaf(.int(.max)), 1e300, "", "10", "9", "a", "e\u{301}", "é", "😀",
    "\u{FFFD}",
    ["x": 1],
  ]

  @Test("values of mixed kinds sort null, false, true, numbers, strings, maps")
  func mixed() {
    let a = Key(unchecked: "a")
    for (i, x) in Self.values.enumerated() {
      for (j, y) in Self.values.enumerated() where i != j {
        #expect(NodeOrder.value.precedes(.init(key: a, node: x), .init(key: a, node: y)) == (i < j), "\(i) \(j)")
      }
      // A child without the value comes first.
      let without = TreeMap.Entry(key: Key(unchecked: "z"), node: ["other": 1])
      let with = TreeMap.Entry(key: a, node: ["v": x])
      #expect(NodeOrder.child("/v").precedes(without, with))
    }
  }

  @Test("ties are broken by key: maps, 1 and 1.0, equal values")
  func ties() {
    let pairs: [(TreeNode, TreeNode)] = [
      (["x": 1], ["a": 2, "b": 3]), (1, 1.0), ("s", "s"), (.leaf(5, priority: 9), .leaf(5, priority: 1)),
      (.leaf(.int(9_007_199_254_740_993)), .leaf(.int(9_007_199_254_740_992))),
    ]
    for (x, y) in pairs {
      #expect(NodeOrder.value.precedes(.init(key: Key(unchecked: "9"), node: x), .init(key: Key(unchecked: "10"), node: y)))
      #expect(!NodeOrder.value.precedes(.init(key: Key(unchecked: "b"), node: x), .init(key: Key(unchecked: "a"), node: y)))
    }
  }

  @Test("priorities sort none, numbers, strings; then the key decides")
  func priorities() {
    let priorities: [Scalar?] = [nil, -5, 0.5, 10, "", "10", "9", "a"]
    let entries = priorities.enumerated().map { index, priority in
      TreeMap.Entry(key: Key(unchecked: "k\(9 - index)"), node: .leaf(true, priority: priority))
    }
    for (i, x) in entries.enumerated() {
      for (j, y) in entries.enumerated() { #expect(NodeOrder.priority.precedes(x, y) == (i < j)) }
    }
    let (a, b) = (Key(unchecked: "a"), Key(unchecked: "b"))
    #expect(NodeOrder.priority.precedes(.init(key: a, node: .leaf(2, priority: 1)), .init(key: b, node: .leaf(1, priority: 1))))
  }

  @Test("keys sort -1, 2, 10, a, b")
  func keys() throws {
    let tree = try node(#"{"b":1,"10":1,"a":1,"2":1,"-1":1}"#)
    #expect(tree.children.map(\.key.text) == ["-1", "2", "10", "a", "b"])
    #expect(Query(order: .key).window(of: tree).map(\.key.text) == ["-1", "2", "10", "a", "b"])
  }
}
