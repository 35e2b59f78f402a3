internal import StorageCore
internal import TreeModel

extension SQLiteSnapshot {
  func executions(in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws(StorageError) -> [ExecutionRecord] {
    try db.executions(namespace, after: last, limit: limit)
  }

  func firstDeliveryRevision(in namespace: NamespaceID) throws(StorageError) -> Revision? {
    try statement("SELECT revision FROM delivery WHERE ns = ? ORDER BY epoch, revision LIMIT 1").bind(namespace.rawValue)
      .first { row throws(StorageError) in Revision(row.int(0)) }
  }

  func failedAttempts(in namespace: NamespaceID, of event: EventID, limit: Int) throws(StorageError) -> [FailedAttempt] {
    try statement(
      """
      SELECT function, attempt, started_at, finished_at, error, settings FROM failed_attempt
      WHERE ns = ? AND epoch = ? AND revision = ? AND path = ? ORDER BY finished_at, function, attempt
      """
    ).bind(namespace.rawValue).bind(event.epoch).bind(event.revision.rawValue).bind(event.path.bytes).all(limit: limit) {
      row throws(StorageError) in
      FailedAttempt(
        event: event, function: try row.text(0), attempt: Int(row.int(1)), startedAt: row.optionalInt(2),
        finishedAt: row.int(3), error: try row.text(4), settings: try row.optionalText(5))
    }
  }

  func replay(in namespace: NamespaceID, id: Int64) throws(StorageError) -> ReplayRecord? {
    let db = try db
    return try statement("SELECT \(Self.replayColumns) FROM replay WHERE ns = ? AND id = ?").bind(namespace.rawValue).bind(id)
      .first { row throws(StorageError) in try Self.replay(row, db: db) }
  }

  func replays(in namespace: NamespaceID, before id: Int64?, limit: Int) throws(StorageError) -> [ReplayRecord] {
    let db = try db
    return try statement("SELECT \(Self.replayColumns) FROM replay WHERE ns = ? AND id < ? ORDER BY id DESC")
      .bind(namespace.rawValue).bind(id ?? .max).all(limit: limit) { row throws(StorageError) in try Self.replay(row, db: db) }
  }

  func replayItems(in namespace: NamespaceID, of replay: Int64, after last: ReplayItem?, limit: Int) throws(StorageError)
    -> [ReplayItem]
  {
    try statement(
      """
      SELECT epoch, revision, path, function FROM replay_item
      WHERE ns = ? AND replay = ? AND (epoch, revision, path, function) > (?, ?, ?, ?)
      ORDER BY epoch, revision, path, function
      """
    ).bind(namespace.rawValue).bind(replay).bind(last?.event.epoch ?? -1).bind(last?.event.revision.rawValue ?? 0)
      .bind(last?.event.path.bytes ?? []).bind(last?.function ?? "").all(limit: limit) { row throws(StorageError) in
        ReplayItem(
          event: EventID(
            epoch: row.int(0), revision: Revision(row.int(1)), path: PathBytes(bytes: row.bytes(2))),
          function: try row.text(3))
      }
  }

  func invocations(in namespace: NamespaceID, before id: Int64?, limit: Int) throws(StorageError) -> [InvocationRecord] {
    let db = try db
    return try statement(
      """
      SELECT id, function, path, before, after, acting_as, actor, reason, time FROM invocation WHERE ns = ? AND id < ?
      ORDER BY id DESC
      """
    ).bind(namespace.rawValue).bind(id ?? .max).all(limit: limit) { row throws(StorageError) in
      try Self.invocation(row, db: db)
    }
  }

  func prunedRevision(of namespace: NamespaceID) throws(StorageError) -> Revision {
    Revision(try db.watermark(namespace).pruned)
  }

  func checkpoint(of namespace: NamespaceID) throws(StorageError) -> CheckpointRecord? {
    let db = try db
    return try statement(
      """
      SELECT revision, commit_time, commit_hash, tree_hash, leaves, actor, reason, created_at FROM checkpoint WHERE ns = ?
      ORDER BY revision DESC LIMIT 1
      """
    ).bind(namespace.rawValue).first { row throws(StorageError) in
      guard let actor = Actor(try row.text(5)) else { throw db.damaged("a checkpoint's actor") }
      return CheckpointRecord(
        revision: Revision(row.int(0)), commitTime: row.int(1), commitHash: row.bytes(2), treeHash: row.bytes(3),
        leafCount: row.int(4), actor: actor, reason: try row.text(6), createdAt: row.int(7))
    }
  }

  func checkpointLeaves(in namespace: NamespaceID, of revision: Revision, after path: PathBytes?, limit: Int)
    throws(StorageError) -> [Leaf]
  {
    // Nothing is stored at the root itself but its leaf, whose path is empty: a path that is given is excluded.
    try statement(
      "SELECT path, value FROM checkpoint_leaf WHERE ns = ? AND revision = ? AND path \(path == nil ? ">=" : ">") ? ORDER BY path"
    ).bind(namespace.rawValue).bind(revision.rawValue).bind(path?.bytes ?? []).all(limit: limit) { row throws(StorageError) in
      Leaf(path: PathBytes(bytes: row.bytes(0)), scalar: try row.value(1, Scalar.init(stored:)))
    }
  }

  // MARK: Rows

  private func statement(_ sql: String) throws(StorageError) -> SQLiteStatement {
    try SQLiteStatement(sql, on: db, isKept: false)
  }

  private static let replayColumns = "id, state, orders, progress, created_at, updated_at"

  private static func replay(_ row: SQLiteStatement, db: SQLiteConnection) throws(StorageError) -> ReplayRecord {
    guard let order = ReplayOrder(try json(row.text(2), db: db)) else { throw db.damaged("a replay's order") }
    return ReplayRecord(
      id: row.int(0), state: try db.value(row.text(1), "a replay's state"), order: order,
      progress: try json(row.text(3), db: db), createdAt: row.int(4), updatedAt: row.int(5))
  }

  private static func invocation(_ row: SQLiteStatement, db: SQLiteConnection) throws(StorageError) -> InvocationRecord {
    guard let path = PathBytes(bytes: row.bytes(2)).path, let actingAs = Actor(try row.text(5)),
      let actor = Actor(try row.text(6))
    else { throw db.damaged("an invocation") }
    return InvocationRecord(
      id: row.int(0), function: try row.text(1), path: path, before: try node(row.text(3), db: db),
      after: try node(row.text(4), db: db), actingAs: actingAs, actor: actor, reason: try row.text(7), time: row.int(8))
  }

  private static func json(_ text: String, db: SQLiteConnection) throws(StorageError) -> JSON {
    do throws(JSONError) {
      return try JSONParser.parse(text)
    } catch {
      throw db.damaged("a row's JSON")
    }
  }

  private static func node(_ text: String, db: SQLiteConnection) throws(StorageError) -> TreeNode {
    let parsed = try json(text, db: db)
    do throws(WriteDataError) {
      return try TreeNode(json: parsed)
    } catch {
      throw db.damaged("an invocation's value")
    }
  }
}

extension SQLiteConnection {
  /// Executions in the order of their key.
  func executions(_ ns: NamespaceID, after last: ReplayItem?, limit: Int) throws(StorageError) -> [ExecutionRecord] {
    try SQLiteStatement(
      """
      SELECT epoch, revision, path, function, outcome, reason, attempt, started_at, finished_at, effect, settings
      FROM execution WHERE ns = ? AND (epoch, revision, path, function) > (?, ?, ?, ?)
      ORDER BY epoch, revision, path, function
      """, on: self, isKept: false
    ).bind(ns.rawValue).bind(last?.event.epoch ?? -1).bind(last?.event.revision.rawValue ?? 0)
      .bind(last?.event.path.bytes ?? []).bind(last?.function ?? "").all(limit: limit, readExecution)
  }
}
