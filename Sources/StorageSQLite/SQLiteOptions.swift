internal import CSQLite
internal import StorageCore

/// What of the engine can be tuned. The defaults were measured (StorageCore's note *Commit records*).
public struct SQLiteOptions: Sendable {
  /// The page size of a new file, in bytes; an existing file keeps its own.
  public var pageBytes: Int
  /// The page cache of the writer, and of each reader, in bytes.
  public var writerCacheBytes: Int
  /// The page cache of each reader, in bytes.
  public var readerCacheBytes: Int
  /// Reader connections that are kept open while nobody reads.
  public var idleReadersMax: Int
  /// From this size on, a checkpoint makes the writer restart the WAL, which may hold it up for a moment.
  public var walBytesMax: Int
  /// The WAL's file is written ahead with zeros up to this size, in small steps, and used again whenever the WAL restarts; one
  /// that has become larger is cut to it then. See ``LogReserve``.
  public var walBytesKept: Int
  /// How the recent past is kept.
  public var history: HistoryLimits
  /// The SQLite VFS to use; nil for the system's.
  public var vfs: String?
  /// How the WAL's file is kept ahead; nil: it grows.
  var reserve: LogReserve.Limits?

  /// The defaults. The WAL's file is written ahead on Linux, where it was measured what that gains.
  public init() {
    pageBytes = 2048
    writerCacheBytes = 32 << 20
    readerCacheBytes = 8 << 20
    idleReadersMax = 8
    walBytesMax = 16 << 20
    walBytesKept = 32 << 20
    history = HistoryLimits()
    vfs = nil
    #if os(Linux)
      reserve = LogReserve.Limits()
    #endif
  }
}

/// How much of the recent past is kept in memory, and how fast it is written behind the writer.
public struct HistoryLimits: Sendable {
  /// So many changes of one namespace make a generation, which is sorted and written.
  public var generationChanges: Int
  /// So many bytes of changes make one too, however few they are: what large values were before must not fill the memory.
  public var generationBytes: Int
  /// Bytes of generations that may wait to be written; of more the oldest is written at once.
  public var frozenBytes: Int
  /// So many of its rows are written with each batch, and two more for each change of the batch: the oldest generation is
  /// on disk before the next is full.
  public var sliceRows: Int
  /// Changes that are kept in one block of the memory.
  public var blockChanges: Int
  /// So many runs of one level make one of the next: more of them make writing cheaper and reading dearer.
  public var mergeRuns: Int
  /// Rows that a merge writes in one transaction: how long the writer may have to wait for it.
  public var mergeRows: Int

  public init(
    generationChanges: Int = 8192, generationBytes: Int = 8 << 20, frozenBytes: Int = 16 << 20, sliceRows: Int = 64,
    blockChanges: Int = 256, mergeRuns: Int = 16, mergeRows: Int = 512
  ) {
    self.generationChanges = generationChanges
    self.generationBytes = generationBytes
    self.frozenBytes = frozenBytes
    self.sliceRows = sliceRows
    self.blockChanges = blockChanges
    self.mergeRuns = mergeRuns
    self.mergeRows = mergeRows
  }
}

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

/// What is set once for the process, before SQLite is used.
enum SQLiteLibrary {
  /// Does it, the first time.
  static func prepare() {
    _ = isPrepared
  }

  // If somebody else in the process has used SQLite before, it refuses: it is slower, and no less right.
  static let isPrepared = csqlite_stop_counting_memory() == SQLITE_OK && PageCache.install()
}
