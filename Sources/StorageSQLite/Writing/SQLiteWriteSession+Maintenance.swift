internal import StorageCore
internal import TreeModel

/// The administrators' rows. They are rare, so their statements are prepared when they are needed.
extension SQLiteWriteSession {
  func put(_ maintenance: Maintenance, in namespace: NamespaceID) {
    batch.stage(namespace) { $0.maintenance.append(maintenance, step: $1) }
  }

  func write(_ maintenance: Maintenance, of ns: NamespaceID) throws(StorageError) {
    for event in maintenance.events {
      try statement("INSERT OR IGNORE INTO event (ns, revision, path, epoch, kind, hop) VALUES (?, ?, ?, ?, ?, ?)")
        .bind(ns.rawValue).bind(event.id.revision.rawValue).bind(event.id.path.bytes).bind(event.id.epoch)
        .bind(event.kind.rawValue).bind(Int64(event.hop)).run()
    }
    if let replay = maintenance.replay {
      try statement(
        """
        INSERT OR REPLACE INTO replay (ns, id, state, orders, progress, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        """
      ).bind(ns.rawValue).bind(replay.id).bind(replay.state.rawValue).bind(Self.text(replay.order.json))
        .bind(Self.text(replay.progress)).bind(replay.createdAt).bind(replay.updatedAt).run()
    }
    if let (replay, items) = maintenance.replayItems { try write(items, of: replay, in: ns) }
    if let invocation = maintenance.invocation { try write(invocation, of: ns) }
    if let attempt = maintenance.failedAttempt { try write(attempt, of: ns) }
    if let (revision, leaves) = maintenance.checkpointLeaves { try write(leaves, at: revision, in: ns) }
    if let checkpoint = maintenance.checkpoint { try write(checkpoint, of: ns) }
    for account in maintenance.serviceAccounts { try write(account) }
    if let pruning = maintenance.pruning { try carryOut(pruning, in: ns) }
    if let erasing = maintenance.erasing { try carryOut(erasing, in: ns) }
    if !maintenance.linkCounts.isEmpty { try write(maintenance.linkCounts, of: ns) }
  }

  private func statement(_ sql: String) throws(StorageError) -> SQLiteStatement {
    try SQLiteStatement(sql, on: connection, isKept: false)
  }

  private func write(_ items: [ReplayItem], of replay: Int64, in ns: NamespaceID) throws(StorageError) {
    let insert = try statement(
      "INSERT OR IGNORE INTO replay_item (ns, replay, epoch, revision, path, function) VALUES (?, ?, ?, ?, ?, ?)")
    for item in items {
      try insert.bind(ns.rawValue).bind(replay).bind(item.event.epoch).bind(item.event.revision.rawValue)
        .bind(item.event.path.bytes).bind(item.function).run()
    }
  }

  private func write(_ invocation: InvocationRecord, of ns: NamespaceID) throws(StorageError) {
    try statement(
      """
      INSERT INTO invocation (ns, id, function, path, before, after, acting_as, actor, reason, time)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).bind(ns.rawValue).bind(invocation.id).bind(invocation.function).bind(PathBytes(invocation.path).bytes)
      .bind(Self.text(invocation.before.jsonValue(.export))).bind(Self.text(invocation.after.jsonValue(.export)))
      .bind(invocation.actingAs.description).bind(invocation.actor.description).bind(invocation.reason)
      .bind(invocation.time).run()
  }

  private func write(_ attempt: FailedAttempt, of ns: NamespaceID) throws(StorageError) {
    try statement(
      """
      INSERT OR REPLACE INTO failed_attempt
      (ns, epoch, revision, path, function, finished_at, attempt, started_at, error, settings)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).bind(ns.rawValue).bind(attempt.event.epoch).bind(attempt.event.revision.rawValue).bind(attempt.event.path.bytes)
      .bind(attempt.function).bind(attempt.finishedAt).bind(Int64(attempt.attempt)).bind(attempt.startedAt)
      .bind(attempt.error).bind(attempt.settings).run()
  }

  private func write(_ leaves: [Leaf], at revision: Revision, in ns: NamespaceID) throws(StorageError) {
    let insert = try statement("INSERT OR REPLACE INTO checkpoint_leaf (ns, revision, path, value) VALUES (?, ?, ?, ?)")
    for leaf in leaves {
      try insert.bind(ns.rawValue).bind(revision.rawValue).bind(leaf.path.bytes)
        .bind(leaf.scalar.storedBytes, upTo: LongValue.leafBytesMax).run()
    }
  }

