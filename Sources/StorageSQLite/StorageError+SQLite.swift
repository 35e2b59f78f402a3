internal import CSQLite
internal import StorageCore

extension StorageError {
  /// What SQLite's result code means for whoever runs the server, and what to do.
  ///
  /// - Parameter isCopy: whether the file is a copy in the making: the store goes on without it.
  init(sqlite code: Int32, message: String, path: String, during action: String, isCopy: Bool = false) {
    let next = isCopy ? "try again" : "start the server again"
    let what = "\(action): \(message) (SQLite \(code))"
    switch code & 0xFF {
    case SQLITE_FULL:
      self.init(.full, "The disk that holds \(path) is full (\(what)). Make room, then \(next).")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      self.init(
        .damaged, "\(path) is damaged or no database (\(what)). Keep the file, and restore the last backup into a new folder.")
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      self.init(.locked, "\(path) is locked by another process (\(what)). Stop it, then try again.")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
      self.init(.failed, "\(path) cannot be opened or written (\(what)). Check that the folder exists and its permissions.")
    case SQLITE_IOERR:
      self.init(.failed, "Reading or writing \(path) failed (\(what)). Check the disk, then \(next).")
    default:
      self.init(.failed, "SQLite refused \(path) (\(what)).")
    }
  }
}
