import StorageCore
import StorageTestSupport
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import StorageSQLite

/// What a node writes in a term is what every copy holds that takes in the journal's batches.
@Suite("Working copies of a journal")
struct WorkingCopyTests {
  private static let lengths = [3, 100, 1001, 1500, 9000]

  /// Random commits with values of all lengths, merges, prunings and removed namespaces.
  private struct Play {
    var random: SplitMix64
    var serial: Int64 = 0
    var round = 0

    mutating func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func value() -> Scalar? {
      serial += 1
      switch draw(0..<5) {
      case 0: return nil
      case 1: return .int(serial)
      default: return text(storedBytes: lengths[draw(0..<lengths.count)], ["a", "b", "c"][Int(serial % 3)])
      }
    }

    mutating func step(_ committer: Committer, of engine: SQLiteEngine) throws {
      var batch: [PathBytes: Scalar?] = [:]
      for _ in 0...draw(0..<3) { batch.updateValue(value(), forKey: at("/users/p\(draw(0..<7))/x")) }
      try committer.put(batch)
      if draw(0..<3) == 0 { try committer.post(transfer("bob\(serial)", key: "play/bob\(serial)")) }
      if draw(0..<8) == 0 {
        round += 1
        try Records(ns: committer.ns).putAll(into: committer, round: round)
      }
      if draw(0..<2) == 0 { try committer.session.commit() }
      if draw(0..<4) == 0 { for _ in 0..<draw(0..<6) { _ = try engine.compact() } }
      if draw(0..<40) == 0 {
        try committer.session.commit()
        let last = try committer.session.head(of: committer.ns).revision
        try committer.prune(through: Revision(last.rawValue - 1), of: engine)
      }
      if draw(0..<50) == 0 {
        let other = try #require(try committer.session.namespace(named: "other", creatingAt: 1))
        committer.session.setLeaf(1, at: at("/a"), revision: Revision(1), in: other)
        try committer.session.commit()
        committer.session.remove(other)
        try committer.session.commit()
      }
    }
  }

