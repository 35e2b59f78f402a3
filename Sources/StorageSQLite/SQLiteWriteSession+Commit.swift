internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  /// Writes the batch in one transaction: rows of each table in key order, so that a page is touched once.
  ///
  /// The recent changes are published before COMMIT and the durable state is taken over after it; ``HistoryMemory`` says
  /// why in this order.
  func write() throws(StorageError) {
    if let failure { throw failure }
    guard !batch.isEmpty else {
      // What was taken back may have left places behind.
      batch = Batch()
      return try endReading()
    }
    do {
      for (ns, overlay) in batch.overlays where !overlay.commits.isEmpty && !batch.removed.contains(ns) {
        try history.publish(overlay.commits, in: ns, reading: connection)
      }
      try endReading()
      try connection.statement(.beginImmediate).run()
      try faults?.check(.beforeRows)
      let isErasing = isErasing
      if isErasing { try connection.execute("PRAGMA secure_delete = 1") }
      try writeStore()
      for (ns, overlay) in batch.overlays.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        try write(overlay, of: ns)
      }
      let finished = try writeHistory()
      try connection.digests?.write()
      gate.willWrite()
      try faults?.check(.beforeCommit)
      try connection.statement(.commit).run()
      if let digests = connection.digests { log.didCommit(transactions: digests.transactions) }
      if isErasing { try connection.execute("PRAGMA secure_delete = 0") }
      takeOver(finished: finished)
    } catch {
      // The rollback's own result says nothing more: the session is over either way.
      if connection.isInTransaction { try? connection.statement(.rollback).run() }
      // Nobody will flush it, and nobody can see it.
      gate.didFlush()
      throw fail(error)
    }
  }

  /// What became true with the commit.
  private func takeOver(finished: [NamespaceID]) {
    heads.merge(batch.heads) { $1 }
    for ns in finished { history.complete(ns) }
    for (ns, overlay) in batch.overlays {
      for case let checkpoint? in overlay.upkeep.map(\.checkpoint) { history.prune(ns, through: checkpoint.revision.rawValue) }
    }
    for record in batch.created { names[ExactText(record.name)] = record.id }
    nextNamespace += Int64(batch.created.count)
    nextAudit += Int64(batch.audits.count)
    for ns in batch.removed {
      names = names.filter { $0.value != ns }
      heads[ns] = nil
      historyRows[ns] = nil
      history.remove(ns)
    }
    batch = Batch()
  }

  /// Rows of the whole store.
  private func writeStore() throws(StorageError) {
    for ns in batch.removed {
      for table in Query.namespaceTables { try connection.execute("DELETE FROM \(table) WHERE ns = \(ns.rawValue)") }
      try connection.execute("DELETE FROM namespace WHERE id = \(ns.rawValue)")
    }
    // After the removals: a name may be given again in the same batch.
    for record in batch.created where !batch.removed.contains(record.id) {
      try connection.statement(.putNamespace).bind(record.id.rawValue).bind(record.name).bind(record.createdAt).run()
    }
    if !batch.created.isEmpty {
      try connection.setMeta(.nextNamespace, to: nextNamespace + Int64(batch.created.count))
    }
    if let expiry = batch.idempotencyExpiry { try connection.statement(.expireIdempotency).bind(expiry).run() }
    for (_, record) in batch.functions.sorted(by: { $0.key < $1.key }) { try write(record) }
    for (offset, record) in batch.audits.enumerated() {
      let place = nextAudit + Int64(offset)
      try connection.statement(.putAudit).bind(place).bind(record.time).bind(record.actor.description)
        .bind(record.action).bind(record.detail).bind(record.result).run()
      lastAuditHash = record.chainHash(place: place, previous: lastAuditHash)
      try connection.statement(.putAuditHash).bind(place).bind(lastAuditHash).run()
    }
  }

  private func write(_ overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    // A namespace that was removed in this batch takes nothing with it.
    guard !batch.removed.contains(ns) else { return }
    for path in overlay.paths() {
      guard let pending = overlay.nodes[path], pending.isLive else { continue }
      try write(pending, at: path, of: ns)
    }
    for commit in overlay.commits { try write(commit) }
    for event in overlay.events { try write(event) }
    for (_, execution) in overlay.executions.sorted(by: { $0.key < $1.key }) { try write(execution, of: ns) }
    for (key, delivery) in overlay.deliveries.sorted(by: { $0.key < $1.key }) { try write(delivery, at: key, of: ns) }
    for entry in overlay.entries { try write(entry, of: ns) }
    try writePostings(of: overlay, of: ns)
    for (key, balance) in overlay.balances.sorted(by: { $0.key < $1.key }) {
      try connection.statement(.putBalance).bind(ns.rawValue).bind(key.account.text).bind(key.unit.text).bind(balance).run()
    }
    for (_, record) in overlay.outbox.sorted(by: { $0.key < $1.key }) { try write(record, of: ns) }
    for (_, record) in overlay.idempotency.sorted(by: { $0.key < $1.key }) { try write(record, of: ns) }
    try writeIndexes(of: overlay, of: ns)
    if !overlay.accountRows.isEmpty { try writeAccountRows(of: overlay, of: ns) }
    for upkeep in overlay.upkeep { try write(upkeep, of: ns) }
    if !overlay.records.isEmpty { try writeRecords(of: overlay, of: ns) }
    if let revision = overlay.settledRevision {
      try connection.statement(.setSettledRevision).bind(revision.rawValue).bind(ns.rawValue).run()
    }
  }
}
