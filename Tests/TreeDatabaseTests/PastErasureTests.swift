import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import StorageSQLite

/// Forgetting one player's past, against a model that knows every state of the tree.
struct PastErasureTests {
  private typealias State = [Path: Scalar]

  /// A store whose past crosses every border of the history after a few commits.
  private final class Rig {
    let folder: TemporaryFolder
    let clock = AdjustableClock(frozenAt: DatabaseFixture.start)
    let engine: SQLiteEngine
    let database: Database
    let namespace: NamespaceID
    var states: [State] = [[:]]

    init(folder: TemporaryFolder = TemporaryFolder(), states: [State] = [[:]]) async throws {
      self.folder = folder
      self.states = states
      var options = SQLiteOptions()
      options.history = HistoryLimits(generationChanges: 12, sliceRows: 2, blockChanges: 3, mergeRuns: 3, mergeRows: 5)
      engine = try SQLiteEngine(directory: folder.file("data"), options: options)
      database = try Database(engine: engine, participants: [], clock: clock)
      namespace = try await database.openNamespace(named: "game")
    }

    func close() {
      database.shutDown()
      engine.close()
    }

    /// A commit that changes something of some players, each time.
    func write(_ random: inout SplitMix64, of players: [String]) async throws {
      var state = states[states.count - 1]
      var changes: State = [:]
      for _ in 0...Int.random(in: 0...2, using: &random) {
        let player = players.randomElement(using: &random) ?? "p0"
        let field = ["level", "name", "a/b"].randomElement(using: &random) ?? "level"
        changes[try Path(parsing: "/users/\(player)/\(field)")] = .string("\(player) wrote \(states.count)")
      }
      let assignments = changes.map {
        WriteOperation.Assignment(path: $0.key, value: .node(WriteNode(.leaf($0.value))))
      }
      try await commit([.update(.root, assignments)])
      state.merge(changes) { $1 }
      states.append(state)
      if states.count % 7 == 0 { _ = try engine.compact() }
    }

    func commit(_ operations: [WriteOperation]) async throws {
      _ = try await database.commit(CommitRequest(namespace: namespace, actor: .admin("test"), operations: operations))
    }

    func past() -> PastErasure { PastErasure(engine: engine, writer: database, clock: clock) }

    func record(_ player: String) throws -> ErasureRecord {
      ErasureRecord(
        uid: player, paths: [try Path(parsing: "/users/\(player)")], actor: .admin("ann"), reason: "asked", orderedAt: 1,
        addresses: [])
    }

    /// Removes a player and forgets the past. Each commit of that is a state of the model too.
    func erase(_ player: String) async throws -> ErasureRecord {
      try await commit([.remove(try Path(parsing: "/users/\(player)"))])
      let ordered = try await past().order(try record(player), in: namespace)
      let sealed = try await past().forget(ordered, in: namespace, answer: [])
      try await past().forgetBesideLog(sealed, in: namespace)
      forget(player)
      return sealed
    }

    /// What the model knows after that.
    func forget(_ player: String) {
      let paths: [Path] = (try? Path(parsing: "/users/\(player)")).map { [$0] } ?? []
      states = states.map { state in state.filter { path, _ in !paths.contains { $0.contains(path) } } }
      // The removal, the order, the seal.
      for _ in 0..<3 { states.append(states[states.count - 1]) }
    }

    func check(_ context: String) throws {
      let all = states
      try engine.read { (snapshot) throws(StorageError) in
        for (revision, state) in all.enumerated() {
          let found = try snapshot.leaves(in: namespace, under: .root, asOf: Revision(Int64(revision)), limit: .max)
          let tree = Dictionary(
            uniqueKeysWithValues: found.compactMap { leaf in leaf.leaf.path.path.map { ($0, leaf.leaf.scalar) } })
          if tree != state { Issue.record("revision \(revision) is another one \(context)") }
        }
        let report = try LogAudit.verify(snapshot, namespace: namespace)
        #expect(report.isSound && report.unsealed.isEmpty, "\(context): \(report.faults.map(\.message))")
      }
      let fresh = try SQLiteEngine.inMemory()
      defer { fresh.close() }
      let rebuilt = try engine.read { (snapshot) throws(StorageError) in
        try StoreRebuild.run("game", from: snapshot, into: fresh)
      }
      #expect(rebuilt.isEqual, "\(context): \(rebuilt.faults.map(\.message))")
    }

