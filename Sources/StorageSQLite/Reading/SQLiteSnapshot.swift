internal import RewardModel
internal import StorageCore
internal import TreeModel

/// A look at the store: one reader connection inside one read transaction.
///
/// The connection is taken and the transaction begun with the first question, because `StorageEngine.read(_:)` itself
/// cannot fail. SQLite fixes what the transaction sees at its first SELECT.
final class SQLiteSnapshot: Snapshot {
  let epoch: Int64
  let history: HistoryMemory
  private let pool: ReaderPool
  private var connection: SQLiteConnection?
  private var isFinished = false

  init(epoch: Int64, history: HistoryMemory, pool: ReaderPool) {
    self.epoch = epoch
    self.history = history
    self.pool = pool
  }

  /// Ends the look. A snapshot that left its closure traps at the next question.
  func finish() {
    isFinished = true
    guard let connection else { return }
    self.connection = nil
    do {
      try connection.statement(.commit).run()
      pool.give(connection)
    } catch {
      // Nothing was written; a connection that cannot even end a read is not worth keeping.
      connection.close()
    }
  }

  var db: SQLiteConnection {
    get throws(StorageError) {
      if let connection { return connection }
      precondition(!isFinished, "A snapshot must not leave the closure of read(_:).")
      let connection = try pool.take()
      do {
        try connection.statement(.begin).run()
      } catch {
        connection.close()
        throw error
      }
      self.connection = connection
      return connection
    }
  }

  // MARK: The tree

  func leaves(in namespace: NamespaceID, under path: PathBytes, limit: Int) throws(StorageError) -> [StoredLeaf] {
    try db.leaves(namespace, in: PathRange(subtree: path), limit: limit)
  }

  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  {
    try db.leaves(namespace, in: PathRange(lower: lower.bytes, upper: upper.bytes), limit: limit)
  }

  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int, bytesMax: Int)
    throws(StorageError) -> [StoredLeaf]
  {
    var bytes = 0
    return try db.statement(.leavesAscending).bind(namespace.rawValue).bind(lower.bytes).bind(upper.bytes)
      .all(limit: limit, until: { bytes > bytesMax }) { row throws(StorageError) in
        let leaf = try SQLiteConnection.leaf(row)
        bytes += leaf.leaf.bytes
        return leaf
      }
  }

  func leaf(in namespace: NamespaceID, at path: PathBytes) throws(StorageError) -> StoredLeaf? {
    try db.leaf(namespace, at: path)
  }

  func lastPath(in namespace: NamespaceID, before path: PathBytes) throws(StorageError) -> PathBytes? {
    try db.lastPath(namespace, before: path)
  }

  func children(in namespace: NamespaceID, of path: PathBytes, after key: Key?, limit: Int) throws(StorageError) -> [Key] {
    let end = path.subtreeEnd?.bytes ?? PathRange.end
    // Children begin above the mark of the node's own priority.
    var lower = key.flatMap { path.child($0).subtreeEnd?.bytes } ?? path.priority.subtreeEnd?.bytes ?? end
    var keys: [Key] = []
    while keys.count < limit, let found = try db.firstPath(namespace, in: PathRange(lower: lower, upper: end)) {
      guard let key = found.key(at: path.bytes.count)?.key, let next = path.child(key).subtreeEnd else {
        throw try db.damaged("a path")
      }
      keys.append(key)
      lower = next.bytes
    }
    return keys
  }

  // MARK: The logs

  func namespaces() throws(StorageError) -> [NamespaceRecord] {
    try db.namespaces()
  }

  func settledRevision(of namespace: NamespaceID) throws(StorageError) -> Revision {
    try db.settledRevision(namespace)
  }

  func head(of namespace: NamespaceID) throws(StorageError) -> NamespaceHead {
    try db.head(namespace)
  }

  func commit(in namespace: NamespaceID, at revision: Revision) throws(StorageError) -> CommitRecord? {
    try db.commit(namespace, at: revision)
  }

  func commits(in namespace: NamespaceID, after revision: Revision, limit: Int) throws(StorageError) -> [CommitRecord] {
    try db.commits(namespace, after: revision.rawValue, limit: limit)
  }

  func events(in namespace: NamespaceID, after position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord] {
    try db.events(namespace, after: position, limit: limit)
  }

  func events(in namespace: NamespaceID, before position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord] {
    try db.events(namespace, before: position, limit: limit)
  }

  func event(in namespace: NamespaceID, id: EventID) throws(StorageError) -> EventRecord? {
    try db.event(namespace, id: id)
  }
}
