import StorageCore

/// Runs a read of the store in a place that can only refuse.
func refusing<Result>(_ body: () throws(StorageError) -> Result) throws(CommitRefusal) -> Result {
  do {
    return try body()
  } catch {
    throw CommitRefusal(error)
  }
}
