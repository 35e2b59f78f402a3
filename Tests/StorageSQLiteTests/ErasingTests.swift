import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import StorageSQLite

/// What is taken out of the past for a player who leaves, in the tables.
@Suite("Erasing")
struct ErasingTests {
  private static let players = (0..<5).map { "p\($0)" }

  private static func erase(_ step: Maintenance.Erasing, _ committer: Committer) throws {
    var maintenance = Maintenance()
    maintenance.erasing = step
    committer.session.put(maintenance, in: committer.ns)
    try committer.session.commit()
  }

  /// What stands in the store's rows that lies below a player's place.
  private static func rows(of player: String, in engine: SQLiteEngine, _ ns: NamespaceID) throws -> Int {
    let inspector = try SQLiteConnection(path: engine.path)
    defer { inspector.close() }
    let range = PathRange(subtree: at("/users/\(player)"))
    let history = try SQLiteStatement(
      "SELECT count(*) FROM history WHERE path >= ? AND path < ?", on: inspector, isKept: false
    ).bind(range.lower).bind(range.upper).first { row throws(StorageError) in row.int(0) }
    let changes = try inspector.commits(ns, after: 0).reduce(0) { sum, commit in
      sum + (commit.changes ?? []).count { at("/users/\(player)").contains($0.path) }
    }
    return Int(history ?? 0) + changes
  }

  @Test("At every moment of a merge an erasure leaves nothing of the player and everything of the others", arguments: 0..<12)
  func duringMerge(steps: Int) throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    var random = SplitMix64(seed: UInt64(steps))
    var states: [[PathBytes: Scalar]] = [[:]]
    for value in 1...300 as ClosedRange<Int64> {
      var batch: [PathBytes: Scalar?] = [:]
      for _ in 0...1 { batch[at("/users/\(Self.players.randomElement(using: &random) ?? "p0")/x")] = .int(value) }
      try committer.put(batch)
      if value % 3 == 0 { try committer.session.commit() }
      states.append(states[states.count - 1].merging(batch.compactMapValues(\.self)) { $1 })
    }
    try committer.session.commit()
    for _ in 0..<steps { _ = try engine.compact() }
    try committer.put(at: "/users/p1/x")
    try committer.session.commit()
    let last = try committer.session.head(of: committer.ns).revision
    let all = (1...last.rawValue).map { Revision($0) }
    try Self.erase(.changes(of: all, below: [at("/users/p1")], order: last), committer)
    try Self.erase(.past(below: at("/users/p1"), through: last), committer)
    for _ in 0..<10_000 where try !engine.compact() { break }
    #expect(try Self.rows(of: "p1", in: engine, committer.ns) == 0)
    #expect(try Self.rows(of: "p2", in: engine, committer.ns) > 0)
    for revision in 0...300 {
      let found = try engine.read { snapshot throws in
        try snapshot.leaves(in: committer.ns, under: .root, asOf: Revision(Int64(revision)), limit: .max)
      }
      let left = states[revision].filter { !at("/users/p1").contains($0.key) }
      #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.leaf.path, $0.leaf.scalar) }) == left)
    }
  }

  @Test("A payload keeps its digest, says what was taken out, and is treated once for each erasure")
  func payload() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    try committer.put([at("/users/a/x"): 1, at("/users/b/x"): 2, at("/users/c/x"): 3])
    try committer.session.commit()
    let before = try #require(try engine.read { try $0.commit(in: committer.ns, at: Revision(1)) })
    for _ in 0..<2 {
      try Self.erase(.changes(of: [Revision(1)], below: [at("/users/a"), at("/users/z")], order: Revision(7)), committer)
    }
    try Self.erase(.changes(of: [Revision(1)], below: [at("/users/b")], order: Revision(9)), committer)
    let after = try #require(try engine.read { try $0.commit(in: committer.ns, at: Revision(1)) })
    #expect(after.changes?.map(\.path) == [at("/users/c/x")])
    #expect(after.erased.map(\.order) == [Revision(7), Revision(9)])
    #expect(after.erased.map(\.paths) == [[at("/users/a")], [at("/users/b")]])
    #expect(after.digest == before.digest && after.hash == before.hash)
    #expect(after.verify(after: nil))
    #expect(after.hasForgotten(at("/users/a/x")) && after.hasForgotten(at("/users")) && !after.hasForgotten(at("/users/c")))
  }

  @Test("What an erasure removes is not in the file any more, in no free piece of a page either")
  func overwritten() throws {
    let folder = TemporaryFolder()
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    let committer = try Committer(engine)
    let words = "the secret words of a player"
    try committer.put([at("/users/a/words"): .string(words), at("/users/b/words"): "others"])
    try committer.session.commit()
    for value in 0..<60 as Range<Int64> {
      try committer.put([at("/users/b/x"): .int(value)])
      try committer.session.commit()
    }
    var maintenance = Maintenance()
    maintenance.erasing = .rows
    try committer.put([at("/users/a/words"): nil])
    committer.session.put(maintenance, in: committer.ns)
    try committer.session.commit()
    let last = try committer.session.head(of: committer.ns).revision
    try Self.erase(
      .changes(of: [Revision(1), last], below: [at("/users/a")], order: last), committer)
    try Self.erase(.past(below: at("/users/a"), through: last), committer)
    engine.close()
    let store = folder.file("data/doubloon.db")
    #expect(try !DiskFiles.holds(words, store))
    #expect(try DiskFiles.holds("others", store))
  }
}

extension Committer {
  /// Removes a leaf.
  fileprivate func put(at text: String) throws { try put([StorageSQLiteTests.at(text): nil]) }
}
