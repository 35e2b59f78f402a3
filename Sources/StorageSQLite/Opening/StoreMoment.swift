internal import CSQLite
public import StorageCore
internal import TreeModel

/// A moment that a restored store is brought back to.
public enum StoreMoment: Sendable, Hashable {
  /// The state after a commit of a namespace (nil: of the only one); other namespaces go back to the same time.
  case revision(Revision, namespace: String?)
  /// The state after the last commit that was not later, in milliseconds since 1970.
  case time(Int64)
}

/// Brings a store back to a moment: what was committed after it is taken out, as if it had not happened.
///
/// The tree, the log, the ledger, events, what functions did about them, the outbox and answers to repeated requests follow
/// from the log, and go back with it. An event whose function ended after the moment is pending again, and runs once: its
/// effect and its entries are gone. What has no past stays as it is in the backup: accounts, sessions, links, invitations,
/// rules, the audit log, and the state of pause of functions.
///
/// For a copy that nobody else has open, in one transaction.
struct StoreRewind {
  let connection: SQLiteConnection
  /// Kinds of keyed records that are made again from the tree.
  let derivedKinds: [String]

  /// Where one namespace goes back to.
  struct Cut {
    let ns: Int64
    let revision: Int64
    /// Of the commit that stays last, in milliseconds since 1970.
    let time: Int64
    let pruned: Int64
  }

  /// - Throws: `StorageError.Code.unsuitable` for a moment that the store does not know, or cannot be brought back to.
  func run(to moment: StoreMoment) throws(StorageError) {
    guard try connection.meta(.schemaVersion) == Int64(SchemaScript.version) else {
      throw StorageError(
        .unsuitable,
        "The backup is of an older version of Doubloon: restore all of it, start a server on it, back up again, and bring that "
          + "back to the moment.")
    }
    let cuts = try self.cuts(moment)
    connection.digests = try RowDigests.follow(connection)
    try connection.inTransaction { () throws(StorageError) in
      try connection.execute("CREATE TEMP TABLE rewound (path BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID")
      for cut in cuts { try take(cut) }
      try clampFunctions(cuts)
      try connection.execute("DROP TABLE temp.rewound")
    }
  }

  // MARK: Which moment

  private func cuts(_ moment: StoreMoment) throws(StorageError) -> [Cut] {
    let namespaces = try connection.namespaces()
    var time: Int64
    var exact: (ns: NamespaceID, revision: Int64)?
    switch moment {
    case .time(let value): time = value
    case .revision(let revision, let name):
      let meant = namespaces.filter { name == nil || $0.name == name }
      guard meant.count == 1, let namespace = meant.first else {
        let names = namespaces.map(\.name).sorted().joined(separator: ", ")
        throw StorageError(
          .unsuitable, "Name the namespace whose revision is meant with --ns. The backup has \(names.isEmpty ? "none" : names)."
        )
      }
      let head = try connection.lastRevision(namespace.id)
      guard (0...head).contains(revision.rawValue) else {
        throw StorageError(.unsuitable, "\(namespace.name) has no revision \(revision) in the backup; its last is \(head).")
      }
      exact = (namespace.id, revision.rawValue)
      time = try commitTime(namespace.id, at: revision.rawValue) ?? namespace.createdAt
    }
    var cuts: [Cut] = []
    for namespace in namespaces {
      let revision = exact?.ns == namespace.id ? exact?.revision ?? 0 : try connection.revision(namespace.id, at: time)
      guard try revision < connection.lastRevision(namespace.id) else { continue }
      let pruned = try connection.watermark(namespace.id).pruned
      guard revision >= pruned else {
        throw StorageError(
          .unsuitable,
          "The log of \(namespace.name) was pruned up to revision \(pruned): the store cannot be brought back to revision "
            + "\(revision). Take an older backup.")
      }
      // Before the first commit nothing had happened.
      let last = try commitTime(namespace.id, at: revision) ?? .min
      cuts.append(Cut(ns: namespace.id.rawValue, revision: revision, time: last, pruned: pruned))
    }
    return cuts
  }

  private func commitTime(_ ns: NamespaceID, at revision: Int64) throws(StorageError) -> Int64? {
    try connection.commit(ns, at: Revision(revision))?.time
  }

  // MARK: One namespace

