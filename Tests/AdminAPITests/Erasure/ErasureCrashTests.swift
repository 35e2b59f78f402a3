import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI
@testable import HTTPServer
@testable import StorageSQLite

/// A process that dies in the middle of an erasure: whichever commit it was, ordered again it comes to the same end.
struct ErasureCrashTests {
  /// How many commits a whole erasure of the player is.
  private func commits() async throws -> Int {
    let rig = try await ErasureRig()
    try await rig.populate()
    rig.camera.arm(.beforeCommit, commit: .max, to: "")
    _ = try await rig.erasure.carryOut(try rig.order("bob"), in: rig.namespace)
    try rig.checkErased("without a crash")
    defer { rig.close() }
    return rig.camera.seen
  }

  @Test("Died after any of its commits, an erasure goes on where it was, by itself or when ordered again")
  func everyCommit() async throws {
    let count = try await commits()
    #expect(count >= 8)
    // What a commit leaves is what the next one finds.
    for commit in 1...count {
      let context = "after commit \(commit) of \(count)"
      let rig = try await ErasureRig()
      try await rig.populate()
      rig.camera.arm(.afterCommit, commit: commit, to: rig.folder.file("copy"))
      _ = try await rig.erasure.carryOut(try rig.order("bob"), in: rig.namespace)
      #expect(rig.camera.isTaken, "\(context)")
      rig.close()
      let second = try await ErasureRig(folder: rig.folder, data: "copy")
      let record = try second.engine.read { (snapshot) throws(StorageError) in
        try snapshot.erasure(in: second.namespace, of: "bob")
      }
      let audit = try second.engine.read { (snapshot) throws(StorageError) in
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
      #expect(try !DiskFiles.holds(ErasureRig.secret, second.folder.file("copy/doubloon.db")), "\(context)")
    }
  }

  @Test("Ordered again when it is done, an erasure finds nothing to do and commits nothing")
  func again() async throws {
    let rig = try await ErasureRig()
    try await rig.populate()
    let first = try await rig.erasure.carryOut(try rig.order("bob"), in: rig.namespace)
    let head = try rig.engine.read { (snapshot) throws(StorageError) in try snapshot.head(of: rig.namespace) }
    rig.clock.advance(by: 1000)
    let second = try await rig.erasure.carryOut(try rig.order("bob"), in: rig.namespace)
    #expect(second == first)
    #expect(try rig.engine.read { (snapshot) throws(StorageError) in try snapshot.head(of: rig.namespace) } == head)
    // A player who comes back under the same name is erased as a new one.
    try await rig.commit([.set("/users/bob/name", "again")])
    let third = try await rig.erasure.carryOut(try rig.order("bob"), in: rig.namespace)
    #expect(third?.state == .done && third?.order != first?.order)
    try rig.checkErased("the second time")
    #expect(try await rig.erasure.carryOut(try rig.order("nobody"), in: rig.namespace) == nil)
    rig.close()
  }

  @Test("What waits for the player holds an erasure up, and is named: a delivery, a dead letter, a mail")
  func waiting() async throws {
    let rig = try await ErasureRig()
    try await rig.populate()
    let event = EventID(epoch: 1, revision: Revision(2), path: PathBytes("/users/bob/name"))
    func delivery(_ state: DeliveryRecord.State) -> DeliveryRecord {
      DeliveryRecord(
        event: event, kind: .created, hop: 0, function: "greet", state: state, attempts: 1, crashes: 0, nextAttemptAt: 9,
        lastError: "no answer", updatedAt: 1)
    }
    func refusal() async throws -> APIError? {
      await #expect(throws: APIError.self) { _ = try await rig.erasure.carryOut(try rig.order("bob"), in: rig.namespace) }
    }
    try await rig.commit { $0.deliveries = [delivery(.waiting)] }
    #expect(try await refusal()?.message.contains("greet for 1-2:/users/bob/name is waiting: no answer") == true)
    try await rig.commit { $0.deliveries = [delivery(.dead)] }
    let dead = try await refusal()
    #expect(dead?.code == "unsettled")
    #expect(dead?.message.contains("greet for 1-2:/users/bob/name is dead: retry or acknowledge it") == true)
    try await rig.commit { $0.settles = (event, "greet") }
    let mail = OutboxRecord(
      key: "code/2", outlet: "mail", payload: "{\"to\":\"\(ErasureRig.secret)@mail.example\"}", cause: nil, state: .waiting,
      attempts: 0, nextAttemptAt: 0, lastError: nil, createdAt: 1)
    try await rig.commit { $0.outbox = [mail] }
    #expect(try await refusal()?.message.contains("The message code/2 to mail is not delivered yet") == true)
    try await rig.commit { $0.outbox = [mail.erased] }
    // Nothing was touched so far.
    #expect(
      try rig.engine.read { (snapshot) throws(StorageError) in try snapshot.erasure(in: rig.namespace, of: "bob") } == nil)
    rig.close()
  }

  @Test("Another erasure or a pruning under way is waited for by nobody: the order is refused, to be given again")
  func turn() async throws {
    let rig = try await ErasureRig()
    try await rig.populate()
    #expect(rig.database.maintenanceTurn.begin("A pruning") == nil)
    let error = await #expect(throws: APIError.self) {
      _ = try await rig.erasure.carryOut(try rig.order("bob"), in: rig.namespace)
    }
    #expect(error?.code == "busy" && error?.message.hasPrefix("A pruning is under way") == true)
    rig.database.maintenanceTurn.end()
    rig.close()
  }
}
