package import Accounts
package import Ledger
package import StorageCore
package import TreeDatabase
package import TreeModel

/// Why a player was not erased.
package enum ErasureError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Other maintenance is under way, which is named.
  case busy(with: String)
  /// Something still has to be done for the player first: a sentence for each.
  case unsettled(uid: String, work: [String])
  /// Something writes the player's record as soon as it is removed.
  case writtenAgain(uid: String)

  package var description: String {
    switch self {
    case .busy(let other): "\(other) is under way; try again when it is done."
    case .unsettled(let uid, let work): WaitingWork.message(of: uid, because: work)
    case .writtenAgain(let uid):
      "The record of \(uid) is written again as soon as it is removed: pause the function or stop the client that does "
        + "it, and order the erasure again."
    }
  }
}

/// Erases a player who leaves: the record in the tree, the account, records kept beside the tree, and the past of all of that.
/// What stays are the ledger, the executions and the chains of hashes, in which the uid stands for nobody any more.
///
/// First everything that functions and the outbox still have to do for the player must be done. Coins that are held for the
/// player go back to where they came from, by an entry that says why: nobody could pay them out any more. Then the nodes and
/// the account are removed in one commit, which functions hear of as of any other; when they are done with it too, the past is
/// forgotten (`PastErasure`). The record of the erasure says what is next, so that one which was cut off goes on.
package struct PlayerErasure: Sendable {
  package struct Order: Sendable {
    package let uid: String
    /// What is the player's in the tree: see ``PersonalPaths``.
    package let paths: [Path]
    package let actor: Actor
    package let reason: String
    /// Whether functions hear of the removal.
    package let runsTriggers: Bool

    package init(uid: String, paths: [Path], actor: Actor, reason: String, runsTriggers: Bool = true) {
      self.uid = uid
      self.paths = paths
      self.actor = actor
      self.reason = reason
      self.runsTriggers = runsTriggers
    }
  }

  /// How long functions may take to finish what they have begun, in milliseconds.
  private static let drainTimeout: Int64 = 30_000
  /// How often nodes are removed again that functions wrote meanwhile.
  private static let roundsMax = 3
  /// Records beside the tree that one commit changes.
  private static let recordsPerCommit = 500
  /// Erasures that are read at once.
  private static let pageSize = 200

  let database: Database
  let accounts: AccountService?
  /// What keeps records of players beside the tree: links, invitations, rewards.
  let recordStores: [any PlayerRecordsErasing]
  let functions: (any FunctionActivity)?
  let ledger: LedgerService?
  /// What a repeated request gets that was answered with the player's data.
  private let replacementAnswer: [UInt8]
  let past: PastErasure

  /// - `replacementAnswer`: what takes the place of answers to the player's writes that are kept with idempotency keys, in
  ///   the form in which the surface that answers writes keeps them.
  package init(
    database: Database, accounts: AccountService?, recordStores: [any PlayerRecordsErasing],
    functions: (any FunctionActivity)?, ledger: LedgerService?, replacementAnswer: [UInt8]
  ) {
    self.database = database
    self.accounts = accounts
    self.recordStores = recordStores
    self.functions = functions
    self.ledger = ledger
    self.replacementAnswer = replacementAnswer
    past = PastErasure(engine: database.engine, writer: database, clock: database.clock)
  }

  /// Finishes erasures of all namespaces that were cut off after nothing could hold them up any more.
  ///
  /// - Returns: the players whose erasure waits for an administrator to order it again.
  package func resume() async throws -> [String] {
    var waiting: [String] = []
    guard database.maintenanceTurn.begin("An erasure") == nil else { return [] }
    defer { database.maintenanceTurn.end() }
    for namespace in try read({ snapshot in try snapshot.namespaces() }) {
      var last: String?
      while true {
        let page = try read { snapshot in
          try snapshot.erasures(in: namespace.id, after: last, limit: Self.pageSize)
        }
        for record in page {
          if record.state == .removing { waiting.append(record.uid) } else { _ = try await finish(record, in: namespace.id) }
        }
        last = page.last?.uid
        if page.count < Self.pageSize { break }
      }
    }
    return waiting
  }

  /// Erases a player; ordered again it goes on, or finds that nothing is left to do.
  ///
  /// - Returns: the record of the erasure; nil if there never was such a player.
  /// - Throws: ``ErasureError``, and what the store and the writer throw; ordered again, it goes on where it was.
  package func carryOut(_ order: Order, in namespace: NamespaceID) async throws -> ErasureRecord? {
    if let holder = database.maintenanceTurn.begin("An erasure") { throw ErasureError.busy(with: holder) }
    defer { database.maintenanceTurn.end() }
    var earlier = try read { snapshot in try snapshot.erasure(in: namespace, of: order.uid) }
    if let unfinished = earlier, unfinished.state != .removing { earlier = try await finish(unfinished, in: namespace) }
    var record = try record(of: order, after: earlier, in: namespace)
    if earlier?.state != .removing, try isEmpty(record, in: namespace) { return earlier }
    for _ in 0..<Self.roundsMax {
      try await settle(record, in: namespace)
      // Returned coins may change the player's record, which triggers functions.
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
    throw ErasureError.writtenAgain(uid: order.uid)
  }

  /// The player of an erasure that has begun, by an address that it has already taken from the account; nil if there is none.
  package func unfinishedPlayer(withAddress address: String, in namespace: NamespaceID) throws -> String? {
    try read { (snapshot) -> String? in
      guard try snapshot.account(in: namespace, identifier: .email(address)) == nil else { return nil }
      var last: String?
      while true {
        let page = try snapshot.erasures(in: namespace, after: last, limit: Self.pageSize)
        if let found = page.first(where: { $0.addresses.contains(address) }) { return found.uid }
        last = page.last?.uid
        if page.count < Self.pageSize { return nil }
      }
    }
  }

  // MARK: Steps

  /// What is erased: with what an earlier order named that did not come to its end.
  private func record(of order: Order, after earlier: ErasureRecord?, in namespace: NamespaceID) throws -> ErasureRecord {
    let account = try read { snapshot in try snapshot.account(in: namespace, uid: order.uid) }
    let unfinished = earlier.flatMap { $0.state == .removing ? $0 : nil }
    let paths = order.paths + (unfinished?.paths ?? []).filter { !order.paths.contains($0) }
    let addresses = Set((account?.addresses ?? []) + (unfinished?.addresses ?? [])).sorted()
    return ErasureRecord(
      uid: order.uid, paths: paths, actor: order.actor, reason: order.reason, orderedAt: database.clock.now(),
      addresses: addresses)
  }

  /// Whether nothing is known of the player but what an erasure leaves.
  private func isEmpty(_ record: ErasureRecord, in namespace: NamespaceID) throws -> Bool {
    let paths = record.paths.map { PathBytes($0) }
    let isClear = try read { (snapshot) -> Bool in
      for path in paths where try !snapshot.leaves(in: namespace, under: path, limit: 1).isEmpty { return false }
      guard try snapshot.account(in: namespace, uid: record.uid) == nil else { return false }
      for store in recordStores {
        guard try store.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot: snapshot).records.isEmpty
        else {
          return false
        }
      }
      return true
    }
    return try isClear && past.touchedCount(paths, in: namespace) == 0
  }

  /// Waits for what functions have begun for the player, and refuses to go on while something waits for longer.
  private func settle(_ record: ErasureRecord, in namespace: NamespaceID) async throws {
    var work =
      await functions?.unfinishedRuns(for: record.uid, timeoutMilliseconds: Self.drainTimeout) ?? []
    work += try waitingWork(record, in: namespace)
    guard work.isEmpty else { throw ErasureError.unsettled(uid: record.uid, work: work) }
  }

  func waitingWork(_ record: ErasureRecord, in namespace: NamespaceID) throws -> [String] {
    try read { snapshot in
      let work = WaitingWork(uid: record.uid, namespace: namespace, snapshot: snapshot)
      return try work.deliveries() + work.messages(try messages(record, in: namespace, snapshot: snapshot))
    }
  }

  /// Gives back what is held for the player; whether there was anything.
  private func voidHolds(of record: ErasureRecord, in namespace: NamespaceID) async throws -> Bool {
    guard let ledger else { return false }
    let holds = PlayerHolds(uid: record.uid, namespace: namespace)
    return try await holds.void(
      try read { snapshot in try holds.open(in: snapshot) }, by: record.actor, in: ledger)
  }

  /// Removes the nodes and the account, in one commit.
  private func remove(_ record: ErasureRecord, _ order: Order, in namespace: NamespaceID) async throws -> ErasureRecord {
    var request = CommitRequest(namespace: namespace, actor: order.actor)
    request.operations = record.paths.filter { !$0.isAccounts }.map { .remove($0) }
    request.decision = accounts?.removal(of: record.uid)
    request.rows.records = [record.change]
    request.triggers.areSuppressed = !order.runsTriggers
    var maintenance = Maintenance()
    maintenance.erasing = .account(uid: record.uid, addresses: record.addresses)
    request.rows.maintenance = maintenance
    _ = try await database.commit(request)
    return record
  }

  /// From here on the erasure cannot be blocked any more.
  private func finish(_ unfinished: ErasureRecord, in namespace: NamespaceID) async throws -> ErasureRecord {
    var record = unfinished
    if record.state == .forgetting { record = try await past.forget(record, in: namespace, answer: replacementAnswer) }
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

  private func eraseKeyedRecords(_ record: ErasureRecord, in namespace: NamespaceID) async throws {
    for store in recordStores {
      let erasure = try read { snapshot in
        try store.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot: snapshot)
      }
      // Messages first, because they are found through the records.
      for key in erasure.messages {
        let message = try read { snapshot in try snapshot.outbox(in: namespace, key: key) }
        if let message { try await erase([], messages: [message.erased], in: namespace) }
      }
      for start in stride(from: 0, to: erasure.records.count, by: Self.recordsPerCommit) {
        let step = erasure.records[start..<min(start + Self.recordsPerCommit, erasure.records.count)]
        try await erase(Array(step), in: namespace)
      }
      store.didErase()
    }
  }

  private func eraseMessages(_ record: ErasureRecord, in namespace: NamespaceID) async throws {
    for state in [OutboxRecord.State.delivered, .dead] {
      while true {
        let found = try read { snapshot in
          try PlayerMessages(record, keys: [], in: namespace, snapshot).find(in: state, limit: Self.recordsPerCommit)
        }
        if found.isEmpty { break }
        try await erase([], messages: found.map(\.erased), in: namespace)
      }
    }
  }

  private func messages(_ record: ErasureRecord, in namespace: NamespaceID, snapshot: any Snapshot) throws -> PlayerMessages {
    var keys: [String] = []
    for store in recordStores {
      keys += try store.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot: snapshot).messages
    }
    return PlayerMessages(record, keys: keys, in: namespace, snapshot)
  }

  private func erase(_ records: [KeyedRecordChange], messages: [OutboxRecord] = [], in namespace: NamespaceID)
    async throws
  {
    var request = CommitRequest(namespace: namespace, actor: ErasureSeal.actor)
    request.rows.records = records
    request.rows.outbox = messages
    var maintenance = Maintenance()
    maintenance.erasing = .rows
    request.rows.maintenance = maintenance
    _ = try await database.commit(request)
  }

  func read<Value>(_ body: (any Snapshot) throws -> Value) throws -> Value {
    try database.engine.read(body)
  }
}
