internal import CSQLite
internal import StorageCore
internal import TreeModel

extension SQLiteConnection {
  func commit(_ ns: NamespaceID, at revision: Revision) throws(StorageError) -> CommitRecord? {
    try statement(.commitRecord).bind(ns.rawValue).bind(revision.rawValue).first(readCommit)
  }

  func commits(_ ns: NamespaceID, after revision: Int64, limit: Int = .max) throws(StorageError) -> [CommitRecord] {
    try statement(.commits).bind(ns.rawValue).bind(revision).all(limit: limit, readCommit)
  }

  /// Calls `body` with each commit after a revision, as long as it returns true: a log is long, and its records are large.
  func forEachCommit(_ ns: NamespaceID, after revision: Int64, body: (CommitRecord) throws(StorageError) -> Bool)
    throws(StorageError)
  {
    let rows = try statement(.commits)
    defer { rows.reset() }
    rows.bind(ns.rawValue).bind(revision)
    while try rows.step() {
      guard try body(readCommit(rows)) else { return }
    }
  }

  /// How many commits came after a revision, and how many bytes their changes are.
  func tail(_ ns: NamespaceID, after revision: Int64) throws(StorageError) -> (commits: Int64, bytes: Int64) {
    try statement(.tail).bind(ns.rawValue).bind(revision).first { row throws(StorageError) in (row.int(0), row.int(1)) }
      ?? (0, 0)
  }

  func readCommit(_ row: SQLiteStatement) throws(StorageError) -> CommitRecord {
    guard let actor = Actor(try row.text(4)) else { throw damaged("a commit's actor") }
    let payload = row.isNull(10) ? nil : try row.value(10, LeafChangeList.decodePayload)
    return CommitRecord(
      namespace: NamespaceID(rawValue: row.int(0)), epoch: row.int(2), revision: Revision(row.int(1)), time: row.int(3),
      actor: actor, requestID: try row.optionalText(5), cause: row.isNull(6) ? nil : try Cause(stored: row.raw(6)),
      suppressesTriggers: row.int(7) != 0, changes: payload?.changes, erased: payload?.erased ?? [],
      digest: row.bytes(8), hash: row.bytes(9))
  }

  func head(_ ns: NamespaceID) throws(StorageError) -> NamespaceHead {
    var head = NamespaceHead()
    _ = try statement(.lastCommit).bind(ns.rawValue).first { row throws(StorageError) in
      head.revision = Revision(row.int(0))
      head.time = row.int(1)
      head.commitHash = row.bytes(2)
    }
    _ = try statement(.lastEntry).bind(ns.rawValue).first { row throws(StorageError) in
      head.entrySequence = row.int(0)
      head.entryHash = row.bytes(1)
    }
    return head
  }

  func lastRevision(_ ns: NamespaceID) throws(StorageError) -> Int64 {
    try statement(.lastCommit).bind(ns.rawValue).first { row throws(StorageError) in row.int(0) } ?? 0
  }

  /// Behind every path that an event can have, those of accounts too.
  private static let behindAll = PathRange.end + [0xFF]

  func event(_ ns: NamespaceID, id: EventID) throws(StorageError) -> EventRecord? {
    let event = try statement(.event).bind(ns.rawValue).bind(id.revision.rawValue).bind(id.path.bytes).first(readEvent)
    // A revision of another epoch is another event.
    return event?.id == id ? event : nil
  }

  func events(_ ns: NamespaceID, after position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord] {
    // Before the first event of a revision is after everything of the revision before.
    let revision = position.map { $0.path == nil ? $0.revision.rawValue - 1 : $0.revision.rawValue } ?? -1
    return try statement(.eventsAfter).bind(ns.rawValue).bind(revision).bind(position?.path?.bytes ?? Self.behindAll)
      .all(limit: limit, readEvent)
  }

  func events(_ ns: NamespaceID, before position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord] {
    try statement(.eventsBefore).bind(ns.rawValue).bind(position?.revision.rawValue ?? Int64.max)
      .bind(position?.path?.bytes ?? []).all(limit: limit, readEvent)
  }

  private func readEvent(_ row: SQLiteStatement) throws(StorageError) -> EventRecord {
    EventRecord(
      namespace: NamespaceID(rawValue: row.int(0)),
      id: EventID(epoch: row.int(3), revision: Revision(row.int(1)), path: PathBytes(bytes: row.bytes(2))),
      kind: try value(row.text(4), "an event's kind"), hop: Int(row.int(5)))
  }

  /// Reads an enumeration's text.
  func value<Value: RawRepresentable<String>>(_ text: String, _ what: String) throws(StorageError) -> Value {
    guard let value = Value(rawValue: text) else { throw damaged(what) }
    return value
  }

  func damaged(_ what: String) -> StorageError {
    StorageError(.damaged, "\(path) is damaged: \(what) cannot be read. Restore the last backup into a new folder.")
  }
}

extension SQLiteConnection {
  /// Runs a checkpoint; returns how many frames the log file has, and how many of them are in the main file now. One that
  /// readers or the writer stand in the way of has done what it could.
  func checkpoint(_ mode: Int32) throws(StorageError) -> (frames: Int, moved: Int) {
    var frames: Int32 = 0
    var moved: Int32 = 0
    let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &frames, &moved)
    guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_LOCKED else {
      throw error(code, during: "checkpoint")
    }
    return (max(0, Int(frames)), max(0, Int(moved)))
  }

  /// Copies the whole store as of now into an empty file, page by page, in one read transaction: writers go on.
  private func copy(to path: String) throws(StorageError) {
    let target = try SQLiteConnection(path: path, isCopy: true)
    defer { target.close() }
    // The file is synced once, as a whole, before anybody sees it under its name.
    try target.execute("PRAGMA synchronous = OFF")
    guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw target.error(sqlite3_errcode(target.handle), during: "beginning a backup")
    }
    let step = sqlite3_backup_step(backup, -1)
    let code = sqlite3_backup_finish(backup)
    guard step == SQLITE_DONE, code == SQLITE_OK else {
      throw target.error(code == SQLITE_OK ? step : code, during: "copying the store")
    }
  }

  /// Copies the store under a name that it gets only when it is whole and durable; its owner alone can read it.
  func backup(to path: String) throws(StorageError) {
    let (partial, lock) = try FileCalls.makePartial(of: path)
    defer { FileCalls.release(lock) }
    do {
      try copy(to: partial)
      try FileCalls.sync(partial)
      try FileCalls.rename(partial, to: path)
      try FileCalls.sync(FileCalls.folder(of: path))
    } catch {
      FileCalls.removeStore(partial)
      throw error
    }
  }
}
