internal import StorageCore
internal import TreeModel

/// The administrators' rows. They are rare, so their statements are prepared when they are needed.
extension SQLiteWriteSession {
  func put(_ upkeep: Upkeep, in namespace: NamespaceID) {
    batch.overlay(namespace).upkeep.append(upkeep)
    batch.record(.upkeep(namespace))
  }

  func write(_ upkeep: Upkeep, of ns: NamespaceID) throws(StorageError) {
    for event in upkeep.events {
      try statement("INSERT OR IGNORE INTO event (ns, revision, path, epoch, kind, hop) VALUES (?, ?, ?, ?, ?, ?)")
        .bind(ns.rawValue).bind(event.id.revision.rawValue).bind(event.id.path.bytes).bind(event.id.epoch)
        .bind(event.kind.rawValue).bind(Int64(event.hop)).run()
    }
    if let replay = upkeep.replay {
      try statement(
        """
        INSERT OR REPLACE INTO replay (ns, id, state, orders, progress, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        """
      ).bind(ns.rawValue).bind(replay.id).bind(replay.state.rawValue).bind(Self.text(replay.order.json))
        .bind(Self.text(replay.progress)).bind(replay.createdAt).bind(replay.updatedAt).run()
    }
    if let (replay, items) = upkeep.replayItems { try write(items, of: replay, in: ns) }
    if let invocation = upkeep.invocation { try write(invocation, of: ns) }
    if let attempt = upkeep.failedAttempt { try write(attempt, of: ns) }
    if let (revision, leaves) = upkeep.checkpointLeaves { try write(leaves, at: revision, in: ns) }
    if let checkpoint = upkeep.checkpoint { try write(checkpoint, of: ns) }
    for account in upkeep.serviceAccounts { try write(account) }
    if let pruning = upkeep.pruning { try carryOut(pruning, in: ns) }
    if let erasing = upkeep.erasing { try carryOut(erasing, in: ns) }
    if !upkeep.linkCounts.isEmpty { try write(upkeep.linkCounts, of: ns) }
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
      try insert.bind(ns.rawValue).bind(revision.rawValue).bind(leaf.path.bytes).bind(leaf.scalar.storedBytes).run()
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

  private func carryOut(_ pruning: Upkeep.Pruning, in ns: NamespaceID) throws(StorageError) {
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