    /// Whether a player's words are in any payload.
    func isInPayloads(_ player: String) throws -> Bool {
      try engine.read { (snapshot) throws(StorageError) in
        try snapshot.commits(in: namespace, after: .zero, limit: .max).contains { commit in
          commit.changes?.contains { $0.after?.stringValue?.hasPrefix("\(player) ") == true } == true
        }
      }
    }
  }

  @Test("Others' past reads as before at every revision, the chain verifies, a rebuild gives the same tree", arguments: 1...3)
  func property(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let players = (0..<5).map { "p\($0)" }
    let rig = try await Rig()
    for _ in 0..<90 { try await rig.write(&random, of: players) }
    let touched = try rig.past().touchedCount([PathBytes(try Path(parsing: "/users/p1"))], in: rig.namespace)
    let first = try await rig.erase("p1")
    // The removal itself is one more.
    #expect(first.commits == Int64(touched) + 1)
    #expect(try !rig.isInPayloads("p1"))
    #expect(try rig.isInPayloads("p2"))
    try rig.check("after the first erasure")
    // Another one, through payloads that were treated before; and somebody takes the name of the first.
    for _ in 0..<30 { try await rig.write(&random, of: players) }
    _ = try await rig.erase("p2")
    try rig.check("after the second erasure")
    for _ in 0..<30 { try await rig.write(&random, of: players) }
    try rig.check("after more writes")
    rig.close()
    let again = try await Rig(folder: rig.folder, states: rig.states)
    try again.check("after a restart")
    again.close()
  }

  @Test("An erasure that was cut off after its first payloads is told of, and goes on to the same end")
  func cutOff() async throws {
    var random = SplitMix64(seed: 9)
    let rig = try await Rig()
    for _ in 0..<40 { try await rig.write(&random, of: ["p0", "p1"]) }
    try await rig.commit([.remove("/users/p1")])
    let ordered = try await rig.past().order(try rig.record("p1"), in: rig.namespace)
    var maintenance = Maintenance()
    maintenance.erasing = .changes(
      of: (1...10).map { Revision($0) }, below: [PathBytes("/users/p1")], order: try #require(ordered.order))
    var request = CommitRequest(namespace: rig.namespace, actor: .system("erasure"))
    request.rows.maintenance = maintenance
    _ = try await rig.database.commit(request)
    let half = try rig.engine.read { (snapshot) throws(StorageError) in
      try LogAudit.verify(snapshot, namespace: rig.namespace)
    }
    #expect(half.isSound)
    #expect(half.unsealed == [ordered.order])
    let sealed = try await rig.past().forget(ordered, in: rig.namespace, answer: [])
    try await rig.past().forgetBesideLog(sealed, in: rig.namespace)
    rig.forget("p1")
    try rig.check("after it went on")
    rig.close()
  }

  @Test("A kept answer to a write that changed nothing is replaced too, no matter who made the commit before it")
  func unchangedAnswer() async throws {
    let rig = try await Rig()
    try await rig.commit([.set("/users/p1/name", "Ann")])
    try await rig.commit([.set("/users/p0/name", "Ben")])
    var request = CommitRequest(
      namespace: rig.namespace, actor: .admin("test"), operations: [.set("/users/p1/name", "Ann")])
    request.idempotency = .init(key: "k", requestDigest: [1], lifetime: 86_400_000) { _ in Array("Ann".utf8) }
    #expect(try await rig.database.commit(request).changed == false)
    #expect(try await rig.database.commit(request).replayed?.answer == Array("Ann".utf8))
    _ = try await rig.erase("p1")
    #expect(try await rig.database.commit(request).replayed?.answer == [])
    rig.close()
  }

  @Test("Nothing is forgotten while something stands at the place; the order says what to remove")
  func standing() async throws {
    let rig = try await Rig()
    try await rig.commit([.set("/users/p1/name", "Ann")])
    let refusal = await #expect(throws: CommitError.self) {
      _ = try await rig.past().order(try rig.record("p1"), in: rig.namespace)
    }
    #expect(refusal?.message == "Something stands at /users/p1 again.")
    rig.close()
  }

