internal import CSQLite
public import StorageCore
internal import Synchronization

/// A store in one SQLite file.
///
/// One connection writes and belongs to the write session; readers have a connection each while they look, from a pool; one
/// more makes checkpoints, on whatever thread calls ``checkpoint()``. The log file (WAL) is never moved by a commit.
public final class SQLiteEngine: StorageEngine {
  private struct State {
    var hasSession = false
    var isClosed = false
    var session: SQLiteWriteSession?
  }

  /// How long readers are waited for until the log restarts, in milliseconds.
  private static let restartPatience: Int32 = 20
  /// So many frames the writer may wait for when the log restarts; more are moved first, in so many passes at most.
  private static let restFrames = 256
  private static let passesMax = 3

  /// Counts the restores; part of every event and push id.
  public let epoch: Int64
  /// The store's file.
  public var path: String { folder.store }

  let options: SQLiteOptions
  let pool: ReaderPool
  let history: HistoryMemory
  /// Gives nobody a connection: for looks while another node may be writing.
  private let refusing: ReaderPool
  private let gate = FlushGate()
  private let gauge: LogGauge
  private let folder: DataFolder
  let writer: SQLiteConnection
  private let checkpointer: Mutex<SQLiteConnection>
  private let compactor: Mutex<HistoryCompactor?>
  private let faults: SQLiteFaults?
  /// Where batches become durable; nil where this file is where.
  let journal: JournalOrder?
  private let state = Mutex(State())
  /// Whether the one write session was made.
  var hasSession: Bool { state.withLock(\.hasSession) }

  /// Opens the store in a folder; creates both if there is none, and no trace of one.
  ///
  /// - `companions`: names of what else lies in the folder of a store, and in no other.
  /// - `schema`: what the program writes.
  /// - `policy`: what is to be done with a store of an older version.
  /// - Throws: `StorageError.Code.locked` with the pid of the process that has it open,
  ///   `StorageError.Code.newerSchema`, or `StorageError.Code.damaged`: also where something that was acknowledged is
  ///   missing (``acceptLoss(in:)``).
  public convenience init(
    directory: String, options: SQLiteOptions = SQLiteOptions(), companions: [String] = [], schema: SchemaHistory = .released,
    policy: UpgradePolicy = UpgradePolicy()
  ) throws(StorageError) {
    try self.init(
      folder: DataFolder(directory), options: options, upgrade: StoreUpgrade.Settings(schema: schema, policy: policy),
      companions: companions)
  }

  /// A store in a private temporary folder, in memory where the machine has a file system there. It goes with ``close()``.
  public static func inMemory(options: SQLiteOptions = SQLiteOptions()) throws(StorageError) -> SQLiteEngine {
    try SQLiteEngine(folder: .temporary(), options: options)
  }

  /// Whether a store can be made in a folder without touching what is somebody else's: there is no such folder, or it is empty.
  public static func isVacant(directory: String) -> Bool {
    FileCalls.isVacant(directory)
  }

  /// A store that is only needed for a while, in a folder of its own inside another; it goes with ``close()``.
  ///
  /// - Throws: `StorageError.Code.locked` if there is one already.
  public static func scratch(in directory: String, options: SQLiteOptions = SQLiteOptions()) throws(StorageError)
    -> SQLiteEngine
  {
    let path = directory + "/scratch"
    let folder = try DataFolder(path, isTemporary: true)
    // What a process left that died at it.
    FileCalls.removeStore(folder.store)
    return try SQLiteEngine(folder: folder, options: options)
  }

  /// Opens a journal's working copy, to write in a term of it.
  ///
  /// - `fence`: the number of the term.
  /// - Throws: `StorageError.Code.olderSchema` for a copy that an older version wrote, `StorageError.Code.newerSchema`.
  public convenience init(
    workingCopy directory: String, journal: any BatchJournal, fence: Int64, options: SQLiteOptions = SQLiteOptions(),
    schema: SchemaHistory = .released
  ) throws(StorageError) {
    try self.init(
      folder: DataFolder(directory), options: options,
      upgrade: StoreUpgrade.Settings(schema: schema, policy: UpgradePolicy(mode: .refused)), term: (journal, fence))
  }

  init(
    folder: DataFolder, options: SQLiteOptions, upgrade: StoreUpgrade.Settings = StoreUpgrade.Settings(),
    faults: SQLiteFaults? = nil, companions: [String] = [], term: (journal: any BatchJournal, fence: Int64)? = nil
  ) throws(StorageError) {
    self.folder = folder
    var options = options
    // Memory has no blocks to be found, and a copy is not synced.
    if folder.isTemporary || term != nil { options.reserve = nil }
    self.options = options
    self.faults = faults
    gauge = LogGauge(allowing: options.walBytesMax / options.pageBytes)
    do throws(StorageError) {
      let writer = try StoreOpening(
        path: folder.store, options: options, upgrade: upgrade, companions: companions, isCopy: term != nil
      ).open()
      self.writer = writer
      journal = try term.map { term throws(StorageError) in try Self.order(writer, term.journal, fence: term.fence) }
      guard let epoch = try writer.meta(.epoch) else { throw writer.damaged("the store's epoch") }
      self.epoch = epoch
      let checkpointer = try SQLiteConnection(path: folder.store, vfs: options.vfs)
      for pragma in Pragmas.checkpointer(options) { try checkpointer.execute(pragma) }
      self.checkpointer = Mutex(checkpointer)
    } catch {
      folder.release()
      throw error
    }
    pool = ReaderPool(path: folder.store, options: options)
    refusing = ReaderPool(
      closedBy: StorageError(
        .lost, "This node has had no word from PostgreSQL for some seconds, and another may lead by now. Try again in a moment."
      ))
    history = HistoryMemory(limits: options.history)
    compactor = Mutex(nil)
  }