  private func take(_ cut: Cut) throws(StorageError) {
    try throwIfReplaying(cut)
    try rewindTree(cut)
    try markRevisions(cut)
    try rewindLedger(cut)
    try rewindOutbox(cut)
    try rewindFunctions(cut)
    let (ns, revision, time) = (cut.ns, cut.revision, cut.time)
    try connection.execute(
      """
      DELETE FROM commit_log WHERE ns = \(ns) AND revision > \(revision);
      DELETE FROM event WHERE ns = \(ns) AND revision > \(revision);
      DELETE FROM idempotency WHERE ns = \(ns) AND revision > \(revision);
      DELETE FROM replay_item WHERE ns = \(ns) AND epoch > 0 AND revision > \(revision);
      DELETE FROM replay_item WHERE ns = \(ns) AND replay IN (SELECT id FROM replay WHERE ns = \(ns) AND created_at >= \(time));
      DELETE FROM replay WHERE ns = \(ns) AND created_at >= \(time);
      DELETE FROM invocation WHERE ns = \(ns) AND time >= \(time);
      -- Both are made again: the past from the log, the places of indexes from the tree.
      DELETE FROM history WHERE ns = \(ns);
      DELETE FROM history_run WHERE ns = \(ns);
      UPDATE namespace SET history_revision = pruned_revision WHERE id = \(ns);
      DELETE FROM index_place WHERE ns = \(ns);
      UPDATE tree_index SET state = 'building', cursor = NULL, child_count = 0 WHERE ns = \(ns) AND state <> 'dropping';
      """)
    for kind in derivedKinds {
      try SQLiteStatement("DELETE FROM room_record WHERE ns = ? AND kind = ?", on: connection, isKept: false)
        .bind(ns).bind(kind).run()
    }
  }

  private func throwIfReplaying(_ cut: Cut) throws(StorageError) {
    let running = try connection.texts(
      "SELECT id FROM replay WHERE ns = \(cut.ns) AND state IN ('running', 'paused') AND created_at < \(cut.time)")
    guard let id = running.first else { return }
    throw StorageError(
      .unsuitable,
      "Replay \(id) was not at its end when the backup was made, and cannot go on from an earlier moment. Restore the whole "
        + "backup, end the replay, and back up again.")
  }

  /// Puts back what each later commit has replaced, the last first.
  private func rewindTree(_ cut: Cut) throws(StorageError) {
    try connection.execute("DELETE FROM temp.rewound")
    let put = try SQLiteStatement(
      "INSERT OR REPLACE INTO node (ns, path, revision, value) VALUES (?, ?, ?, ?)", on: connection, isKept: false)
    let remove = try SQLiteStatement("DELETE FROM node WHERE ns = ? AND path = ?", on: connection, isKept: false)
    let note = try SQLiteStatement("INSERT OR IGNORE INTO temp.rewound (path) VALUES (?)", on: connection, isKept: false)
    try forEachCommitBackwards(cut.ns, where: "revision > \(cut.revision)") { commit throws(StorageError) in
      guard ErasureSeal.sealed(by: commit) == nil, let changes = commit.changes else {
        throw StorageError(
          .unsuitable,
          "Commit \(commit.revision) erased a player, or its changes were forgotten: the store cannot be brought back to before "
            + "it. Name a later moment.")
      }
      for change in changes {
        if let before = change.before {
          try put.bind(cut.ns).bind(change.path.bytes).bind(cut.pruned)
            .bind(before.storedBytes, upTo: LongValue.leafBytesMax).run()
        } else {
          try remove.bind(cut.ns).bind(change.path.bytes).run()
        }
        try note.bind(change.path.bytes).run()
      }
      return true
    }
  }

  /// Finds out which commit wrote each value that was put back; those from before the pruning keep the checkpoint's revision.
  private func markRevisions(_ cut: Cut) throws(StorageError) {
    try connection.execute(
      "DELETE FROM temp.rewound WHERE path NOT IN (SELECT path FROM node WHERE ns = \(cut.ns))")
    var left = try connection.texts("SELECT count(*) FROM temp.rewound").first.flatMap { Int64($0) } ?? 0
    let found = try SQLiteStatement("DELETE FROM temp.rewound WHERE path = ?", on: connection, isKept: false)
    let mark = try SQLiteStatement("UPDATE node SET revision = ? WHERE ns = ? AND path = ?", on: connection, isKept: false)
    try forEachCommitBackwards(cut.ns, where: "revision <= \(cut.revision) AND revision > \(cut.pruned)") {
      commit throws(StorageError) in
      for change in commit.changes ?? [] {
        try found.bind(change.path.bytes).run()
        guard sqlite3_changes(connection.handle) > 0 else { continue }
        try mark.bind(commit.revision.rawValue).bind(cut.ns).bind(change.path.bytes).run()
        left -= 1
      }
      return left > 0
    }
  }

  private func forEachCommitBackwards(
    _ ns: Int64, where condition: String, _ body: (CommitRecord) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let rows = try SQLiteStatement(
      "SELECT \(SQL.commitColumns) FROM commit_log WHERE ns = \(ns) AND \(condition) ORDER BY revision DESC",
      on: connection, isKept: false)
    defer { rows.reset() }
    while try rows.step() {
      guard try body(connection.readCommit(rows)) else { return }
    }
  }
}

