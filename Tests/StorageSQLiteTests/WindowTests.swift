import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// The past in stretches, backwards, and the last change of many places at once: each equals a naive model.
@Suite("Windows of the past")
struct WindowTests {
  typealias Tree = [PathBytes: Scalar]

  /// Random commits, and the tree after each of them.
  private func commits(_ committer: Committer, _ engine: SQLiteEngine, _ random: inout SplitMix) throws -> [Tree] {
    var past: [Tree] = [[:]]
    for _ in 0..<90 {
      var tree = past[past.count - 1]
      var values: [PathBytes: Scalar?] = [:]
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let path = OverlayTests.paths.randomElement(using: &random)!
        let scalar: Scalar? = Bool.random(using: &random) ? .int(Int64.random(in: 0..<5, using: &random)) : nil
        values[path] = .some(scalar)
        tree[path] = scalar
      }
      try committer.put(values)
      past.append(tree)
      if Bool.random(using: &random) { try committer.session.commit() }
      if Bool.random(using: &random) { _ = try engine.compact() }
    }
    try committer.session.commit()
    return past
  }

  @Test("Stretch after stretch makes the whole tree of then, whatever the sizes", arguments: [1, 2] as [UInt64])
  func stretches(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    let past = try commits(committer, engine, &random)
    try engine.read { snapshot throws in
      for (number, tree) in past.enumerated() {
        let revision = Revision(Int64(number))
        let (limit, bytes) = (Int.random(in: 1...9, using: &random), Int.random(in: 0...200, using: &random))
        var (lower, found, rounds) = (PathBytes.root, [Leaf](), 0)
        while lower < .afterAll, rounds < 500 {
          let stretch = try snapshot.leaves(
            in: committer.ns, from: lower, to: .afterAll, asOf: revision, limit: limit, bytesMax: bytes)
          #expect(lower < stretch.end && stretch.leaves.count <= limit)
          found += stretch.leaves.map(\.leaf)
          (lower, rounds) = (stretch.end, rounds + 1)
        }
        let expected = tree.sorted { $0.key < $1.key }.map { Leaf(path: $0.key, scalar: $0.value) }
        #expect(found == expected, "revision \(number), \(limit) at a time")
      }
    }
  }

  @Test("Backwards no place of then is stepped over", arguments: [3, 4] as [UInt64])
  func backwards(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    let past = try commits(committer, engine, &random)
    try engine.read { snapshot throws in
      for (number, tree) in past.enumerated() {
        var (upper, found) = (PathBytes.afterAll, [PathBytes]())
        while let path = try snapshot.lastPath(in: committer.ns, before: upper, since: Revision(Int64(number))) {
          #expect(path < upper)
          if tree[path] != nil { found.append(path) }
          upper = path
        }
        #expect(found == tree.keys.sorted().reversed(), "revision \(number)")
      }
      let now = try snapshot.lastPath(in: committer.ns, before: .afterAll, since: Revision(.max))
      #expect(now == past[past.count - 1].keys.max())
    }
  }

  @Test("The last change of each of many places is the model's, or not known", arguments: [5, 6] as [UInt64])
  func touches(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    let past = try commits(committer, engine, &random)
    let places = ["a", "b", "1", "02", "é", "nowhere"].map { PathBytes.root.child(Key(unchecked: $0)) }.sorted()
    try engine.read { snapshot throws in
      for last in past.indices {
        let expected = places.map { place in
          (0...last).last { number in
            guard number > 0 else { return false }
            let (old, new) = (past[number - 1], past[number])
            return Set(old.keys).union(new.keys).contains { place.contains($0) && old[$0] != new[$0] }
          }.map { Revision(Int64($0)) }
        }
        let found = try snapshot.lastTouches(
          in: committer.ns, under: places, through: Revision(Int64(last)), rowsMax: 10_000)
        #expect(found == expected, "through \(last)")
        let few = try snapshot.lastTouches(in: committer.ns, under: places, through: Revision(Int64(last)), rowsMax: 2)
        for (known, wanted) in zip(few, expected) { #expect(known == nil || known == wanted) }
      }
      #expect(try snapshot.commitTime(in: committer.ns, at: Revision(7)) == 1007)
      #expect(try snapshot.commitTime(in: committer.ns, at: Revision(700)) == nil)
    }
  }
}
