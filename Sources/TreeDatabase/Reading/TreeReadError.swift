public import StorageCore

/// Why a read gives no answer.
public enum TreeReadError: Error, Sendable {
  /// The store failed.
  case storage(StorageError)
  /// The answer, or the search for it, exceeds ``ReadBounds``.
  case tooLarge
  /// ``ReadBounds/isUnwanted`` said so.
  case stopped
}

/// Turns a fault of the store into a fault of the read that met it.
func reading<Result>(_ body: () throws(StorageError) -> Result) throws(TreeReadError) -> Result {
  do throws(StorageError) {
    return try body()
  } catch {
    throw .storage(error)
  }
}
