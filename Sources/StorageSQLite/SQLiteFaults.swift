internal import StorageCore

/// Places where tests make the disk fail.
struct SQLiteFaults: Sendable {
  enum Point: Sendable {
    /// Before the batch's first row.
    case beforeRows
    /// Before COMMIT: rows are in the cache, nothing in the log file.
    case beforeCommit
    /// After COMMIT returned: durable, but not yet acknowledged.
    case afterCommit
  }

  /// What the call at this point throws; nil goes on.
  let fault: @Sendable (Point) -> StorageError?

  func check(_ point: Point) throws(StorageError) {
    if let error = fault(point) { throw error }
  }
}
