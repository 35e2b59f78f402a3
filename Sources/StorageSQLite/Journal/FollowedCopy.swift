public import StorageCore
internal import Synchronization

/// Connections for looking at a node's working copy while its ``WorkingCopy`` takes in batches.
///
/// Good until that copy is made again: what is found afterwards is another file.
public final class CopyReaders: Sendable {
  let pool: ReaderPool
  let epoch: Int64
  // What a batch's commit has left of the past is in the file; memory of it only the writer has.
  let history: HistoryMemory

  /// - `directory`: the node's data folder, whose copy somebody has opened.
  /// - Throws: `StorageError.Code.damaged` where there is no copy.
  public init(in directory: String, options: SQLiteOptions = SQLiteOptions()) throws(StorageError) {
    let path = "\(directory)/\(DataFolder.storeName)"
    guard FileCalls.exists(path) else { throw StorageError(.damaged, "There is no working copy in \(directory).") }
    pool = ReaderPool(path: path, options: options)
    history = HistoryMemory(limits: options.history)
    let connection = try pool.take()
    guard let epoch = try connection.meta(.epoch) else { throw connection.damaged("the store's epoch") }
    self.epoch = epoch
    pool.give(connection)
  }

  /// Gives back the memory of connections that nobody has used since the last call.
  public func releaseUnusedMemory() { pool.closeUnused() }

  /// Ends it; looks that are under way end first.
  public func close() { pool.close() }
}

/// A store that another node writes, for looking: this node's working copy, as far as it has come.
///
/// It shows what is durable, and perhaps not the newest. Of the past it shows nothing. What it showed until ``retire()`` fits together
/// with the rules that were known when it was made.
public final class FollowedCopy: StorageEngine {
  private let readers: CopyReaders
  private let isRetired = Atomic<Bool>(false)

  /// Gives nobody a connection.
  private static let refusing = ReaderPool(
    closedBy: StorageError(.lost, "The rules or who may come in have just changed. Try again in a moment."))

  /// What is written to it is refused with.
  public static let refusal = StorageError(
    .lost, "Here the store is only read, from this node's copy. Write through the clients' port of any node.")

  public init(_ readers: CopyReaders) {
    self.readers = readers
  }

  /// From now on nothing is shown, also of looks that are under way: called before the copy takes in what changes who may see what.
  public func retire() { isRetired.store(true, ordering: .sequentiallyConsistent) }

  public func read<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> Result {
    try readAhead(body).result
  }

  public func readAhead<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E)
    -> (result: Result, position: Int)
  {
    if !isRetired.load(ordering: .sequentiallyConsistent) {
      let snapshot = SQLiteSnapshot(epoch: readers.epoch, history: readers.history, pool: readers.pool)
      defer { snapshot.finish() }
      let result = try body(snapshot)
      // Asked after the look: it may have begun behind the change.
      if !isRetired.load(ordering: .sequentiallyConsistent) { return (result, 0) }
    }
    return (try body(SQLiteSnapshot(epoch: readers.epoch, history: readers.history, pool: Self.refusing)), 0)
  }

  /// A follower has nothing that is not durable.
  public func whenDurable(_ position: Int, _ proceed: @escaping @Sendable (_ isDurable: Bool) -> Void) { proceed(true) }

  public func makeWriteSession() throws(StorageError) -> any WriteSession { throw Self.refusal }

  public func backup(to path: String) throws(StorageError) { throw Self.refusal }

  public func check() throws(StorageError) -> StoreReport { throw Self.refusal }

  // Who takes in the batches looks after the file.
  public var isCheckpointDue: Bool { false }

  public func checkpoint() throws(StorageError) {}

  public func compact() throws(StorageError) -> Bool { false }

  public func releaseUnusedMemory() { readers.releaseUnusedMemory() }

  /// Ends nothing: others look through the same connections.
  public func close() { retire() }
}
