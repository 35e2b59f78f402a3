import TestSupport
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

@Suite("Places in indexes")
struct IndexEntryTests {
  @Test("The bytes of places sort as values and keys do")
  func order() {
    var random = RandomTree(seed: 3)
    var children: [(value: Scalar?, key: Key)] = []
    for _ in 0..<250 { children.append((random.chance(9) ? nil : random.ranked(), random.key())) }
    var wrong: [String] = []
    for a in children.prefix(60) {
      for b in children {
        let x = TreeMap.Entry(key: a.key, node: a.value.map { ["v": .leaf($0)] } ?? ["w": 1])
        let y = TreeMap.Entry(key: b.key, node: b.value.map { ["v": .leaf($0)] } ?? ["w": 1])
        let ranks = (IndexRank(a.value), IndexRank(b.value))
        // Long strings that share a rank are told apart by who reads them.
        if ranks.0 == ranks.1, ranks.0.isShared { continue }
        let precedes = NodeOrder.child("v").precedes(x, y)
        if (IndexEntry(ranks.0, a.key) < IndexEntry(ranks.1, b.key)) != precedes { wrong.append("\(a) \(b)") }
      }
    }
    #expect(wrong == [])
  }

  @Test("A place can be read back")
  func parts() throws {
    var random = RandomTree(seed: 4)
    for _ in 0..<300 {
      let rank = random.chance(5) ? IndexRank.map : IndexRank(random.chance(5) ? nil : random.ranked())
      let key = random.key()
      let parts = try #require(IndexEntry(rank, key).parts)
      #expect(parts.rank == rank)
      #expect(parts.key == key)
    }
  }

  @Test(
    "Bytes that are no place are recognised",
    arguments: [[], [9], [5, 1], [6, 97], [2], [2, 97], [3, 97, 1, 1]] as [[UInt8]])
  func damaged(bytes: [UInt8]) {
    #expect(IndexEntry(bytes: bytes).parts == nil)
  }

  @Test("Maps come last, nothing first; numbers by value, whatever their sign")
  func ranks() {
    let ranks =
      [IndexRank.null, IndexRank(false), IndexRank(true)]
      + [-1e300, -2, -1.5, 0, 1.5, 2, 1e300].map { IndexRank(.number($0)) }
      + ["", "\u{0}", "\u{0}\u{0}", "a", "a\u{0}", "ab", "\u{FFFF}"].map { IndexRank(.string($0)) } + [.map]
    for (a, b) in zip(ranks, ranks.dropFirst()) { #expect(a.bytes.lexicographicallyPrecedes(b.bytes)) }
    #expect(IndexRank(0) == IndexRank(.double(-0.0)))
    #expect(IndexRank(9_007_199_254_740_993) == IndexRank(9_007_199_254_740_992), "doubles, as clients compare")
  }
}
