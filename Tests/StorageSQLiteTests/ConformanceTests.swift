import RewardModel
import StorageCore
import StorageTestSupport
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("What a store remembers", .onEveryJournal)
struct ConformanceTests {
  let engine: SQLiteEngine
  let committer: Committer
  let records: Records
  var session: any WriteSession { committer.session }
  var ns: NamespaceID { committer.ns }

  init() throws {
    engine = try TestStore.open()
    committer = try Committer(engine)
    records = Records(ns: committer.ns)
  }

  @Test("The writer sees its batch at once, a snapshot only what was committed")
  func visibility() throws {
    try committer.put("/a", 1)
    try committer.put("/b", 1)
    try records.putAll(into: committer, round: 1)
    let pending = try records.readAll(session)
    #expect(try engine.read { try records.readAll($0) } != pending)
    #expect(try engine.read { try $0.namespaces() }.isEmpty)
    try session.commit()
    #expect(try engine.read { try records.readAll($0) } == pending)
    #expect(try records.readAll(session) == pending)
    #expect(try engine.read { try $0.namespaces() } == [NamespaceRecord(id: ns, name: "game", createdAt: 1)])
    #expect(try engine.read { try $0.head(of: ns) } == session.head(of: ns))
    #expect(engine.epoch == 1 && session.epoch == 1)
  }

  @Test("Namespaces never see each other, and the number of a removed one is not given again")
  func namespaces() throws {
    try committer.put("/a", 1)
    try records.putAll(into: committer, round: 1)
    let other = try #require(try session.namespace(named: "other", creatingAt: 2))
    #expect(try session.namespace(named: "nobody", creatingAt: nil) == nil)
    try session.commit()
    #expect(try session.leaves(in: other, under: .root, limit: 9).isEmpty)
    #expect(try session.entry(in: other, key: BusinessKey("signup/bob1")) == nil)
    #expect(try session.head(of: other) == NamespaceHead())
    session.remove(ns)
    let again = try #require(try session.namespace(named: "game", creatingAt: 3))
    try session.commit()
    #expect(again != ns && again != other)
    #expect(try engine.read { try $0.namespaces() }.map(\.id) == [other, again])
    #expect(try engine.read { try records.readAll($0) }.allSatisfy { $0 == "nil" })
    #expect(try engine.read { try $0.leaves(in: ns, under: .root, limit: 9) }.isEmpty)
  }

  @Test("Children are listed by name in key order, page by page, without what lies below")
  func children() throws {
    for path in ["/m/10/x", "/m/9", "/m/b/c/d", "/m/a", "/m/b/e", "/n"] as [Path] { try committer.put(path, 1) }
    try committer.put([PathBytes("/m").priority: 3])
    try session.commit()
    try engine.read { snapshot throws in
      let all = try snapshot.children(in: ns, of: PathBytes("/m"), after: nil, limit: 9)
      #expect(all.map(\.text) == ["9", "10", "a", "b"])
      let page = try snapshot.children(in: ns, of: PathBytes("/m"), after: Key(unchecked: "9"), limit: 2)
      #expect(page.map(\.text) == ["10", "a"])
      #expect(try snapshot.children(in: ns, of: .root, after: nil, limit: 9).map(\.text) == ["m", "n"])
      #expect(try snapshot.children(in: ns, of: PathBytes("/n"), after: nil, limit: 9).isEmpty)
    }
  }

  @Test("Events are paged in both directions, from a position or from the ends")
  func events() throws {
    var all: [EventRecord] = []
    for revision in 1...4 as ClosedRange<Int64> {
      for path in ["/", "/a", "/b"] as [Path] {
        let id = EventID(epoch: 1, revision: Revision(revision), path: PathBytes(path))
        all.append(EventRecord(namespace: ns, id: id, kind: .updated, hop: 2))
      }
    }
    for event in all { session.append(event) }
    try session.commit()
    try engine.read { snapshot throws in
      #expect(try snapshot.events(in: ns, after: nil, limit: 99) == all)
      #expect(try snapshot.events(in: ns, before: nil, limit: 99) == all.reversed())
      let beforeThree = EventPosition(revision: Revision(3), path: nil)
      #expect(try snapshot.events(in: ns, after: beforeThree, limit: 2) == Array(all[6...7]))
      #expect(try snapshot.events(in: ns, before: beforeThree, limit: 2) == [all[5], all[4]])
      let atRoot = EventPosition(revision: Revision(3), path: .root)
      #expect(try snapshot.events(in: ns, after: atRoot, limit: 1) == [all[7]])
      #expect(try snapshot.events(in: ns, before: atRoot, limit: 1) == [all[5]])
      #expect(try snapshot.event(in: ns, id: all[4].id) == all[4])
      let elsewhere = EventID(epoch: 2, revision: Revision(2), path: PathBytes("/a"))
      #expect(try snapshot.event(in: ns, id: elsewhere) == nil)
    }
  }

