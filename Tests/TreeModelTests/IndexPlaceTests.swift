import TestSupport
import Testing
import TreeModel

@Suite("Places in indexes")
struct IndexPlaceTests {
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
        if (IndexPlace(ranks.0, a.key) < IndexPlace(ranks.1, b.key)) != precedes { wrong.append("\(a) \(b)") }
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
      let parts = try #require(IndexPlace(rank, key).parts)
      #expect(parts.rank == rank)
      #expect(parts.key == key)
    }
  }

  @Test(
    "Bytes that are no place are recognised",
    arguments: [[], [9], [5, 1], [6, 97], [2], [2, 97], [3, 97, 1, 1]] as [[UInt8]])
  func damaged(bytes: [UInt8]) {
    #expect(IndexPlace(bytes: bytes).parts == nil)
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
