import APISupport
package import Accounts
package import HTTPServer
package import Ledger
import NIOHTTP1
package import StorageCore
package import TreeDatabase
import TreeModel

/// Erases a player who leaves: the record in the tree, the account, what other rooms keep, and the past of all of that. What
/// stays are the ledger, the executions and the chains of hashes, in which the uid stands for nobody any more.
///
/// First everything that functions and outlets still have to do for the player must be done. Coins that are held for the player
/// go back to where they came from, by an entry that says why: nobody could pay them out any more. Then the nodes and the account
/// are removed in one commit, which functions hear of as of any other; when they are done with it too, the past is forgotten
/// (``TreeDatabase/PastErasure``). The record of the erasure says what is next, so that one which was cut off goes on.
package struct PlayerErasure: Sendable {
  /// What is to be done.
  package struct Order: Sendable {
    let uid: String
    let places: [Path]
    let actor: Actor
    let reason: String
    /// Whether functions hear of the removal.
    let runsTriggers: Bool
  }

  /// How long functions may take to finish what they have in hand, in milliseconds.
  private static let longTimeout: Int64 = 30_000
  /// How often nodes are removed again that functions wrote meanwhile.
  private static let roundsMax = 3
  /// Records of rooms that one commit changes.
  private static let recordsPerCommit = 500

  package let database: Database
  package let accounts: AccountService?
  package let rooms: [any PlayerRecordsErasing]
  package let functions: (any FunctionOperating)?
  package let ledger: LedgerService?
  let past: PastErasure

  package init(
    database: Database, accounts: AccountService?, rooms: [any PlayerRecordsErasing], functions: (any FunctionOperating)?,
    ledger: LedgerService?
  ) {
    self.database = database
    self.accounts = accounts
    self.rooms = rooms
    self.functions = functions
    self.ledger = ledger
    past = PastErasure(engine: database.engine, writer: database, clock: database.clock)
  }

  /// Finishes erasures of all namespaces that were cut off after nothing could hold them up any more.
  ///
  /// - Returns: the players whose erasure waits for an administrator to order it again.
  package func resume() async throws -> [String] {
    var waiting: [String] = []
    guard database.maintenanceTurn.begin("An erasure") == nil else { return [] }
    defer { database.maintenanceTurn.end() }
    for namespace in try look({ (snapshot) throws(StorageError) in try snapshot.namespaces() }) {
      var last: String?
      while true {
        let page = try look { (snapshot) throws(StorageError) in
          try snapshot.erasures(in: namespace.id, after: last, limit: 200)
        }
        for record in page {
          if record.state == .removing { waiting.append(record.uid) } else { _ = try await finish(record, in: namespace.id) }
        }
        last = page.last?.uid
        if page.count < 200 { break }
      }
    }
    return waiting
  }

  /// Erases a player; ordered again it goes on, or finds that nothing is left to do.
  ///
  /// - Returns: the record of the erasure; nil if there never was such a player.
  package func carryOut(_ order: Order, in namespace: NamespaceID) async throws -> ErasureRecord? {
    if let holder = database.maintenanceTurn.begin("An erasure") {
      throw APIError(.conflict, "busy", "\(holder) is under way; try again when it is done.")
    }
    defer { database.maintenanceTurn.end() }
    var earlier = try look { (snapshot) throws(StorageError) in try snapshot.erasure(in: namespace, of: order.uid) }
    if let unfinished = earlier, unfinished.state != .removing { earlier = try await finish(unfinished, in: namespace) }
    var record = try record(of: order, after: earlier, in: namespace)
    if earlier?.state != .removing, try isEmpty(record, in: namespace) { return earlier }
    for _ in 0..<Self.roundsMax {
      try await settle(record, in: namespace)
      // What they give back may stand at the player's place, and functions hear of it.
      if try await voidHolds(of: record, in: namespace) { try await settle(record, in: namespace) }
      record = try await remove(record, order, in: namespace)
      try await settle(record, in: namespace)
      if try await voidHolds(of: record, in: namespace) { continue }
      do throws(CommitError) {
        record = try await past.order(record, in: namespace)
      } catch {
        guard case .stale = error.code else { throw error }
        continue
      }
      return try await finish(record, in: namespace)
    }
    throw APIError(
      .conflict, "written_again",
      "The record of \(order.uid) is written again as soon as it is removed: pause the function or stop the client that does "
        + "it, and order the erasure again.")
  }

  // MARK: Steps

  /// What is erased: with what an earlier order named that did not come to its end.
  private func record(of order: Order, after earlier: ErasureRecord?, in namespace: NamespaceID) throws -> ErasureRecord {
    let account = try look { (snapshot) throws(StorageError) in try snapshot.account(in: namespace, uid: order.uid) }
    let unfinished = earlier.flatMap { $0.state == .removing ? $0 : nil }
    let places = order.places + (unfinished?.places ?? []).filter { !order.places.contains($0) }
    let addresses = Set((account?.addresses ?? []) + (unfinished?.addresses ?? [])).sorted()
    return ErasureRecord(
      uid: order.uid, places: places, actor: order.actor, reason: order.reason, orderedAt: database.clock.now(),
      addresses: addresses)
  }

  /// Whether nothing is known of the player but what an erasure leaves.
  private func isEmpty(_ record: ErasureRecord, in namespace: NamespaceID) throws -> Bool {
    let places = record.places.map { PathBytes($0) }
    let isClear = try look { (snapshot) throws(StorageError) -> Bool in
      for place in places where try !snapshot.leaves(in: namespace, under: place, limit: 1).isEmpty { return false }
      guard try snapshot.account(in: namespace, uid: record.uid) == nil else { return false }
      for room in rooms {
        guard try room.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot).records.isEmpty else {
          return false
        }
      }
      return true
    }
    return try isClear && past.touchedCount(places, in: namespace) == 0
  }

  /// Waits for what is in hand for the player, and refuses to go on while something waits for longer.
  private func settle(_ record: ErasureRecord, in namespace: NamespaceID) async throws {
    var waiting: [String] = []
    if let report = await functions?.drain(timeoutMilliseconds: Self.longTimeout), !report.isComplete {
      for run in report.running {
        guard let text = run["event"]?.string, let event = EventID(text), WaitingWork.concerns(event, record.uid) else {
          continue
        }
        waiting.append("\(run["function"]?.string ?? "a function") for \(text) is running")
      }
    }
    waiting += try waitingWork(record, in: namespace)
    guard waiting.isEmpty else { throw APIError.unsettled(record.uid, waiting) }
  }

  func waitingWork(_ record: ErasureRecord, in namespace: NamespaceID) throws(StorageError) -> [String] {
    try look { (snapshot) throws(StorageError) in
      let work = WaitingWork(uid: record.uid, namespace: namespace, snapshot: snapshot)
      return try work.deliveries() + work.messages(try messages(record, in: namespace, snapshot))
    }
  }

  /// Gives back what is held for the player; whether there was anything.
  private func voidHolds(of record: ErasureRecord, in namespace: NamespaceID) async throws -> Bool {
    guard let ledger else { return false }
    let holds = PlayerHolds(uid: record.uid, namespace: namespace)
    return try await holds.void(
      try look { (snapshot) throws(StorageError) in try holds.open(in: snapshot) }, by: record.actor, in: ledger)
  }

  /// Removes the nodes and the account, in one commit.
  private func remove(_ record: ErasureRecord, _ order: Order, in namespace: NamespaceID) async throws -> ErasureRecord {
    var request = CommitRequest(namespace: namespace, actor: order.actor)
    request.operations = record.places.filter { !$0.isAccounts }.map { .remove($0) }
    request.decision = accounts?.removal(of: record.uid)
    request.records = [record.change]
    request.suppressesTriggers = !order.runsTriggers
    var upkeep = Maintenance()
    upkeep.erasing = .account(uid: record.uid, addresses: record.addresses)
    request.upkeep = upkeep
    _ = try await database.commit(request)
    return record
  }

  /// From here on nothing holds it up.
  private func finish(_ unfinished: ErasureRecord, in namespace: NamespaceID) async throws -> ErasureRecord {
    var record = unfinished
    if record.state == .forgetting { record = try await past.forget(record, in: namespace, answer: Self.answer) }
    guard record.state == .sealed else { return record }
    try await eraseKeyedRecords(record, in: namespace)
    try await eraseMessages(record, in: namespace)
    try await past.forgetBesideLog(record, in: namespace)
    record.state = .done
    record.finishedAt = database.clock.now()
    record.addresses = []
    try await erase([record.change], in: namespace)
    return record
  }

  /// What a repeated request gets that was answered with the player's data.
  private static let answer = WriteAnswer(status: 200, etag: nil, body: Array("null".utf8)).stored

  private func eraseKeyedRecords(_ record: ErasureRecord, in namespace: NamespaceID) async throws {
    for room in rooms {
      let erasure = try look { (snapshot) throws(StorageError) in
        try room.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot)
      }
      // The messages first: they are found by the records.
      for key in erasure.messages {
        let message = try look { (snapshot) throws(StorageError) in try snapshot.outbox(in: namespace, key: key) }
        if let message { try await erase([], [message.erased], in: namespace) }
      }
      for start in stride(from: 0, to: erasure.records.count, by: Self.recordsPerCommit) {
        let step = erasure.records[start..<min(start + Self.recordsPerCommit, erasure.records.count)]
        try await erase(Array(step), in: namespace)
      }
      room.didErase()
    }
  }

  private func eraseMessages(_ record: ErasureRecord, in namespace: NamespaceID) async throws {
    for state in [OutboxRecord.State.delivered, .dead] {
      while true {
        let found = try look { (snapshot) throws(StorageError) in
          try PlayerMessages(record, keys: [], in: namespace, snapshot).find(in: state, limit: Self.recordsPerCommit)
        }
        if found.isEmpty { break }
        try await erase([], found.map(\.erased), in: namespace)
      }
    }
  }

  private func messages(_ record: ErasureRecord, in namespace: NamespaceID, _ snapshot: any Snapshot) throws(StorageError)
    -> PlayerMessages
  {
    var keys: [String] = []
    for room in rooms {
      keys += try room.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot).messages
    }
    return PlayerMessages(record, keys: keys, in: namespace, snapshot)
  }

  private func erase(_ records: [KeyedRecordChange], _ messages: [OutboxRecord] = [], in namespace: NamespaceID)
    async throws(CommitError)
  {
    var request = CommitRequest(namespace: namespace, actor: ErasureSeal.actor)
    request.records = records
    request.outbox = messages
    var upkeep = Maintenance()
    upkeep.erasing = .rows
    request.upkeep = upkeep
    _ = try await database.commit(request)
  }

  func look<Value>(_ body: (any Snapshot) throws(StorageError) -> Value) throws(StorageError) -> Value {
    try database.engine.read(body)
  }
}

extension APIError {
  /// Refuses an erasure or a merge until what waits for the player is done.
  package static func unsettled(_ uid: String, _ waiting: [String]) -> APIError {
    let rest = waiting.count >= WaitingWork.listMax ? " and more" : ""
    return APIError(
      .conflict, "unsettled",
      "Something still waits for \(uid): \(waiting.joined(separator: "; "))\(rest). Let it finish, or end it, and ask again; "
        + "\"doubloon triggers list --uid\" shows what functions have to do.")
  }
}