  private func write(_ checkpoint: CheckpointRecord, of ns: NamespaceID) throws(StorageError) {
    try statement(
      """
      INSERT OR REPLACE INTO checkpoint
      (ns, revision, commit_time, commit_hash, tree_hash, leaves, actor, reason, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).bind(ns.rawValue).bind(checkpoint.revision.rawValue).bind(checkpoint.commitTime).bind(checkpoint.commitHash)
      .bind(checkpoint.treeHash).bind(checkpoint.leafCount).bind(checkpoint.actor.description).bind(checkpoint.reason)
      .bind(checkpoint.createdAt).run()
    try statement("UPDATE namespace SET pruned_revision = ? WHERE id = ?").bind(checkpoint.revision.rawValue)
      .bind(ns.rawValue).run()
  }

  private func carryOut(_ pruning: Maintenance.Pruning, in ns: NamespaceID) throws(StorageError) {
    switch pruning {
    case .clearLeaves(let revision):
      try statement("DELETE FROM checkpoint_leaf WHERE ns = ? AND revision <> ?").bind(ns.rawValue).bind(revision.rawValue)
        .run()
    case .forgetChanges(let first, let last):
      try statement(
        """
        UPDATE commit_log SET changes = NULL WHERE ns = ? AND revision > ? AND revision <= ? AND changes IS NOT NULL
        """
      )
      .bind(ns.rawValue).bind(first.rawValue).bind(last.rawValue).run()
    case .forgetHistory(let last):
      // Whole generations only; what is left of one that reaches further is not read any more.
      try statement("DELETE FROM history WHERE ns = ? AND generation <= ?").bind(ns.rawValue).bind(last.rawValue).run()
    }
  }

  private static func text(_ json: JSON) -> String {
    var writer = JSONWriter()
    writer.write(json)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// The steps of the erasure of a player: see StorageCore's page *Commit records*.
extension SQLiteWriteSession {
  /// Whether the batch erases something: then SQLite overwrites what it removes, which it otherwise only gives free.
  var isErasing: Bool { batch.overlays.values.contains { $0.rows.maintenance.rows.contains { $0.erasing != nil } } }

  func carryOut(_ erasing: Maintenance.Erasing, in ns: NamespaceID) throws(StorageError) {
    switch erasing {
    case .rows: return
    case .account(let uid, let addresses): try eraseAccount(uid, addresses: addresses, in: ns)
    case .changes(let revisions, let places, let order):
      for revision in revisions { try erase(places, fromCommit: revision, order: order, in: ns) }
    case .past(let place, let last): try erasePast(below: place, through: last, in: ns)
    case .answers(let revisions, let answer):
      let list = revisions.map { String($0.rawValue) }.joined(separator: ",")
      try erasingStatement("UPDATE idempotency SET answer = ? WHERE ns = ? AND revision IN (\(list))").bind(answer)
        .bind(ns.rawValue).run()
    case .checkpoint(let revision, let places, let treeHash, let leafCount):
      for place in places {
        let range = PathRange(subtree: place)
        // Of all revisions: a pruning that was cut off leaves some that are no checkpoint's.
        try erasingStatement("DELETE FROM checkpoint_leaf WHERE ns = ? AND path >= ? AND path < ?")
          .bind(ns.rawValue).bind(range.lower).bind(range.upper).run()
      }
      try erasingStatement("UPDATE checkpoint SET tree_hash = ?, leaves = ? WHERE ns = ? AND revision = ?")
        .bind(treeHash).bind(leafCount).bind(ns.rawValue).bind(revision.rawValue).run()
    }
  }

  /// Rare as erasures are, their statements are prepared when they are needed.
  private func erasingStatement(_ sql: String) throws(StorageError) -> SQLiteStatement {
    try SQLiteStatement(sql, on: connection, isKept: false)
  }

  private func eraseAccount(_ uid: String, addresses: [String], in ns: NamespaceID) throws(StorageError) {
    try erasingStatement("UPDATE refresh_token SET claims = NULL WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid).run()
    try erasingStatement("DELETE FROM account_code WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid).run()
    for address in addresses {
      try erasingStatement("DELETE FROM account_code WHERE ns = ? AND (email = ? OR new_email = ?)").bind(ns.rawValue)
        .bind(address).bind(address).run()
    }
  }

  /// Writes a payload again without what lies below the places. One that was pruned, or treated before, is left alone.
  private func erase(_ places: [PathBytes], fromCommit revision: Revision, order: Revision, in ns: NamespaceID)
    throws(StorageError)
  {
    guard let commit = try connection.commit(ns, at: revision), let changes = commit.changes,
      !commit.erased.contains(where: { $0.order == order })
    else { return }
    let left = changes.filter { change in !places.contains { $0.contains(change.path) } }
    guard left.count < changes.count else { return }
    let hit = places.filter { place in changes.contains { place.contains($0.path) } }
    let part = ErasedPart(order: order, paths: hit, digest: CommitRecord.digest(of: left))
    try erasingStatement("UPDATE commit_log SET changes = ? WHERE ns = ? AND revision = ?")
      .bind(LeafChangeList.encode(left, without: commit.erased + [part]), upTo: LongValue.recordBytesMax).bind(ns.rawValue)
      .bind(revision.rawValue).run()
  }

  private func erasePast(below place: PathBytes, through last: Revision, in ns: NamespaceID) throws(StorageError) {
    let range = PathRange(subtree: place)
    // A generation that is half in the table is written again from its beginning, without the rows that go.
    history.erase(range, through: last.rawValue, in: ns)
    if historyRows[ns] != nil { historyRows[ns] = 0 }
    let watermark = try connection.watermark(ns).history
    try connection.execute(
      "DELETE FROM history WHERE ns = \(ns.rawValue) AND generation > \(watermark) AND generation < \(HistoryRun.mergedNames)")
    for run in try HistoryRunRow.all(on: connection) where run.ns == ns.rawValue {
      try erasingStatement(
        "DELETE FROM history WHERE ns = ? AND generation = ? AND path >= ? AND path < ? AND revision <= ?"
      ).bind(ns.rawValue).bind(run.run.generation).bind(range.lower).bind(range.upper).bind(last.rawValue).run()
    }
    // A merge that is under way has read rows ahead: it sees by this number that it must start again.
    try connection.setMeta(.historyErasures, to: (try connection.meta(.historyErasures) ?? 0) + 1)
    for change in ["failed_attempt SET error = 'erased'", "invocation SET before = 'null', after = 'null'"] {
      try erasingStatement("UPDATE \(change) WHERE ns = ? AND path >= ? AND path < ?").bind(ns.rawValue).bind(range.lower)
        .bind(range.upper).run()
    }
  }
}
