import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("The tree as it was")
struct AsOfTests {
  typealias Tree = [PathBytes: Scalar]

  @Test("Every subtree as of every revision equals a naive model, also after reopening", arguments: [1, 2, 3] as [UInt64])
  func randomHistories(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let folder = TemporaryFolder()
    var past: [Tree] = [[:]]
    for round in 0..<4 {
      let engine = try SQLiteEngine(directory: folder.path, options: tinyOptions)
      let committer = try Committer(engine)
      for _ in 0..<40 {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          var tree = past[past.count - 1]
          var values: [PathBytes: Scalar?] = [:]
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            let path = OverlayTests.paths.randomElement(using: &random)!
            let scalar: Scalar? = Bool.random(using: &random) ? .int(Int64.random(in: 0..<5, using: &random)) : nil
            values[path] = .some(scalar)
            tree[path] = scalar
          }
          try committer.put(values)
          past.append(tree)
        }
        try committer.session.commit()
        // Merges are cut off wherever they are when the engine ends.
        for _ in 0..<Int.random(in: 0...6, using: &random) { _ = try engine.compact() }
      }
      try engine.read { try check($0, committer.ns, past, &random) }
      // Half of the times as if the process had been killed: what is in memory only is gone.
      if round % 2 == 0 { engine.close() } else { try folder.keepAsIfKilled(engine) }
    }
  }

  @Test("Processes that die young, one after the other, leave no tail of the log that grows", arguments: [1, 20])
  func shortLives(leaves: Int) throws {
    var random = SplitMix(seed: 9)
    let folder = TemporaryFolder()
    var past: [Tree] = [[:]]
    for life in 0..<40 {
      let engine = try SQLiteEngine(directory: folder.path, options: tinyOptions)
      let committer = try Committer(engine)
      // Too few to finish a generation: each commit writes a slice of it.
      for value in 0..<3 as Range<Int64> {
        var tree = past[past.count - 1]
        var values: [PathBytes: Scalar?] = [:]
        for path in OverlayTests.paths.shuffled(using: &random).prefix(leaves) {
          values[path] = .int(Int64(life) * 3 + value)
          tree[path] = .int(Int64(life) * 3 + value)
        }
        try committer.put(values)
        past.append(tree)
        try committer.session.commit()
      }
      let head = try engine.writer.lastRevision(committer.ns)
      let watermark = try engine.writer.watermark(committer.ns).history
      // Three generations and what this life added: in commits, and for commits of many leaves in their bytes.
      #expect(head - watermark <= 3 * Int64(tinyOptions.history.generationChanges) + 3)
      #expect(try engine.writer.tail(committer.ns, after: watermark).bytes <= 3 * 12 * 64 + 3 * Int64(leaves) * 32)
      if life % 8 == 7 { try engine.read { try check($0, committer.ns, past, &random) } }
      try folder.keepAsIfKilled(engine)
    }
  }

  private func check(_ snapshot: any Snapshot, _ ns: NamespaceID, _ past: [Tree], _ random: inout SplitMix) throws {
    for (revision, tree) in past.enumerated() {
      for _ in 0..<4 {
        let path = OverlayTests.paths.randomElement(using: &random)!
        let limit = Int.random(in: 1...12, using: &random)
        let found = try snapshot.leaves(in: ns, under: path, asOf: Revision(Int64(revision)), limit: limit)
        let expected = tree.filter { path.contains($0.key) }.sorted { $0.key < $1.key }.prefix(limit)
        #expect(found.map(\.leaf) == expected.map { Leaf(path: $0.key, scalar: $0.value) }, "revision \(revision), \(path)")
      }
      let all = try snapshot.leaves(in: ns, under: .root, asOf: Revision(Int64(revision)), limit: .max)
      #expect(Dictionary(uniqueKeysWithValues: all.map { ($0.leaf.path, $0.leaf.scalar) }) == tree)
    }
  }

  @Test("A snapshot that stays open while generations are finished still sees its past")
  func heldSnapshot() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    for value in 1...30 {
      try committer.put("/counter", .int(Int64(value)))
      try committer.session.commit()
    }
    try engine.read { snapshot throws in
      let counter = PathBytes("/counter")
      #expect(try snapshot.value(in: committer.ns, "/counter") == 30)
      for value in 31...200 {
        try committer.put("/counter", .int(Int64(value)))
        try committer.session.commit()
      }
      #expect(try engine.history.recent(committer.ns, reading: SQLiteConnection(path: engine.path)).start > 100)
      for revision in 1...30 {
        let found = try snapshot.leaves(in: committer.ns, under: counter, asOf: Revision(Int64(revision)), limit: 1)
        #expect(found.first?.leaf.scalar == .int(Int64(revision)))
      }
    }
  }

  @Test("Readers on other threads see every revision while the writer crosses every border")
  func concurrentReaders() async throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    let ns = NamespaceID(rawValue: 1)
    let counter = PathBytes("/counter")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let committer = try Committer(engine)
        for value in 1...900 as ClosedRange<Int64> {
          try committer.put([counter: .int(value), PathBytes("/even"): value % 2 == 0 ? .int(value) : nil])
          if value % 3 == 0 { try committer.session.commit() }
          if value % 100 == 0 { try engine.checkpoint() }
          _ = try engine.compact()
        }
        try committer.session.commit()
      }
      for seed in 1...2 as ClosedRange<UInt64> {
        group.addTask {
          var random = SplitMix(seed: seed)
          for _ in 0..<600 {
            try engine.read { snapshot throws in
              let head = try snapshot.head(of: ns).revision.rawValue
              guard head > 0 else { return }
              let revision = Int64.random(in: max(1, head - 60)...head, using: &random)
              let found = try snapshot.leaves(in: ns, under: .root, asOf: Revision(revision), limit: 9)
              let expected: [Scalar] = revision % 2 == 0 ? [.int(revision), .int(revision)] : [.int(revision)]
              #expect(found.map(\.leaf.scalar) == expected)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    engine.close()
  }

  @Test("What was pruned is said to be unreadable")
  func pruned() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    for value in 1...100 {
      try committer.put("/counter", .int(Int64(value)))
      try committer.session.commit()
    }
    var maintenance = Maintenance()
    maintenance.checkpoint = CheckpointRecord(
      revision: Revision(20), commitTime: 0, commitHash: [], treeHash: [], leafCount: 1, actor: .system("test"),
      reason: "test", createdAt: 0)
    committer.session.put(maintenance, in: committer.ns)
    try committer.session.commit()
    #expect(try engine.read { try $0.prunedRevision(of: committer.ns) } == Revision(20))
    #expect {
      try engine.read { try $0.leaves(in: committer.ns, under: .root, asOf: Revision(10), limit: 1) }
    } throws: { ($0 as? StorageError)?.code == .unreadable }
    #expect(try engine.read { try $0.leaves(in: committer.ns, under: .root, asOf: Revision(20), limit: 1) }.count == 1)
  }
}
