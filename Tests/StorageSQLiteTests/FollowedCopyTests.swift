import StorageCore
import StorageTestSupport
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import StorageSQLite

/// Something that has happened.
private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)

  var isSet: Bool { value.load(ordering: .relaxed) }

  func set() { value.store(true, ordering: .relaxed) }
}

/// What is seen of a working copy while it follows.
@Suite struct FollowedCopyTests {
  private static func value(_ copy: FollowedCopy, _ namespace: NamespaceID) throws -> Scalar? {
    try copy.read { snapshot in try snapshot.leaf(in: namespace, at: at("/a"))?.leaf.scalar }
  }

  /// A store with one value, which one node has written and another may take in.
  private static func begin() throws -> (store: JournaledStore, engine: SQLiteEngine, committer: Committer) {
    let store = try JournaledStore()
    for node in ["a", "b"] { try store.install(node) }
    let engine = try store.lead("a")
    let committer = try Committer(engine)
    try committer.put([at("/a"): .int(1)])
    try committer.session.commit()
    return (store, engine, committer)
  }

  @Test("A copy is seen as it is after each batch, and who takes it in is told of the tables before that")
  func follows() throws {
    let (store, engine, committer) = try Self.begin()
    let copy = try WorkingCopy(in: store.path("b"))
    let readers = try CopyReaders(in: store.path("b"))
    let seen = FollowedCopy(readers)
    #expect(try Self.value(seen, committer.ns) == nil)
    var told: [Set<String>] = []
    for batch in store.journal.batches {
      try copy.apply([batch]) { tables in
        told.append(tables)
        #expect((try? Self.value(seen, committer.ns)) == .some(nil))
      }
    }
    #expect(try Self.value(seen, committer.ns) == .int(1))
    #expect(told.contains { $0.contains("node") && $0.contains("commit_log") })
    copy.close()
    readers.close()
    engine.close()
  }

  @Test("What was looked at across a retirement is not shown, though the look began before")
  func retires() throws {
    let (store, engine, committer) = try Self.begin()
    engine.close()
    try store.follow("b")
    let readers = try CopyReaders(in: store.path("b"))
    let seen = FollowedCopy(readers)
    var looks = 0
    #expect(throws: StorageError.self) {
      try seen.read { snapshot throws(StorageError) in
        looks += 1
        _ = try snapshot.leaf(in: committer.ns, at: at("/a"))
        seen.retire()
      }
    }
    #expect(looks == 2, "once for the answer, once for the refusal")
    #expect(try Self.value(FollowedCopy(readers), committer.ns) == .int(1), "the next view")
    readers.close()
  }

  @Test("It refuses what would write")
  func refuses() throws {
    let store = try JournaledStore()
    try store.install("b")
    let readers = try CopyReaders(in: store.path("b"))
    let seen = FollowedCopy(readers)
    for body in [{ _ = try seen.makeWriteSession() }, { try seen.backup(to: store.path("c")) }, { _ = try seen.check() }] {
      let error = #expect(throws: StorageError.self) { try body() }
      #expect(error?.code == .lost)
    }
    readers.close()
    #expect(throws: StorageError.self) { try CopyReaders(in: store.path("nowhere")) }
  }

  @Test("The log begins at its start again while somebody always looks")
  func restarts() throws {
    let (store, engine, committer) = try Self.begin()
    let copy = try WorkingCopy(in: store.path("b"))
    let readers = try CopyReaders(in: store.path("b"))
    let (isOver, looks, ns) = (Flag(), Flag(), committer.ns)
    let lookers = (0..<2).map { _ in
      BlockingThread {
        while !isOver.isSet {
          try? FollowedCopy(readers).read { snapshot in
            for _ in 0..<20 { _ = try snapshot.leaves(in: ns, under: at("/"), limit: 10) }
            looks.set()
          }
        }
      }
    }
    let text = Scalar.string(String(repeating: "x", count: 1 << 20))
    for round in 0..<64 {
      try committer.put([at("/a\(round % 3)"): text])
      try committer.session.commit()
      try copy.apply(Array(store.journal.batches.dropFirst(Int(copy.position.batch))))
    }
    isOver.set()
    for looker in lookers { looker.join() }
    #expect(looks.isSet)
    let bytes = try #require(FileCalls.size(store.path("b") + "/doubloon.db-wal"))
    #expect(bytes < 48 << 20, "\(bytes >> 20) MB of log, after more than 128 MB of changes")
    copy.close()
    readers.close()
    engine.close()
  }
}
