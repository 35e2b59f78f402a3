/// A store: where snapshots and the one write session come from.
public protocol StorageEngine: AnyObject, Sendable {
  /// Runs `body` on the store as it is now. The snapshot must not leave the closure.
  func read<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> Result
  /// The write session. Asking twice is a mistake of the programmer and traps.
  func makeWriteSession() throws(StorageError) -> any WriteSession
  /// Copies the store, as of now, into a new file while others go on writing.
  func backup(to path: String) throws(StorageError)
  /// Moves what was committed from the log file into the main file. For a thread of its own.
  func checkpoint() throws(StorageError)
  /// Tidies a bounded piece of the past, so that reads of it stay fast. For a thread of its own; writers may wait for a
  /// moment.
  ///
  /// - Returns: whether there is more to do.
  func compact() throws(StorageError) -> Bool
  func close()
}