  deinit {
    close()
  }

  public func read<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> Result {
    let (result, position) = try readAhead(body)
    gate.wait(for: position)
    // Asked after the wait: a batch may have been lost meanwhile, and the look may have seen it.
    guard journal?.journal.isCurrent ?? true else { return try refuse(body) }
    return result
  }

  public func readAhead<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E)
    -> (result: Result, position: Int)
  {
    let snapshot = SQLiteSnapshot(epoch: epoch, history: history, pool: pool)
    defer { snapshot.finish() }
    let result = try body(snapshot)
    guard journal?.journal.isCurrent ?? true else { return (try refuse(body), gate.position) }
    return (result, gate.position)
  }

  /// Looks at nothing: each question is answered with the reason.
  private func refuse<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> Result {
    try body(SQLiteSnapshot(epoch: epoch, history: history, pool: refusing))
  }

  public func whenDurable(_ position: Int, _ proceed: @escaping @Sendable (_ isDurable: Bool) -> Void) {
    gate.whenDurable(position, proceed)
  }

  public func makeWriteSession() throws(StorageError) -> any WriteSession {
    let isFirst = state.withLock { state in
      defer { state.hasSession = true }
      return !state.hasSession
    }
    precondition(isFirst, "A store has one writer; its session was already made.")
    gauge.watch(writer)
    let session = try SQLiteWriteSession(connection: writer, epoch: epoch, history: history, gate: gate, faults: faults)
    state.withLock { $0.session = session }
    return session
  }

  public var isCheckpointDue: Bool { gauge.isOver }

  /// Moves what was committed into the main file, as far as readers let it.
  ///
  /// Waits for nobody, unless the log file has grown beyond ``SQLiteOptions/walBytesMax``: then the writer is held up for a
  /// moment, so that the log can restart.
  public func checkpoint() throws(StorageError) {
    try checkpointer.withLock { connection throws(StorageError) in
      let (frames, moved) = try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
      gauge.didMove(frames: moved)
      guard frames * options.pageBytes > options.walBytesMax else { return }
      // What was written meanwhile, before the writer has to wait for it.
      for _ in 0..<Self.passesMax where gauge.unmovedFrames > Self.restFrames {
        gauge.didMove(frames: try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE).moved)
      }
      // The writer waits as long as this does: a read that takes longer keeps the log until the next checkpoint.
      sqlite3_busy_timeout(connection.handle, Self.restartPatience)
      defer { sqlite3_busy_timeout(connection.handle, 0) }
      gauge.didMove(frames: max(moved, try connection.checkpoint(SQLITE_CHECKPOINT_RESTART).moved))
    }
  }

  /// Merges a piece of the history. A writer that is met goes first: then nothing is done, and more is left.
  public func compact() throws(StorageError) -> Bool {
    try compactor.withLock { compactor throws(StorageError) in
      if state.withLock(\.isClosed) { return false }
      if compactor == nil {
        let connection = try SQLiteConnection(path: folder.store, vfs: options.vfs)
        for pragma in Pragmas.compactor(options) { try connection.execute(pragma) }
        try LongValue.followMerges(connection)
        if let journal { connection.recorder = try TransactionRecorder(connection, order: journal) }
        compactor = HistoryCompactor(connection: connection, limits: options.history)
      }
      return try compactor?.step() ?? false
    }
  }

  public func releaseUnusedMemory() {
    pool.closeUnused()
    // Both are idle but for moments, and what they read they seldom read twice.
    checkpointer.withLock { $0.releaseMemory() }
    compactor.withLock { $0?.releaseMemory() }
  }

  /// Closes the store. Call it after the writer's thread has ended; reads fail from now on.
  public func close() {
    let (isFirst, session) = state.withLock { state in
      defer { state.isClosed = true }
      return (!state.isClosed, state.session)
    }
    guard isFirst else { return }
    session?.writeOutHistory()
    let log = LogFileSystem.log(of: writer.handle)
    writer.close()
    pool.close()
    compactor.withLock { compactor in
      compactor?.close()
      compactor = nil
    }
    // The last connection to go moves the log into the main file and removes it.
    checkpointer.withLock { $0.close() }
    // It stays where the disk, or another program that has the file open, keeps the log: then there still is something to lose.
    if !FileCalls.exists(folder.store + "-wal") { log?.removeMark() }
    folder.release()
  }
}

extension SQLiteEngine {
  /// The currencies that the last server declared, in the words in which it did; nil in a store that no server had yet.
  public func declaredCurrencies() throws(StorageError) -> String? {
    try writer.metaText(.currencies)
  }

  /// Notes which currencies the ledger knows from now on. Before the write session is made: the session owns the connection.
  public func declareCurrencies(_ text: String) throws(StorageError) {
    precondition(!hasSession, "Currencies are declared before anything is written.")
    guard try writer.metaText(.currencies) != text else { return }
    try writer.inTransaction { () throws(StorageError) in try writer.setMeta(.currencies, to: text) }
  }
}
