internal import StorageCore
internal import TreeModel

/// The steps of the erasure of a player: see <doc:CommitRecords>.
extension SQLiteWriteSession {
  /// Whether the batch erases something: then SQLite overwrites what it removes, which it otherwise only gives free.
  var isErasing: Bool { batch.overlays.values.contains { $0.upkeep.contains { $0.erasing != nil } } }

  func carryOut(_ erasing: Upkeep.Erasing, in ns: NamespaceID) throws(StorageError) {
    switch erasing {
    case .rows: return
    case .account(let uid, let addresses): try eraseAccount(uid, addresses, in: ns)
    case .changes(let revisions, let places, let order):
      for revision in revisions { try erase(places, fromCommit: revision, order, in: ns) }
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

  private func eraseAccount(_ uid: String, _ addresses: [String], in ns: NamespaceID) throws(StorageError) {
    try erasingStatement("UPDATE refresh_token SET claims = NULL WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid).run()
    try erasingStatement("DELETE FROM account_code WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid).run()
    for address in addresses {
      try erasingStatement("DELETE FROM account_code WHERE ns = ? AND (email = ? OR new_email = ?)").bind(ns.rawValue)
        .bind(address).bind(address).run()
    }
  }

  /// Writes a payload anew without what lies below the places. One that was pruned, or treated before, is left alone.
  private func erase(_ places: [PathBytes], fromCommit revision: Revision, _ order: Revision, in ns: NamespaceID)
    throws(StorageError)
  {
    guard let commit = try connection.commit(ns, at: revision), let changes = commit.changes,
      !commit.erased.contains(where: { $0.order == order })
    else { return }
    let left = changes.filter { change in !places.contains { $0.contains(change.path) } }
    guard left.count < changes.count else { return }
    let hit = places.filter { place in changes.contains { place.contains($0.path) } }
    let part = ErasedPart(order: order, places: hit, digest: CommitRecord.digest(of: left))
    try erasingStatement("UPDATE commit_log SET changes = ? WHERE ns = ? AND revision = ?")
      .bind(LeafChangeList.encode(left, without: commit.erased + [part])).bind(ns.rawValue).bind(revision.rawValue).run()
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
    // A merge that is under way has read rows ahead: it sees by this number that it must begin anew.
    try connection.setMeta(.historyErasures, to: (try connection.meta(.historyErasures) ?? 0) + 1)
    for change in ["failed_attempt SET error = 'erased'", "invocation SET before = 'null', after = 'null'"] {
      try erasingStatement("UPDATE \(change) WHERE ns = ? AND path >= ? AND path < ?").bind(ns.rawValue).bind(range.lower)
        .bind(range.upper).run()
    }
  }
}
