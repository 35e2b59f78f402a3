import RewardModel
import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Hash chains")
struct HashTests {
  @Test("Commits verify one after the other, with or without their payload, and not when anything differs")
  func commits() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.put("/a", 2)
    try committer.session.commit()
    let records = try engine.read { try $0.commits(in: committer.ns, after: .zero, limit: 10) }
    let (first, second) = (records[0], records[1])
    #expect(first.verify(after: nil))
    #expect(second.verify(after: first))
    #expect(!second.verify(after: nil))
    #expect(forged(second, changes: nil).verify(after: first))
    #expect(!forged(second, changes: first.changes).verify(after: first))
    #expect(!forged(second, changes: second.changes, actor: .admin("eve")).verify(after: first))
  }

  private func forged(_ record: CommitRecord, changes: [LeafChange]?, actor: Actor = .anonymous) -> CommitRecord {
    CommitRecord(
      namespace: record.namespace, epoch: record.epoch, revision: record.revision, time: record.time, actor: actor,
      requestID: record.requestID, cause: record.cause, suppressesTriggers: record.suppressesTriggers, changes: changes,
      digest: record.digest, hash: record.hash)
  }

  @Test("An entry verifies after the one before, and not when a field differs")
  func entries() throws {
    func entry(_ sequence: Int64, _ key: String, _ previous: LedgerEntry?, hash: [UInt8]? = nil) -> LedgerEntry {
      let made = LedgerEntry(
        sequence: sequence, revision: 1, time: 2, transfer: transfer("bob", key: key), debitAfter: -50, creditAfter: 50,
        previousHash: previous?.hash ?? NamespaceHead.genesisHash)
      guard let hash else { return made }
      return LedgerEntry(
        sequence: sequence, revision: 1, time: 2, transfer: transfer("bob", key: key), debitAfter: -50, creditAfter: 50,
        previousHash: made.previousHash, hash: hash)
    }
    let first = entry(1, "a", nil)
    let second = entry(2, "b", first)
    #expect(first.verify(after: nil))
    #expect(second.verify(after: first))
    #expect(!second.verify(after: nil))
    #expect(!entry(2, "c", first, hash: second.hash).verify(after: first))
    // The border between two texts is part of what is hashed.
    #expect(entry(1, "ab", nil).hash != first.hash)
  }
}