  @Test("A checkpoint of the log loses the player too, and still verifies; pruning behind an erasure is sound")
  func checkpoint() async throws {
    var random = SplitMix64(seed: 4)
    let rig = try await Rig()
    for _ in 0..<40 { try await rig.write(&random, of: ["p0", "p1"]) }
    let pruning = LogPruning(engine: rig.engine, writer: rig.database, clock: rig.clock)
    // Nothing dispatches here, so everything counts as settled.
    var request = CommitRequest(namespace: rig.namespace, actor: .system("triggers"))
    request.triggers.settledRevision = Revision(40)
    _ = try await rig.database.commit(request)
    _ = try await pruning.prune(through: Revision(20), in: rig.namespace, by: .admin("ann"), because: "old")
    _ = try await rig.erase("p1")
    func leaves() throws -> [Leaf] {
      try rig.engine.read { (snapshot) throws(StorageError) in
        let checkpoint = try snapshot.checkpoint(of: rig.namespace)
        return try snapshot.checkpointLeaves(
          in: rig.namespace, of: checkpoint?.revision ?? .zero, after: nil, limit: .max)
      }
    }
    func audit() throws -> LogReport {
      try rig.engine.read { (snapshot) throws(StorageError) in try LogAudit.verify(snapshot, namespace: rig.namespace) }
    }
    #expect(try !leaves().isEmpty)
    #expect(try leaves().allSatisfy { !PathBytes("/users/p1").contains($0.path) })
    let first = try audit()
    #expect(first.isSound, "\(first.faults)")
    request.triggers.settledRevision = Revision(43)
    _ = try await rig.database.commit(request)
    _ = try await pruning.prune(through: Revision(30), in: rig.namespace, by: .admin("ann"), because: "old")
    let second = try audit()
    #expect(second.isSound && second.unsealed.isEmpty, "\(second.faults)")
    rig.close()
  }

  @Test("What was rebuilt from a pruned log can be opened and written to, and counts as pruned")
  func rebuiltFromPruned() async throws {
    var random = SplitMix64(seed: 5)
    let rig = try await Rig()
    for _ in 0..<40 { try await rig.write(&random, of: ["p0", "p1"]) }
    var request = CommitRequest(namespace: rig.namespace, actor: .system("triggers"))
    request.triggers.settledRevision = Revision(40)
    _ = try await rig.database.commit(request)
    _ = try await LogPruning(engine: rig.engine, writer: rig.database, clock: rig.clock)
      .prune(through: Revision(20), in: rig.namespace, by: .admin("ann"), because: "old")
    let folder = TemporaryFolder()
    let fresh = try SQLiteEngine(directory: folder.path)
    let report = try rig.engine.read { (snapshot) throws(StorageError) in
      try StoreRebuild.run("game", from: snapshot, into: fresh)
    }
    #expect(report.isEqual && report.checkpoint == Revision(20), "\(report.faults.map(\.message))")
    fresh.close()
    rig.close()
    let again = try await DatabaseFixture(folder: folder)
    let revision = try await again.write(.set("/users/p9/name", "Zoe")).revision
    #expect(revision == Revision(41))
    try again.engine.read { (snapshot) throws(StorageError) in
      #expect(try snapshot.prunedRevision(of: again.namespace) == Revision(20))
      #expect(try LogAudit.verify(snapshot, namespace: again.namespace).isSound)
      #expect(try !snapshot.leaves(in: again.namespace, under: .root, asOf: Revision(30), limit: 9).isEmpty)
    }
    again.close()
  }

  @Test("What changes what an erasure left, or makes an erasure of a change, is found out by the audit")
  func tampering() async throws {
    let rig = try await Rig()
    for value in 0..<4 as Range<Int64> {
      try await rig.commit([try .update("/users", [assignment("/users/p1/x", value), assignment("/users/p2/x", value)])])
    }
    try await rig.commit([.set("/users/p2/x", 99)])
    _ = try await rig.erase("p1")
    rig.close()
    for (edit, fault) in [
      ("changes = (SELECT changes FROM commit_log WHERE revision = 1) WHERE revision = 2", "is not what commit"),
      ("changes = (SELECT changes FROM commit_log WHERE revision = 1) WHERE revision = 5", "is not what commit"),
      ("changes = NULL WHERE revision = 2", "are missing"),
    ] {
      let copy = TemporaryFolder()
      try DiskFiles.copy(folder: rig.folder.file("data"), to: copy.file("data"))
      let connection = try SQLiteConnection(path: copy.file("data/doubloon.db"))
      try connection.execute("UPDATE commit_log SET \(edit)")
      connection.close()
      let engine = try SQLiteEngine(directory: copy.file("data"))
      let report = try engine.read { (snapshot) throws(StorageError) in
        try LogAudit.verify(snapshot, namespace: rig.namespace)
      }
      engine.close()
      #expect(report.faults.contains { $0.message.contains(fault) }, "\(edit): \(report.faults.map(\.message))")
    }
  }

  private func assignment(_ path: Path, _ value: Int64) -> WriteOperation.Assignment {
    WriteOperation.Assignment(path: path, value: .node(WriteNode(.leaf(.int(value)))))
  }
}