extension StoreRewind {
  /// Entries are a chain: its end goes, and what they moved goes back on the accounts that only the ledger keeps.
  private func rewindLedger(_ cut: Cut) throws(StorageError) {
    let (ns, later) = (cut.ns, "ns = \(cut.ns) AND revision > \(cut.revision)")
    try connection.execute(
      """
      CREATE TEMP TABLE moved AS SELECT account, unit, sum(amount) AS amount FROM (
        SELECT debit AS account, unit, amount FROM ledger_entry WHERE \(later)
        UNION ALL SELECT credit, unit, -amount FROM ledger_entry WHERE \(later)) GROUP BY account, unit;
      CREATE INDEX temp.moved_key ON moved (account, unit);
      DELETE FROM ledger_posting WHERE ns = \(ns) AND sequence IN (SELECT sequence FROM ledger_entry WHERE \(later));
      DELETE FROM ledger_entry WHERE \(later);
      UPDATE ledger_balance SET balance = balance + (
        SELECT amount FROM moved WHERE moved.account = ledger_balance.account AND moved.unit = ledger_balance.unit)
      WHERE ns = \(ns) AND (account, unit) IN (SELECT account, unit FROM moved);
      DELETE FROM ledger_balance WHERE ns = \(ns) AND (account, unit) IN (SELECT account, unit FROM moved) AND NOT EXISTS (
        SELECT 1 FROM ledger_posting JOIN ledger_entry USING (ns, sequence) WHERE ledger_posting.ns = \(ns)
        AND ledger_posting.account = ledger_balance.account AND ledger_entry.unit = ledger_balance.unit);
      DROP TABLE temp.moved;
      """)
  }

  /// What a later commit wanted to be sent goes; what was delivered since stays delivered.
  private func rewindOutbox(_ cut: Cut) throws(StorageError) {
    let rows = try SQLiteStatement(
      "SELECT key, cause, created_at FROM outbox WHERE ns = \(cut.ns)", on: connection, isKept: false)
    let sent = try rows.all { row throws(StorageError) in
      (key: try row.text(0), cause: row.isNull(1) ? nil : try Cause(stored: row.raw(1)), time: row.int(2))
    }
    let remove = try SQLiteStatement("DELETE FROM outbox WHERE ns = ? AND key = ?", on: connection, isKept: false)
    for message in sent {
      let execution = try message.cause.flatMap { cause throws(StorageError) in
        try connection.execution(NamespaceID(rawValue: cut.ns), of: cause.event, by: cause.function)
      }
      let isLater = execution?.effect.map { $0.rawValue > cut.revision } ?? (message.time > cut.time)
      if isLater { try remove.bind(cut.ns).bind(message.key).run() }
    }
  }

  /// What functions did after the moment is not done yet: their events are looked through again from the first of them on.
  private func rewindFunctions(_ cut: Cut) throws(StorageError) {
    let (ns, revision, time) = (cut.ns, cut.revision, cut.time)
    // One that did nothing has no commit: its time tells, and in the same millisecond it is done once more.
    let executions = "ns = \(ns) AND (effect > \(revision) OR (effect IS NULL AND finished_at >= \(time)))"
    let deliveries = "ns = \(ns) AND updated_at >= \(time)"
    let open = "epoch > 0 AND revision <= \(revision)"
    try connection.execute(
      """
      UPDATE namespace SET settled_revision = min(settled_revision, \(revision), coalesce((SELECT min(revision) - 1 FROM (
        SELECT revision FROM execution WHERE \(executions) AND \(open)
        UNION ALL SELECT revision FROM delivery WHERE \(deliveries) AND \(open))), \(revision))) WHERE id = \(ns);
      DELETE FROM execution WHERE \(executions);
      DELETE FROM execution WHERE ns = \(ns) AND epoch > 0 AND revision > \(revision);
      DELETE FROM delivery WHERE \(deliveries);
      DELETE FROM delivery WHERE ns = \(ns) AND epoch > 0 AND revision > \(revision);
      DELETE FROM failed_attempt WHERE ns = \(ns) AND (finished_at >= \(time) OR (epoch > 0 AND revision > \(revision)));
      """)
  }

  /// A function that was registered later must not wait for revisions that come again.
  private func clampFunctions(_ cuts: [Cut]) throws(StorageError) {
    let revisions = Dictionary(cuts.map { (NamespaceID(rawValue: $0.ns), $0.revision) }) { $1 }
    let put = try SQLiteStatement("UPDATE function SET since = ? WHERE name = ?", on: connection, isKept: false)
    for function in try connection.functions() {
      let since = function.since.map { namespace, revision in
        (namespace.rawValue, min(revision.rawValue, revisions[namespace] ?? .max))
      }
      let text = since.sorted { $0.0 < $1.0 }.map { "\($0.0):\($0.1)" }.joined(separator: ",")
      try put.bind(text).bind(function.name).run()
    }
  }
}
