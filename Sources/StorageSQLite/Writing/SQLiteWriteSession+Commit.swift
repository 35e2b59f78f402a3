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
      for (ns, overlay) in batch.overlays where !overlay.rows.commits.isEmpty && !batch.removed.contains(ns) {
        try history.publish(overlay.rows.commits.rows, in: ns, reading: connection)
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
      // The journal works on it while the copy takes it in.
      try connection.recorder?.record()
      gate.willWrite()
      try faults?.check(.beforeCommit)
      try connection.statement(.commit).run()
      if let digests = connection.digests { log.didCommit(transactions: digests.transactions) }
      if isErasing { try connection.execute("PRAGMA secure_delete = 0") }
      takeOver(finished: finished)
    } catch {
      // The rollback's own result says nothing more: the session is over either way.
      if connection.isInTransaction { try? connection.statement(.rollback).run() }
      connection.recorder?.forget()
      // Nobody will flush it, and nobody can see it.
      gate.didFlush()
      throw fail(error)
    }
  }

  /// What became true with the commit.
  private func takeOver(finished: [NamespaceID]) {
    heads.merge(batch.heads.rows) { $1 }
    for ns in finished { history.complete(ns) }
    for (ns, overlay) in batch.overlays {
      for case let checkpoint? in overlay.rows.maintenance.rows.map(\.checkpoint) {
        history.prune(ns, through: checkpoint.revision.rawValue)
      }
    }
    for record in batch.created { names[ExactText(record.name)] = record.id }
    nextNamespace += Int64(batch.created.count)
    nextAudit += Int64(batch.audits.rows.count)
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
      for table in SQL.namespaceTables { try connection.execute("DELETE FROM \(table) WHERE ns = \(ns.rawValue)") }
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
    for (_, record) in batch.functions.sorted() { try write(record) }
    for (offset, record) in batch.audits.rows.enumerated() {
      let position = nextAudit + Int64(offset)
      try connection.statement(.putAudit).bind(position).bind(record.time).bind(record.actor.description)
        .bind(record.action).bind(record.detail).bind(record.result).run()
      lastAuditHash = record.chainHash(position: position, previous: lastAuditHash)
      try connection.statement(.putAuditHash).bind(position).bind(lastAuditHash).run()
    }
  }

  private func write(_ overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    // A namespace that was removed in this batch takes nothing with it.
    guard !batch.removed.contains(ns) else { return }
    let paths = overlay.rows.leaves.paths()
    let rows = overlay.rows
    for path in paths {
      guard let pending = rows.leaves[path] else { continue }
      try write(pending, at: path, of: ns)
    }
    for commit in rows.commits.rows { try write(commit) }
    for event in rows.events.rows { try write(event) }
    for (_, execution) in rows.executions.sorted() { try write(execution, of: ns) }
    for (key, delivery) in rows.deliveries.sorted() { try write(delivery, at: key, of: ns) }
    for entry in rows.entries.rows { try write(entry, of: ns) }
    try writePostings(of: overlay, of: ns)
    for (key, balance) in rows.balances.sorted() {
      try connection.statement(.putBalance).bind(ns.rawValue).bind(key.account.text).bind(key.unit.text).bind(balance).run()
    }
    for (_, record) in rows.outbox.sorted() { try write(record, of: ns) }
    for (_, record) in rows.idempotency.sorted() { try write(record, of: ns) }
    try writeIndexes(of: overlay, of: ns)
    if !rows.accountRows.isEmpty { try writeAccountRows(of: overlay, of: ns) }
    for maintenance in rows.maintenance.rows { try write(maintenance, of: ns) }
    if !rows.keyedRecords.isEmpty { try writeRecords(of: overlay, of: ns) }
    if let revision = rows.settledRevisions.rows.last {
      try connection.statement(.setSettledRevision).bind(revision.rawValue).bind(ns.rawValue).run()
    }
  }
}

/// The history, written behind the commits.
extension SQLiteWriteSession {
  /// Writes a slice of each waiting generation; returns the namespaces whose oldest one is complete with it.
  func writeHistory() throws(StorageError) -> [NamespaceID] {
    for (ns, overlay) in batch.overlays where !overlay.rows.commits.isEmpty && !batch.removed.contains(ns) {
      history.freeze(ns, from: history.limits.generationChanges)
      if historyRows[ns] == nil, history.oldestFrozen(ns) != nil { historyRows[ns] = 0 }
    }
    guard !historyRows.isEmpty else { return [] }
    let changes = batch.overlays.values.reduce(0) { $0 + $1.rows.commits.rows.reduce(0) { $0 + ($1.changes?.count ?? 0) } }
    var finished: [NamespaceID] = []
    for ns in historyRows.keys.sorted(by: { $0.rawValue < $1.rawValue }) where !batch.removed.contains(ns) {
      // A generation may be many small changes and wait before few large ones.
      let rows = history.isOverfull(ns) ? .max / 2 : history.limits.sliceRows + 2 * changes
      if try writeSlice(of: ns, rows: rows) { finished.append(ns) }
    }
    return finished
  }

