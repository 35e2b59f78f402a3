import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import PlayerLifecycle
@testable import StorageSQLite

/// A process that dies in the middle of an erasure: whichever commit it was, ordered again it comes to the same end.
struct ErasureCrashTests {
  /// How many commits a whole erasure of the player is.
  private func commits() async throws -> Int {
    let fixture = try await PlayerFixture()
    try await fixture.populate()
    fixture.camera.arm(.beforeCommit, commit: .max, to: "")
    _ = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
    try fixture.checkErased("without a crash")
    defer { fixture.close() }
    return fixture.camera.seen
  }

  @Test("Died after any of its commits, an erasure goes on where it was, by itself or when ordered again")
  func everyCommit() async throws {
    let count = try await commits()
    #expect(count >= 8)
    // What a commit leaves is what the next one finds.
    for commit in 1...count {
      let context = "after commit \(commit) of \(count)"
      let fixture = try await PlayerFixture()
      try await fixture.populate()
      fixture.camera.arm(.afterCommit, commit: commit, to: fixture.folder.file("copy"))
      _ = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
      #expect(fixture.camera.isTaken, "\(context)")
      fixture.close()
      let second = try await PlayerFixture(folder: fixture.folder, data: "copy")
      let record = try second.engine.read { snapshot in
        try snapshot.erasure(in: second.namespace, of: "bob")
      }
      let audit = try second.engine.read { snapshot in
        try LogAudit.verify(snapshot, namespace: second.namespace)
      }
      #expect(audit.isSound, "\(context): \(audit.faults.map(\.message))")
      let waiting = try await second.erasure.resume()
      // Once nothing can hold it up it needs nobody.
      #expect(waiting == (record?.state == .removing ? ["bob"] : []), "\(context)")
      if record?.state == .removing {
        _ = try await second.erasure.carryOut(try second.order("bob"), in: second.namespace)
      }
      try second.checkErased(context)
      second.close()
      #expect(try !DiskFiles.holds(PlayerFixture.secret, second.folder.file("copy/doubloon.db")), "\(context)")
    }
  }

  @Test("Ordered again when it is done, an erasure finds nothing to do and commits nothing")
  func again() async throws {
    let fixture = try await PlayerFixture()
    try await fixture.populate()
    let first = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
    let head = try fixture.engine.read { snapshot in try snapshot.head(of: fixture.namespace) }
    fixture.clock.advance(by: 1000)
    let second = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
    #expect(second == first)
    #expect(try fixture.engine.read { snapshot in try snapshot.head(of: fixture.namespace) } == head)
    // A player who comes back under the same name is erased as a new one.
    try await fixture.commit([.set("/users/bob/name", "again")])
    let third = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
    #expect(third?.state == .done && third?.order != first?.order)
    try fixture.checkErased("the second time")
    #expect(try await fixture.erasure.carryOut(try fixture.order("nobody"), in: fixture.namespace) == nil)
    fixture.close()
  }

  @Test("What waits for the player holds an erasure up, and is named: a delivery, a dead letter, a mail")
  func waiting() async throws {
    let fixture = try await PlayerFixture()
    try await fixture.populate()
    let event = EventID(epoch: 1, revision: Revision(2), path: PathBytes("/users/bob/name"))
    func delivery(_ state: DeliveryRecord.State) -> DeliveryRecord {
      DeliveryRecord(
        event: event, kind: .created, hop: 0, function: "greet", state: state, attempts: 1, crashes: 0, nextAttemptAt: 9,
        lastError: "no answer", updatedAt: 1)
    }
    func refusal() async throws -> ErasureError? {
      await #expect(throws: ErasureError.self) {
        _ = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
      }
    }
    try await fixture.commit { $0.triggers.deliveries = [delivery(.waiting)] }
    #expect(try await refusal()?.description.contains("greet for 1-2:/users/bob/name is waiting: no answer") == true)
    try await fixture.commit { $0.triggers.deliveries = [delivery(.dead)] }
    let dead = try await refusal()
    guard case .unsettled("bob", _)? = dead else {
      Issue.record("The erasure is refused with \(String(describing: dead)).")
      return
    }
    #expect(dead?.description.contains("greet for 1-2:/users/bob/name is dead: retry or acknowledge it") == true)
    try await fixture.commit { $0.triggers.settles = (event, "greet") }
    let mail = OutboxRecord(
      key: "code/2", outlet: "mail", payload: "{\"to\":\"\(PlayerFixture.secret)@mail.example\"}", cause: nil, state: .waiting,
      attempts: 0, nextAttemptAt: 0, lastError: nil, createdAt: 1)
    try await fixture.commit { $0.rows.outbox = [mail] }
    #expect(try await refusal()?.description.contains("The message code/2 to mail is not delivered yet") == true)
    try await fixture.commit { $0.rows.outbox = [mail.erased] }
    // Nothing was touched so far.
    #expect(
      try fixture.engine.read { snapshot in try snapshot.erasure(in: fixture.namespace, of: "bob") }
        == nil)
    fixture.close()
  }

  @Test("Another erasure or a pruning under way is waited for by nobody: the order is refused, to be given again")
  func turn() async throws {
    let fixture = try await PlayerFixture()
    try await fixture.populate()
    #expect(fixture.database.maintenanceTurn.begin("A pruning") == nil)
    let error = await #expect(throws: ErasureError.self) {
      _ = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
    }
    #expect(error == .busy(with: "A pruning") && error?.description.hasPrefix("A pruning is under way") == true)
    fixture.database.maintenanceTurn.end()
    fixture.close()
  }
}
