import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Rows of rules and indexes")
struct IndexRowTests {
  private static let parent = PathBytes("list")
  private static let first = IndexRecord(id: IndexID(rawValue: 1), pattern: "/list", order: "a")
  private static let rules = RulesRecord(source: "{\"rules\":{}}", updatedAt: 5, lastIndex: 1)

  private func entry(_ value: Scalar, _ key: String) -> IndexEntry {
    IndexEntry(IndexRank(value), Key(unchecked: key))
  }

  private func entries(_ engine: SQLiteEngine, _ ns: NamespaceID, isDescending: Bool = false, limit: Int = .max) throws
    -> [IndexEntry]
  {
    try engine.read { (snapshot) throws(StorageError) in
      try snapshot.indexEntries(
        in: ns, of: Self.first.id, below: Self.parent, from: IndexEntry(bytes: []),
        to: IndexEntry(bytes: PathBytes.afterAll.bytes),
        isDescending: isDescending, limit: limit)
    }
  }

  @Test("What is taken back is not written; what stays is, once")
  func rollback() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    let (session, ns) = (committer.session, committer.ns)
    session.put(Self.rules, in: ns)
    session.put(Self.first, in: ns)
    session.setIndexEntry(entry(1, "x"), isTaken: true, below: Self.parent, of: Self.first.id, in: ns)
    session.setIndexEntry(entry(2, "y"), isTaken: true, below: Self.parent, of: Self.first.id, in: ns)
    let mark = session.mark()
    var changed = Self.first
    changed.state = .ready
    session.put(changed, in: ns)
    session.put(IndexRecord(id: IndexID(rawValue: 2), pattern: "/", order: ".value"), in: ns)
    session.put(RulesRecord(source: "other", updatedAt: 6, lastIndex: 2), in: ns)
    session.setIndexEntry(entry(1, "x"), isTaken: false, below: Self.parent, of: Self.first.id, in: ns)
    session.setIndexEntry(entry(3, "z"), isTaken: true, below: Self.parent, of: Self.first.id, in: ns)
    session.removeIndexEntries(of: Self.first.id, in: ns, limit: 10)
    #expect(try session.indexes(in: ns).map(\.id.rawValue) == [1, 2])
    session.rollback(to: mark)
    #expect(try session.indexes(in: ns) == [Self.first])
    #expect(try session.rules(of: ns) == Self.rules)
    try session.commit()
    #expect(try entries(engine, ns) == [entry(1, "x"), entry(2, "y")])
    #expect(try entries(engine, ns, isDescending: true, limit: 1) == [entry(2, "y")])
    #expect(try engine.read { try $0.rules(of: ns) } == Self.rules)
    #expect(try engine.read { try $0.index(in: ns, id: Self.first.id) } == Self.first)

    // The same again changes nothing; a place may be taken twice, and given back that was not taken.
    session.setIndexEntry(entry(1, "x"), isTaken: true, below: Self.parent, of: Self.first.id, in: ns)
    session.setIndexEntry(entry(9, "q"), isTaken: false, below: Self.parent, of: Self.first.id, in: ns)
    try session.commit()
    #expect(try entries(engine, ns) == [entry(1, "x"), entry(2, "y")])
  }

  @Test("Places are removed so many at a time, an index by its number")
  func removal() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    let (session, ns) = (committer.session, committer.ns)
    session.put(Self.first, in: ns)
    for number in 0..<25 {
      session.setIndexEntry(entry(.int(Int64(number)), "k"), isTaken: true, below: Self.parent, of: Self.first.id, in: ns)
      session.setIndexEntry(
        entry(.int(Int64(number)), "k"), isTaken: true, below: Self.parent, of: IndexID(rawValue: 2), in: ns)
    }
    try session.commit()
    for left in [15, 5, 0] {
      #expect(try session.hasIndexEntries(of: Self.first.id, in: ns))
      session.removeIndexEntries(of: Self.first.id, in: ns, limit: 10)
      try session.commit()
      #expect(try entries(engine, ns).count == left)
    }
    #expect(try !session.hasIndexEntries(of: Self.first.id, in: ns))
    #expect(try session.hasIndexEntries(of: IndexID(rawValue: 2), in: ns))
    session.removeIndex(Self.first.id, in: ns)
    #expect(try session.indexes(in: ns).isEmpty)
    try session.commit()
    #expect(try engine.read { try $0.indexes(in: ns) }.isEmpty)
  }

  @Test("A namespace that is removed takes its rules and indexes with it")
  func namespaces() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    let (session, ns) = (committer.session, committer.ns)
    session.put(Self.rules, in: ns)
    session.put(Self.first, in: ns)
    session.setIndexEntry(entry(1, "x"), isTaken: true, below: Self.parent, of: Self.first.id, in: ns)
    try session.commit()
    session.remove(ns)
    #expect(try session.rules(of: ns) == nil)
    #expect(try session.indexes(in: ns).isEmpty)
    #expect(try !session.hasIndexEntries(of: Self.first.id, in: ns))
    // What comes behind in the same batch goes with it.
    session.setIndexEntry(entry(2, "y"), isTaken: true, below: Self.parent, of: Self.first.id, in: ns)
    try session.commit()
    #expect(try entries(engine, ns).isEmpty)
    #expect(try engine.read { try $0.rules(of: ns) } == nil)
  }
}
