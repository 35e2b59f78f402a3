/// A store: where snapshots and the one write session come from.
public protocol StorageEngine: AnyObject, Sendable {
  /// Runs `body` on the store as it is now. The snapshot must not leave the closure.
  ///
  /// Returns only when everything that the snapshot showed is durable: for a moment, at most, that the disk needs.
  func read<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> Result
  /// The same without the wait: the snapshot may show a batch that a crash can still take back. What it showed must not be
  /// told to anybody before ``whenDurable(_:_:)``, unless it is of a revision that is known to be durable.
  func readAhead<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> (result: Result, position: Int)
  /// Calls `proceed` when everything that a ``readAhead(_:)`` with this position showed is durable: at once, or soon on
  /// another thread, where it must only take note.
  func whenDurable(_ position: Int, _ proceed: @escaping @Sendable () -> Void)
  /// The write session. Asking twice is a mistake of the programmer and traps.
  func makeWriteSession() throws(StorageError) -> any WriteSession
  /// Copies the store, as of now, into a new file while others go on writing.
  func backup(to path: String) throws(StorageError)
  /// Reads the whole store, as of now, and compares every page and every row with what proves it, while others go on writing.
  /// What cannot be read is a fault, and no error.
  func check() throws(StorageError) -> StoreReport
  /// Whether the log file has grown so much that reads and starts pay for it.
  var isCheckpointDue: Bool { get }
  /// Moves what was committed from the log file into the main file. For a thread of its own.
  func checkpoint() throws(StorageError)
  /// Tidies a bounded piece of the past, so that reads of it stay fast. For a thread of its own; writers may wait for a
  /// moment.
  ///
  /// - Returns: whether there is more to do.
  func compact() throws(StorageError) -> Bool
  /// Gives back the memory in which connections keep pieces of the store, of those that nobody used since the last call. The
  /// write session has its own. From any thread.
  func releaseUnusedMemory()
  func close()
}