  @Test("Executions and deliveries are found by event, deliveries by state, page by page")
  func functions() throws {
    for function in ["b", "a"] {
      session.put(records.execution(function), in: ns)
      session.put(records.delivery(1, function + "1"), in: ns)
      session.put(records.delivery(1, function + "2", .dead), in: ns)
    }
    try session.commit()
    session.put(records.delivery(2, "b1", .dead), in: ns)
    session.removeDelivery(of: records.event, to: "a2", in: ns)
    try session.commit()
    try engine.read { snapshot throws in
      #expect(try snapshot.executions(in: ns, of: records.event).map(\.function) == ["a", "b"])
      #expect(try snapshot.executions(in: ns, of: records.event).first == records.execution("a"))
      #expect(try snapshot.deliveries(in: ns, of: records.event).map(\.function) == ["a1", "b1", "b2"])
      let dead = try snapshot.deliveries(in: ns, state: .dead, after: nil, limit: 1)
      #expect(dead == [records.delivery(2, "b1", .dead)])
      #expect(try snapshot.deliveries(in: ns, state: .dead, after: dead[0], limit: 9).map(\.function) == ["b2"])
      #expect(try snapshot.deliveries(in: ns, state: .paused, after: nil, limit: 9).isEmpty)
    }
  }

  @Test("Entries are found by sequence, key, reversal and account; ledger balances are listed")
  func ledger() throws {
    let first = try committer.post(transfer("bob", key: "one"))
    let second = try committer.post(transfer("eve", key: "two"))
    try session.commit()
    let third = try committer.post(transfer("bob", key: "three", reverses: 1))
    session.setBalance(-150, of: records.account, unit: "pieces_of_eight", in: ns)
    try session.commit()
    try engine.read { snapshot throws in
      #expect(try snapshot.entries(in: ns, after: 0, limit: 9) == [first, second, third])
      #expect(try snapshot.entries(in: ns, after: 1, limit: 1) == [second])
      let bob = LedgerAccount("user:bob")
      #expect(try snapshot.entries(in: ns, account: bob, before: nil, limit: 9) == [third, first])
      #expect(try snapshot.entries(in: ns, account: bob, before: 3, limit: 9) == [first])
      #expect(try snapshot.entries(in: ns, account: records.account, before: nil, limit: 2) == [third, second])
      #expect(try snapshot.reversal(in: ns, of: 1) == third)
      #expect(try snapshot.reversal(in: ns, of: 2) == nil)
      let balance = AccountBalance(account: records.account, unit: "pieces_of_eight", balance: -150)
      #expect(try snapshot.balances(in: ns) == [balance])
    }
  }

  @Test("The outbox is listed by state, answers expire, functions and audits are kept")
  func rest() throws {
    for key in ["b", "a", "c"] { session.put(records.outbox(1, key), in: ns) }
    session.put(records.outbox(2, "b", .delivered), in: ns)
    session.put(records.answer(1, "old", expiresAt: 10), in: ns)
    session.put(records.answer(1, "young", expiresAt: 11), in: ns)
    let function = FunctionRecord(
      name: "reward", pattern: "/users/{uid}", kinds: "onCreate,onUpdate", since: [ns: Revision(4)], isPaused: true,
      pauseReason: "hung", updatedAt: 3)
    session.put(function)
    let audits = (1...3).map {
      AuditRecord(time: $0, actor: .admin("ann"), action: "ledger.reverse", detail: "{}", result: "ok")
    }
    for audit in audits { session.append(audit) }
    try session.commit()
    session.removeIdempotency(expiredAt: 10)
    #expect(try session.idempotency(in: ns, key: "old") == nil)
    session.setSettledRevision(Revision(12), of: ns)
    try session.commit()
    try engine.read { snapshot throws in
      #expect(try snapshot.outbox(in: ns, state: .waiting, after: nil, limit: 9).map(\.key) == ["a", "c"])
      #expect(try snapshot.outbox(in: ns, state: .waiting, after: "a", limit: 9).map(\.key) == ["c"])
      #expect(try snapshot.outbox(in: ns, key: "b") == records.outbox(2, "b", .delivered))
      #expect(try snapshot.idempotency(in: ns, key: "old") == nil)
      #expect(try snapshot.idempotency(in: ns, key: "young") == records.answer(1, "young", expiresAt: 11))
      #expect(try snapshot.functions() == [function])
      #expect(try snapshot.audits(before: nil, limit: 2).map(\.record) == [audits[2], audits[1]])
      #expect(try snapshot.settledRevision(of: ns) == Revision(12))
    }
  }

  @Test("Commits are read one by one or in a row, with everything that they hold")
  func commits() throws {
    let cause = Cause(event: records.event, function: "reward", hop: 3)
    let changes = [LeafChange(path: PathBytes("/é/1"), before: nil, after: 0.5)]
    let record = CommitRecord(
      namespace: ns, epoch: 1, revision: Revision(1), time: 5, actor: .user(uid: "a:b"), requestID: "r-1", cause: cause,
      suppressesTriggers: true, changes: changes, digest: [1], hash: [2])
    session.append(record)
    #expect(try session.commit(in: ns, at: Revision(1)) == record)
    try session.commit()
    try engine.read { snapshot throws in
      #expect(try snapshot.commit(in: ns, at: Revision(1)) == record)
      #expect(try snapshot.commit(in: ns, at: Revision(2)) == nil)
      #expect(try snapshot.commits(in: ns, after: .zero, limit: 9) == [record])
      #expect(try snapshot.commits(in: ns, after: Revision(1), limit: 9).isEmpty)
    }
  }
}
