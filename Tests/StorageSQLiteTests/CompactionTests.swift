import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// The past, merged: fewer runs, the same answers.
@Suite("Merging the past")
struct CompactionTests {
  private static func compact(_ engine: SQLiteEngine) throws {
    for _ in 0..<10_000 where try !engine.compact() { return }
    Issue.record("merging did not come to an end")
  }

  /// `count` commits of one leaf each, at random paths of a few, and what every state was.
  private func fill(_ committer: Committer, _ count: Int, seed: UInt64) throws -> [[PathBytes: Scalar]] {
    var random = SplitMix(seed: seed)
    var states: [[PathBytes: Scalar]] = [[:]]
    for value in 1...count {
      let path = PathBytes(try Path(parsing: "/users/p\(Int.random(in: 0..<9, using: &random))/level"))
      try committer.put([path: .int(Int64(value))])
      try committer.session.commit()
      states.append(states[states.count - 1].merging([path: .int(Int64(value))]) { $1 })
    }
    return states
  }

  @Test("Runs are merged until few are left; every revision reads as before, and no row is lost or doubled")
  func merging() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    let states = try fill(committer, 700, seed: 1)
    let inspector = try SQLiteConnection(path: engine.path)
    let rows = try inspector.texts("SELECT count(*) FROM history")
    let before = try inspector.historyRuns(committer.ns, after: 0).count
    #expect(before > 40)
    try Self.compact(engine)
    let runs = try inspector.historyRuns(committer.ns, after: 0)
    // At most two runs of each of the levels 0 to 3.
    #expect(runs.count <= 8)
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.last == $1.after })
    #expect(try inspector.texts("SELECT count(*) FROM history") == rows)
    #expect(try inspector.texts("SELECT DISTINCT state FROM history_run") == ["whole"])
    try engine.read { snapshot throws in
      for revision in stride(from: 0, through: 700, by: 7) {
        let found = try snapshot.leaves(in: committer.ns, under: .root, asOf: Revision(Int64(revision)), limit: .max)
        #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.leaf.path, $0.leaf.scalar) }) == states[revision])
      }
    }
  }

  @Test("A leaf that changed very often is found without walking through its past")
  func counter() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    for value in 1...600 as ClosedRange<Int64> {
      try committer.put([PathBytes("/counter"): .int(value), PathBytes("/counter2"): .int(-value)])
      if value % 5 == 0 { try committer.session.commit() }
    }
    try Self.compact(engine)
    try engine.read { snapshot throws in
      for revision in stride(from: 1, through: 600, by: 13) as StrideThrough<Int64> {
        let found = try snapshot.leaves(in: committer.ns, under: .root, asOf: Revision(revision), limit: 9)
        #expect(found.map(\.leaf.scalar) == [.int(revision), .int(-revision)])
      }
    }
  }

  @Test("A namespace that is forgotten while its past is being merged leaves nothing behind")
  func forgotten() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    _ = try fill(committer, 200, seed: 2)
    for _ in 0..<3 { #expect(try engine.compact()) }
    committer.session.remove(committer.ns)
    try committer.session.commit()
    try Self.compact(engine)
    let inspector = try SQLiteConnection(path: engine.path)
    #expect(try inspector.texts("SELECT count(*) FROM history") == ["0"])
    #expect(try inspector.texts("SELECT count(*) FROM history_run") == ["0"])
  }

  @Test("Runs that were pruned are removed; what is left reads as before")
  func pruned() throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    let states = try fill(committer, 200, seed: 3)
    let inspector = try SQLiteConnection(path: engine.path)
    try inspector.execute("UPDATE namespace SET pruned_revision = 100")
    try Self.compact(engine)
    #expect(try inspector.texts("SELECT count(*) FROM history_run WHERE last_revision <= 100") == ["0"])
    try engine.read { snapshot throws in
      let found = try snapshot.leaves(in: committer.ns, under: .root, asOf: Revision(100), limit: .max)
      #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.leaf.path, $0.leaf.scalar) }) == states[100])
      let touches = try snapshot.touches(in: committer.ns, under: .root, before: nil, limit: 500)
      #expect(touches.isComplete && touches.prunedThrough == Revision(100) && touches.revisions.count == 100)
    }
  }
}
