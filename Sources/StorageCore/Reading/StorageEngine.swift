public import RewardModel
public import TreeModel

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
  /// another thread, where it must only take note. With false where that will never be: what was shown must not be told.
  func whenDurable(_ position: Int, _ proceed: @escaping @Sendable (_ isDurable: Bool) -> Void)
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

/// What can be looked up both in a snapshot and by the writer, who sees its own batch so far.
///
/// Everything is synchronous: nothing that holds one of these waits for anything but the disk.
public protocol StorageReading {
  /// The leaves and priorities of the subtree at `path`, in path order, at most `limit`.
  func leaves(in namespace: NamespaceID, under path: PathBytes, limit: Int) throws(StorageError) -> [StoredLeaf]
  /// The leaves and priorities from `lower` up to but without `upper`, in path order, at most `limit`.
  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  /// The leaf (or the priority) that is stored at exactly `path`.
  func leaf(in namespace: NamespaceID, at path: PathBytes) throws(StorageError) -> StoredLeaf?
  /// Where the last stored leaf or priority before `path` stands. No leaf lies between a leaf and its descendants, so this
  /// finds the leaf that a write below it replaces. No value is read: it may be a neighbour's, and long.
  func lastPath(in namespace: NamespaceID, before path: PathBytes) throws(StorageError) -> PathBytes?

  func commit(in namespace: NamespaceID, at revision: Revision) throws(StorageError) -> CommitRecord?
  func execution(in namespace: NamespaceID, of event: EventID, by function: String) throws(StorageError) -> ExecutionRecord?
  func delivery(in namespace: NamespaceID, of event: EventID, to function: String) throws(StorageError) -> DeliveryRecord?

  /// The entry that was made under a business key.
  func entry(in namespace: NamespaceID, key: BusinessKey) throws(StorageError) -> LedgerEntry?
  func entry(in namespace: NamespaceID, sequence: Int64) throws(StorageError) -> LedgerEntry?
  /// The entry that reverses the given one.
  func reversal(in namespace: NamespaceID, of sequence: Int64) throws(StorageError) -> LedgerEntry?
  /// The balance of an account that the ledger alone keeps (not a currency holder's); nil if it has no entry.
  func balance(in namespace: NamespaceID, of account: LedgerAccount, unit: String) throws(StorageError) -> Int64?

  func rules(of namespace: NamespaceID) throws(StorageError) -> RulesRecord?
  /// The indexes of a namespace, by number.
  func indexes(in namespace: NamespaceID) throws(StorageError) -> [IndexRecord]

  func outbox(in namespace: NamespaceID, key: String) throws(StorageError) -> OutboxRecord?
  func idempotency(in namespace: NamespaceID, key: String) throws(StorageError) -> IdempotencyRecord?
  /// The value of a keyed record; nil if there is none.
  func record(in namespace: NamespaceID, kind: String, key: String) throws(StorageError) -> String?
  func head(of namespace: NamespaceID) throws(StorageError) -> NamespaceHead
}

/// What went wrong in the store: the file, the disk, the schema. Never a fault of a request, but for
/// ``Code/unsuitable``.
public struct StorageError: Error, Sendable, CustomStringConvertible {
  /// What kind of fault. Engines may learn of more, so it is no enum that a caller could switch over completely.
  public struct Code: Sendable, Hashable {
    private enum Value: Sendable, Hashable {
      case locked, newerSchema, olderSchema, damaged, full, failed, stopped, unreadable, unsuitable, lost
    }

    private let value: Value

    private init(_ value: Value) { self.value = value }

    /// Another process has the data open.
    public static let locked = Code(.locked)
    /// The file was written by a newer version, or by one before 0.1.
    public static let newerSchema = Code(.newerSchema)
    /// The file was written by an older version, and the caller wanted nothing changed.
    public static let olderSchema = Code(.olderSchema)
    /// The file does not hold what it should.
    public static let damaged = Code(.damaged)
    /// The disk is full.
    public static let full = Code(.full)
    /// Reading or writing failed; after a failed commit nothing more is written.
    public static let failed = Code(.failed)
    /// The store is closed.
    public static let stopped = Code(.stopped)
    /// What was asked for lies before what the store still remembers.
    public static let unreadable = Code(.unreadable)
    /// The file that a copy was to go to cannot be one: it is no regular file, or lies beside the store.
    public static let unsuitable = Code(.unsuitable)
    /// The node has lost its lease or its journal: another may write by now. The next term finds out what is true.
    public static let lost = Code(.lost)
  }

  /// Which kind.
  public let code: Code
  /// What happened, and what to do.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}

/// What a check of a whole store found: its pages, and every row against its witness.
public struct StoreReport: Sendable, Hashable {
  /// Rows that were read.
  public private(set) var rows: Int64 = 0
  /// What is wrong, in sentences; the first of them.
  public private(set) var faults: [String] = []
  /// How many there are altogether.
  public private(set) var faultCount = 0

  /// Faults that are kept.
  static let faultsMax = 100

  /// The report of a store of which nothing was read yet.
  public init() {}

  /// Whether everything is what was written.
  public var isSound: Bool { faultCount == 0 }

  /// Takes note of what is wrong.
  public mutating func note(_ message: String) {
    faultCount += 1
    if faults.count < Self.faultsMax { faults.append(message) }
  }

  /// Counts rows that were read.
  public mutating func count(_ more: Int64) {
    rows += more
  }
}
