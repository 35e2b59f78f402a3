internal import CSQLite
internal import StorageCore

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
