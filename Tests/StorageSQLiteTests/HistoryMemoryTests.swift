import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// What the recent past takes in memory.
@Suite("The memory of the recent past")
struct HistoryMemoryTests {
  private static var options: SQLiteOptions {
    var options = tinyOptions
    options.history = HistoryLimits(
      generationChanges: 1000, generationBytes: 20_000, frozenBytes: 40_000, sliceRows: 2, blockChanges: 3, mergeRuns: 3,
      mergeRows: 5)
    return options
  }

  private static func text(_ number: Int) -> Scalar { .string(String(repeating: "\(number % 10)", count: 5000) + "\(number)") }

  private func held(_ engine: SQLiteEngine, _ ns: NamespaceID) throws -> Int {
    let recent = try engine.history.recent(ns, reading: try SQLiteConnection(path: engine.path))
    return recent.openBytes + recent.frozenBytes
  }

  /// What stood at `/big` at a revision.
  private static func big(_ snapshot: any Snapshot, _ ns: NamespaceID, _ revision: Int) throws -> Scalar? {
    try snapshot.leaves(in: ns, under: at("/big"), asOf: Revision(Int64(revision)), limit: 2).first?.leaf.scalar
  }

  @Test("Large values that are overwritten again and again fill no memory, and every one of them is still read as it was")
  func large() throws {
    let engine = try SQLiteEngine.inMemory(options: Self.options)
    defer { engine.close() }
    let committer = try Committer(engine)
    for number in 1...100 {
      try committer.put([at("/big"): Self.text(number)])
      try committer.session.commit()
      #expect(try held(engine, committer.ns) <= 20_000 + 40_000 + 20_000)
    }
    for _ in 0..<1000 where try !engine.compact() { break }
    try engine.read { snapshot throws in
      for revision in 1...100 {
        #expect(try Self.big(snapshot, committer.ns, revision) == Self.text(revision))
      }
    }
  }

  @Test("Many small changes that wait to be written do not keep the large ones behind them in memory")
  func mixed() throws {
    let engine = try SQLiteEngine.inMemory(options: Self.options)
    defer { engine.close() }
    let committer = try Committer(engine)
    for number in 0..<300 { try committer.put([at("/small/\(number)"): .int(Int64(number))]) }
    try committer.session.commit()
    for number in 1...60 {
      try committer.put([at("/big"): Self.text(number), at("/other"): Self.text(-number)])
      try committer.session.commit()
      #expect(try held(engine, committer.ns) <= 20_000 + 40_000 + 40_000)
    }
    try engine.read { snapshot throws in
      for number in 1...60 {
        #expect(try Self.big(snapshot, committer.ns, 300 + number) == Self.text(number))
      }
    }
  }

  @Test("A process that died with much in its log leaves the next one no more to hold")
  func afterCrash() throws {
    let folder = TemporaryFolder()
    do {
      let engine = try SQLiteEngine(directory: folder.path, options: Self.options)
      let committer = try Committer(engine)
      for number in 1...60 { try committer.put([at("/big"): Self.text(number)]) }
      try committer.session.commit()
      try folder.keepAsIfKilled(engine)
    }
    let engine = try SQLiteEngine(directory: folder.path, options: Self.options)
    defer { engine.close() }
    let committer = try Committer(engine)
    for number in 61...70 {
      try committer.put([at("/big"): Self.text(number)])
      try committer.session.commit()
    }
    #expect(try held(engine, committer.ns) <= 20_000 + 40_000 + 20_000)
    try engine.read { snapshot throws in
      for revision in 1...70 {
        #expect(try Self.big(snapshot, committer.ns, revision) == Self.text(revision))
      }
    }
  }
}