  @Test("A copy that follows has every row that the leading one has, term after term", arguments: 1...6)
  func equal(seed: Int) throws {
    let store = try JournaledStore()
    for node in ["a", "b", "c"] { try store.install(node) }
    var play = Play(random: SplitMix64(seed: UInt64(seed)))
    for term in 0..<4 {
      let (leading, other) = term % 2 == 0 ? ("a", "b") : ("b", "a")
      try store.follow(leading)
      let engine = try store.lead(leading)
      let committer = try Committer(engine)
      for _ in 0..<40 { try play.step(committer, of: engine) }
      try committer.session.commit()
      engine.close()
      let expected = try store.contents(leading)
      for node in [other, "c"] {
        try store.follow(node)
        let found = try store.contents(node)
        #expect(found == expected, "term \(term), \(node)")
      }
      #expect(
        expected.contains { $0.hasPrefix("history_run: ") } && !expected.contains { $0.contains("is not what was written") })
    }
    #expect(Set(store.journal.batches.map(\.position.fence)) == [1, 2, 3, 4])
  }

  @Test("The journal is told each entry and each execution, with every column")
  func guarded() throws {
    let store = try JournaledStore()
    try store.install("a")
    let engine = try store.lead("a")
    defer { engine.close() }
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.post(transfer("bob", key: "signup/bob"))
    try Records(ns: committer.ns).putAll(into: committer, round: 1)
    try committer.session.commit()
    let rows = try #require(store.journal.batches.last).guarded
    let entries = rows.filter { $0.table == "ledger_entry" }
    #expect(entries.map(\.operation).allSatisfy { $0 == .inserted } && entries.allSatisfy { $0.values.count == 21 })
    #expect(entries.contains { $0.values["business_key"] == .text("signup/bob") && $0.values["amount"] == .integer(50) })
    #expect(rows.contains { $0.table == "execution" && $0.values["outcome"] == .text("skipped") })
    committer.session.remove(committer.ns)
    try committer.session.commit()
    let removed = try #require(store.journal.batches.last).guarded
    #expect(removed.map(\.operation).allSatisfy { $0 == .removed })
    #expect(removed.contains { $0.table == "ledger_entry" && $0.key["sequence"] == .integer(1) })
  }

  @Test("Nothing is shown before the journal has it, and nothing after the term is lost")
  func lost() throws {
    let store = try JournaledStore()
    try store.install("a")
    let engine = try store.lead("a")
    defer { engine.close() }
    let committer = try Committer(engine)
    let ns = committer.ns
    try committer.put("/a", 1)
    try committer.session.commit()
    #expect(try engine.read { try $0.value(in: ns, "/a") } == 1)
    try committer.put("/a", 2)
    try committer.session.write()
    let answer = Mutex<Result<Scalar?, any Error>?>(nil)
    let reader = BlockingThread {
      let found = Result { try engine.read { snapshot throws in try snapshot.value(in: ns, "/a") } }
      answer.withLock { $0 = found }
    }
    let ahead = try engine.readAhead { snapshot throws in try snapshot.value(in: ns, "/a") }
    let isDurable = Mutex<[Bool]>([])
    engine.whenDurable(ahead.position) { durable in isDurable.withLock { $0.append(durable) } }
    store.journal.lose()
    #expect(throws: StorageError.self) { try committer.session.flush() }
    engine.whenDurable(ahead.position) { durable in isDurable.withLock { $0.append(durable) } }
    #expect(ahead.result == 2 && isDurable.withLock(\.self) == [false, false], "who looked ahead is told that it never was")
    reader.join()
    let told = try #require(answer.withLock { $0 })
    #expect(throws: StorageError.self) { try told.get() }
    #expect(throws: StorageError.self) { try engine.read { snapshot throws in try snapshot.value(in: ns, "/a") } }
    #expect(throws: StorageError.self) { try committer.session.commit() }
  }

  @Test("A batch that does not fit is refused whole")
  func misfits() throws {
    let store = try JournaledStore()
    for node in ["a", "b"] { try store.install(node) }
    let engine = try store.lead("a")
    let committer = try Committer(engine)
    for value in 1...3 {
      try committer.put("/a", .int(Int64(value)))
      try committer.session.commit()
    }
    engine.close()
    let batches = store.journal.batches
    let copy = try WorkingCopy(in: store.path("b"))
    #expect(throws: StorageError.self) { try copy.apply([batches[1]]) }
    // One of no changes, and one that says to be another.
    let others = [
      JournalBatch(position: batches[1].position, changes: [], guarded: []),
      JournalBatch(position: batches[1].position, changes: batches[2].changes, guarded: []),
    ]
    for other in others {
      #expect(throws: StorageError.self) { try copy.apply([batches[0], other]) }
      #expect(copy.position == JournalPosition(batch: 0, fence: 0))
    }
    // Where it is not the last, the position of the one behind it would be right.
    let gap = JournalBatch(position: batches[0].position, changes: [], guarded: [])
    #expect(throws: StorageError.self) { try copy.apply([gap, batches[1], batches[2]]) }
    #expect(copy.position == JournalPosition(batch: 0, fence: 0))
    try copy.apply(batches)
    #expect(copy.position == batches.last?.position)
    copy.close()
    let (a, b) = (try store.contents("a"), try store.contents("b"))
    #expect(a == b)
  }

  @Test(
    "A copy that cannot take in what the journal has ends the term: nothing more is written on it", arguments: [true, false])
  func behind(isMerge: Bool) throws {
    let store = try JournaledStore()
    try store.install("a")
    let file = try SQLiteConnection(path: store.path("a") + "/doubloon.db")
    try file.execute("CREATE TABLE whole (id INTEGER PRIMARY KEY)")
    try file.execute("CREATE TABLE part (id INTEGER PRIMARY KEY REFERENCES whole DEFERRABLE INITIALLY DEFERRED)")
    file.close()
    let engine = try store.lead("a")
    defer { engine.close() }
    let writer = engine.writer
    // Looked at when the transaction is committed, and not before.
    try writer.execute("PRAGMA foreign_keys = ON")
    let before = store.journal.batches.count
    #expect(throws: StorageError.self) {
      if isMerge {
        defer { try? writer.execute("ROLLBACK") }
        _ = try writer.briefly { () throws(StorageError) in try writer.execute("INSERT INTO part VALUES (1)") }
      } else {
        try writer.inTransaction { () throws(StorageError) in try writer.execute("INSERT INTO part VALUES (1)") }
      }
    }
    #expect(store.journal.batches.count == before + 1, "the journal has it")
    #expect(!store.journal.isCurrent, "so the term is over")
    #expect(try writer.texts("SELECT id FROM part").isEmpty)
    #expect(throws: StorageError.self) {
      try writer.inTransaction { () throws(StorageError) in try writer.execute("INSERT INTO whole VALUES (1)") }
    }
  }

  /// What the journal is told of a guarded table is what became of each row, however often it was touched on the way.
  @Test("The changes of one row in a transaction are told as one")
  func coalesced() throws {
    func row(_ operation: JournalRow.Operation, _ values: [String: JournalRow.Value] = [:], id: Int64 = 1) -> JournalRow {
      let key = ["id": JournalRow.Value.integer(id)]
      return JournalRow(
        table: "t", operation: operation, key: operation == .inserted ? [:] : key,
        values: operation == .inserted ? values.merging(key) { $1 } : values)
    }
    func result(_ changes: JournalRow...) -> [JournalRow] {
      var all = GuardedChanges()
      for change in changes { all.add(change, keyColumns: ["id"]) }
      return all.rows
    }
    #expect(result(row(.inserted, ["a": .null]), row(.updated, ["a": .integer(2)])) == [row(.inserted, ["a": .integer(2)])])
    #expect(result(row(.inserted), row(.removed)).isEmpty)
    #expect(result(row(.inserted), row(.removed), row(.inserted, ["a": .null])) == [row(.inserted, ["a": .null])])
    #expect(
      result(row(.updated, ["a": .integer(1)]), row(.updated, ["b": .null]))
        == [row(.updated, ["a": .integer(1), "b": .null])])
    #expect(result(row(.updated, ["a": .null]), row(.removed)) == [row(.removed)])
    #expect(result(row(.removed), row(.inserted, ["a": .null])) == [row(.removed), row(.inserted, ["a": .null])])
    #expect(
      result(row(.removed), row(.inserted, ["a": .null]), row(.updated, ["a": .integer(3)]), row(.inserted, id: 2))
        == [row(.removed), row(.inserted, ["a": .integer(3)]), row(.inserted, id: 2)])
    #expect(result(row(.removed), row(.inserted), row(.removed)) == [row(.removed)])
  }

  @Test("What a journal could not follow is refused: nothing of it is written, and the term goes on")
  func unknownTable() throws {
    let store = try JournaledStore()
    try store.install("a")
    let engine = try store.lead("a")
    defer { engine.close() }
    let writer = engine.writer
    try writer.execute("CREATE TABLE later (id INTEGER PRIMARY KEY)")
    let before = store.journal.batches.count
    #expect(throws: StorageError.self) {
      try writer.inTransaction { () throws(StorageError) in try writer.execute("INSERT INTO later VALUES (1)") }
    }
    #expect(try store.journal.batches.count == before && writer.texts("SELECT id FROM later").isEmpty)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    #expect(store.journal.batches.count > before)
  }

  @Test("A row of nothing but its key, removed and put again, is taken in with the batches around it")
  func keysAlone() throws {
    let store = try JournaledStore()
    for node in ["a", "b"] { try store.install(node) }
    let engine = try store.lead("a")
    let writer = engine.writer
    func execute(_ statement: String) throws {
      try writer.inTransaction { () throws(StorageError) in try writer.execute(statement) }
    }
    try execute("INSERT INTO index_place VALUES (1, 1, x'01', x'02')")
    try store.follow("b")
    try execute("DELETE FROM index_place")
    try execute("INSERT OR REPLACE INTO meta VALUES ('between', 1)")
    try execute("INSERT INTO index_place VALUES (1, 1, x'01', x'02')")
    engine.close()
    try store.follow("b")
    let (a, b) = (try store.contents("a"), try store.contents("b"))
    #expect(a == b && a.contains { $0.hasPrefix("index_place: ") })
  }

  @Test("A working copy is opened by a term alone, and a store of its own is never taken for one")
  func misplaced() throws {
    let store = try JournaledStore()
    try store.install("a")
    #expect(throws: StorageError.self) { try SQLiteEngine(directory: store.path("a")) }
    let own = store.folder.file("own")
    try SQLiteEngine(directory: own).close()
    #expect(throws: StorageError.self) { try SQLiteEngine(workingCopy: own, journal: store.journal, fence: 1) }
    #expect(throws: StorageError.self) { try WorkingCopy(in: own) }
    try SQLiteEngine(directory: own).close()
    try store.lead("a").close()
  }
}