  /// Writes the next rows of a namespace's oldest generation; true if it is complete.
  func writeSlice(of ns: NamespaceID, rows: Int) throws(StorageError) -> Bool {
    guard let generation = history.oldestFrozen(ns) else {
      historyRows[ns] = nil
      return false
    }
    let start = historyRows[ns] ?? 0
    let end = min(start + rows, generation.count)
    try write(generation, rows: start..<end, of: ns)
    historyRows[ns] = end
    guard end == generation.count else { return false }
    try list(generation, after: history.start(ns), of: ns)
    // Whether another generation waits is seen by the next batch.
    historyRows[ns] = nil
    return true
  }

  private func write(_ generation: HistoryGeneration, rows: Range<Int>, of ns: NamespaceID) throws(StorageError) {
    for index in rows {
      let row = generation.row(index)
      var before = ByteWriter(capacity: 16)
      before.write(scalar: row.before)
      try connection.statement(.putHistory).bind(ns.rawValue).bind(generation.last).bind(row.path.bytes).bind(row.revision)
        .bind(before.bytes, upTo: LongValue.leafBytesMax).run()
    }
  }

  /// Says that all rows of a generation are there.
  private func list(_ generation: HistoryGeneration, after start: Int64, of ns: NamespaceID) throws(StorageError) {
    try connection.statement(.putHistoryRun).bind(ns.rawValue).bind(generation.last).bind(start).bind(generation.last).bind(0)
      .bind(HistoryRun.State.whole.rawValue).run()
    try connection.statement(.setWatermark).bind(generation.last).bind(ns.rawValue).run()
  }

  // MARK: At the start

  /// Removes the rows of generations that a process which died did not finish: they lie beyond the watermark.
  func removeUnfinishedHistory() throws(StorageError) {
    for namespace in try connection.namespaces() {
      let watermark = try connection.watermark(namespace.id).history
      let rest =
        "FROM history WHERE ns = \(namespace.id.rawValue) AND generation > \(watermark) AND generation < \(HistoryRun.mergedNames)"
      guard try !connection.texts("SELECT 1 \(rest) LIMIT 1").isEmpty else { continue }
      try connection.inTransaction { () throws(StorageError) in try connection.execute("DELETE \(rest)") }
    }
  }

  /// Bytes of a change in the log, of one leaf with a short path.
  private static let usualChangeBytes: Int64 = 64

  /// Writes the older part of a long tail of the log: what processes have left that died, one after the other, before they
  /// had written a generation. Else each of them would have to read more than the one before it.
  ///
  /// One that died in full work has left up to two generations; that much is read, and written behind the writer as always.
  func catchUpHistory() throws(StorageError) {
    let usual = Int64(history.limits.generationChanges)
    // What somebody has read into memory already goes the usual way: runs must not overlap.
    let known = history.namespaces
    for ns in try connection.namespaces().map(\.id) where !known.contains(ns) {
      let (watermark, pruned) = try connection.watermark(ns)
      let start = max(watermark, pruned)
      let tail = try connection.tail(ns, after: start)
      guard tail.commits > 2 * usual || tail.bytes > 2 * usual * Self.usualChangeBytes else { continue }
      do throws(StorageError) {
        try writeOldGenerations(of: ns, after: start)
      } catch {
        // A reader who needs this namespace's past is told; others are not to wait for it.
        guard error.code == .unreadable else { throw error }
      }
    }
  }

  /// Writes whole generations, but for the last two.
  private func writeOldGenerations(of ns: NamespaceID, after first: Int64) throws(StorageError) {
    var start = first
    var ahead: [HistoryGeneration] = []
    while let next = try history.generation(ns, after: ahead.last?.last ?? start, from: connection) {
      ahead.append(next)
      guard ahead.count > 2 else { continue }
      let oldest = ahead.removeFirst()
      try connection.inTransaction { () throws(StorageError) in
        try write(oldest, rows: 0..<oldest.count, of: ns)
        try list(oldest, after: start, of: ns)
      }
      start = oldest.last
    }
  }

  // MARK: At the end

  /// Writes what the next process would otherwise have to read from the commit log. For closing; without it nothing is
  /// lost, so a failure is nobody's concern. A short tail is left: a table of many small generations is slow to search.
  func writeOutHistory() {
    guard failure == nil, batch.isEmpty, (try? endReading()) != nil else { return }
    for ns in history.namespaces {
      history.freeze(ns, from: max(1, history.limits.generationChanges / 8))
      while history.oldestFrozen(ns) != nil {
        var isComplete = false
        do throws(StorageError) {
          try connection.inTransaction { () throws(StorageError) in isComplete = try writeSlice(of: ns, rows: .max / 2) }
        } catch {
          return
        }
        guard isComplete else { return }
        history.complete(ns)
      }
    }
  }
}
