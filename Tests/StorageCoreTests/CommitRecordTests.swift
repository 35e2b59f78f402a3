import StorageCore
import Testing
import TreeModel

@Suite struct CommitRecordTests {
  /// The fields that a record's hash covers; a test changes one at a time.
  struct Fields {
    var previous = NamespaceHead.genesisHash
    var epoch: Int64 = 1
    var revision = Revision(1)
    var time: Int64 = 1000
    var actor = Actor.user(uid: "bob")
    var requestID: String? = "r"
    var cause: Cause? = Cause(
      event: EventID(epoch: 1, revision: Revision(1), path: PathBytes("/a")), function: "f", hop: 1)
    var suppressesTriggers = false
    var digest = CommitRecord.digest(of: [])

    var hash: [UInt8] {
      CommitRecord.chainHash(
        previous: previous, epoch: epoch, revision: revision, time: time, actor: actor, requestID: requestID, cause: cause,
        suppressesTriggers: suppressesTriggers, digest: digest)
    }
  }

  @Test("the hash of a commit covers every field")
  func coverage() {
    let changes: [(inout Fields) -> Void] = [
      { $0.previous[0] = 1 }, { $0.epoch = 2 }, { $0.revision = Revision(2) }, { $0.time = 1001 },
      { $0.actor = .user(uid: "eve") }, { $0.actor = .admin("bob") }, { $0.actor = .anonymous }, { $0.requestID = "s" },
      { $0.requestID = "" }, { $0.requestID = nil }, { $0.cause = nil }, { $0.suppressesTriggers = true },
      { $0.digest[31] ^= 1 },
      { $0.cause = Cause(event: EventID(epoch: 1, revision: Revision(1), path: PathBytes("/b")), function: "f", hop: 1) },
      { $0.cause = Cause(event: EventID(epoch: 1, revision: Revision(1), path: PathBytes("/a")), function: "g", hop: 1) },
      { $0.cause = Cause(event: EventID(epoch: 1, revision: Revision(1), path: PathBytes("/a")), function: "f", hop: 2) },
    ]
    let hashes = changes.map { change in
      var fields = Fields()
      change(&fields)
      return fields.hash
    }
    #expect(Set(hashes + [Fields().hash]).count == changes.count + 1)
    #expect(Fields().hash == Fields().hash)
  }

  @Test("the digest tells changes apart, and the places, values and order of their parts")
  func digest() {
    let change = LeafChange(path: PathBytes("/a"), before: 1, after: 2)
    let lists: [[LeafChange]] = [
      [], [change], [change, change], [LeafChange(path: PathBytes("/b"), before: 1, after: 2)],
      [LeafChange(path: PathBytes("/a"), before: 2, after: 1)], [LeafChange(path: PathBytes("/a"), before: nil, after: 2)],
      [LeafChange(path: PathBytes("/a"), before: 1, after: nil)], [LeafChange(path: PathBytes("/a"), before: 1, after: "2")],
      [LeafChange(path: PathBytes("/a").priority, before: 1, after: 2)],
    ]
    #expect(Set(lists.map { CommitRecord.digest(of: $0) }).count == lists.count)
  }

  @Test("time may stand still from commit to commit, and not go back")
  func time() {
    func record(_ time: Int64, after previous: CommitRecord?) -> CommitRecord {
      var fields = Fields(time: time)
      fields.revision = previous?.revision.next ?? Revision(1)
      fields.previous = previous?.hash ?? NamespaceHead.genesisHash
      return CommitRecord(
        namespace: NamespaceID(rawValue: 1), epoch: 1, revision: fields.revision, time: time, actor: fields.actor,
        requestID: fields.requestID, cause: fields.cause, suppressesTriggers: false, changes: [], digest: fields.digest,
        hash: fields.hash)
    }
    let first = record(1000, after: nil)
    #expect(first.verify(after: nil))
    #expect(record(1000, after: first).verify(after: first))
    #expect(record(1001, after: first).verify(after: first))
    #expect(!record(999, after: first).verify(after: first))
  }
}
