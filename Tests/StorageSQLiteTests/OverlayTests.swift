import RewardModel
import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("A batch over the file")
struct OverlayTests {
  /// Paths at three depths that share keys, with priorities and the root.
  static let paths: [PathBytes] = {
    var paths: [PathBytes] = [.root]
    let keys = ["a", "b", "1", "02", "é"].map { Key(unchecked: $0) }
    for x in keys {
      let one = PathBytes.root.child(x)
      paths += [one, one.priority]
      for y in keys { paths += [one.child(y), one.child(y).child(x)] }
    }
    return paths.sorted()
  }()

  @Test("Reads equal a naive model under random puts, removals, rollbacks and commits", arguments: [1, 2, 3, 4] as [UInt64])
  func model(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let session = try engine.makeWriteSession()
    let ns = try session.namespace(named: "game", creatingAt: 1)!
    var model: [PathBytes: StoredLeaf] = [:]
    var marks: [(mark: WriteMark, model: [PathBytes: StoredLeaf])] = []
    for step in 1...3000 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<11:
        let path = Self.paths.randomElement(using: &random)!
        let scalar: Scalar? = Int.random(in: 0..<3, using: &random) == 0 ? nil : .int(Int64(step))
        session.setLeaf(scalar, at: path, revision: Revision(Int64(step)), in: ns)
        model[path] = scalar.map { StoredLeaf(leaf: Leaf(path: path, scalar: $0), revision: Revision(Int64(step))) }
      case 11, 12: marks.append((session.mark(), model))
      case 13, 14:
        guard let index = marks.indices.randomElement(using: &random) else { continue }
        session.rollback(to: marks[index].mark)
        model = marks[index].model
        marks.removeSubrange((index + 1)...)
      case 15:
        if Int.random(in: 0..<8, using: &random) == 0 {
          try session.commit()
          marks = []
          try engine.read { snapshot throws in try check(snapshot, ns, model, .root, .max) }
        }
      default:
        let path = Self.paths.randomElement(using: &random)!
        try check(session, ns, model, path, Int.random(in: 1..<30, using: &random))
      }
    }
  }

  private func check(
    _ reading: any StorageReading, _ ns: NamespaceID, _ model: [PathBytes: StoredLeaf], _ path: PathBytes, _ limit: Int
  ) throws {
    let sorted = model.values.sorted { $0.leaf.path < $1.leaf.path }
    let expected = sorted.filter { path.contains($0.leaf.path) }.prefix(limit)
    #expect(try reading.leaves(in: ns, under: path, limit: limit) == Array(expected))
    #expect(try reading.leaf(in: ns, at: path) == model[path])
    #expect(try reading.lastPath(in: ns, before: path) == sorted.last { $0.leaf.path < path }?.leaf.path)
  }

  @Test("A look at a node steps over nothing that the batch removed behind it")
  func stepsBehindRemovals() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    let session = try #require(committer.session as? SQLiteWriteSession)
    let paths = (0..<200).map { PathBytes(Path(keys: [Key(unchecked: "list"), Key(unchecked: "k\($0 + 100)")])) }
    try committer.put(Dictionary(uniqueKeysWithValues: paths.map { ($0, 1) }))
    try session.commit()
    try committer.put(Dictionary(uniqueKeysWithValues: paths.map { ($0, nil) }))
    let rows = try RowCount(session.db)
    for path in paths { #expect(try session.leaves(in: committer.ns, under: path, limit: 9).isEmpty) }
    #expect(rows.count <= paths.count)
  }

  @Test("A batch counts the places that it holds, those that were taken back too, and forgets them with its end")
  func pendingLeaves() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    let session = committer.session
    try session.commit()
    let mark = session.mark()
    for path in ["/a", "/b", "/a"] as [Path] { try committer.put(path, .int(Int64(session.pendingLeaves))) }
    #expect(session.pendingLeaves == 2)
    session.rollback(to: mark)
    #expect(session.pendingLeaves == 2)
    #expect(try session.leaves(in: committer.ns, under: .root, limit: 9).isEmpty)
    // Nothing is left to write; what was refused is forgotten nevertheless.
    try session.write()
    #expect(session.pendingLeaves == 0)
    try committer.put("/a", 1)
    try session.commit()
    #expect(session.pendingLeaves == 0)
    #expect(try session.value(in: committer.ns, "/a") == 1)
  }

  @Test("A rollback takes back every kind of row, and what was there before counts again")
  func rollbackOfEverything() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    let session = committer.session
    let records = Records(ns: committer.ns)
    try committer.put("/a", 1)
    try records.putAll(into: committer, round: 1)
    try session.commit()
    let before = try records.readAll(session)
    let head = try session.head(of: committer.ns)

    let mark = session.mark()
    try committer.put("/a", 2)
    try records.putAll(into: committer, round: 2)
    session.removeIdempotency(expiredAt: .max)
    session.setSettledRevision(Revision(99), of: committer.ns)
    #expect(try records.readAll(session) != before)
    session.remove(committer.ns)
    #expect(try session.value(in: committer.ns, "/a") == nil)
    #expect(try session.namespace(named: "game", creatingAt: nil) == nil)
    session.rollback(to: mark)
    #expect(try records.readAll(session) == before)
    #expect(try session.head(of: committer.ns) == head)
    #expect(try session.value(in: committer.ns, "/a") == 1)
    #expect(try session.namespace(named: "game", creatingAt: nil) == committer.ns)

    try session.commit()
    #expect(try engine.read { try records.readAll($0) } == before)
    #expect(try engine.read { try $0.settledRevision(of: committer.ns) } == .zero)
  }

  @Test("Keys that Unicode would merge stay apart")
  func exactTexts() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    try committer.post(transfer("x", key: "é"))
    #expect(try committer.session.entry(in: committer.ns, key: BusinessKey("e\u{301}")) == nil)
    try committer.post(transfer("x", key: "e\u{301}"))
    try committer.session.commit()
    #expect(try committer.session.entry(in: committer.ns, key: BusinessKey("é"))?.sequence == 1)
    #expect(try committer.session.entry(in: committer.ns, key: BusinessKey("e\u{301}"))?.sequence == 2)
  }
}
