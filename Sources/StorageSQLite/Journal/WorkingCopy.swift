internal import CSQLite
public import StorageCore

/// A journal's working copy on a node that does not lead: it takes in one batch after the other.
///
/// It is never the truth: one that is missing, damaged or ahead of the journal is thrown away, and made again from a base. For one
/// thread at a time.
public final class WorkingCopy {
  /// The last batch that it holds.
  public private(set) var position: JournalPosition
  /// The version of its schema.
  public let schema: Int
  private let connection: SQLiteConnection
  private let folder: DataFolder
  private let touched = TouchedTables()

  /// So large the log may become; it is cut to half of that when it begins again.
  private static let logBytesMax: Int64 = 16 << 20
  /// How long other connections are waited for, in milliseconds: as a rule, and until the log begins again.
  private static let patience: Int32 = 10_000
  private static let restartPatience: Int32 = 20

  /// Opens the copy in a folder.
  ///
  /// - Throws: `StorageError.Code.damaged` where there is none that can be used: ``discard(in:)`` it, and ``install(_:in:)`` another;
  ///   `StorageError.Code.locked` while another process has it; `StorageError.Code.newerSchema`.
  public init(in directory: String, options: SQLiteOptions = SQLiteOptions(), schema: SchemaHistory = .released)
    throws(StorageError)
  {
    let folder = try DataFolder(directory)
    do throws(StorageError) {
      guard FileCalls.exists(folder.store) else { throw StorageError(.damaged, "There is no working copy in \(directory).") }
      let connection = try SQLiteConnection(path: folder.store)
      for pragma in Self.pragmas { try connection.execute(pragma) }
      try StoreOpening.throwIfNewer(connection, known: schema.version)
      guard let position = try connection.journalPosition(), let version = try connection.meta(.schemaVersion) else {
        throw StorageError(
          .unsuitable,
          "\(folder.store) is a store of its own, and no working copy of one in PostgreSQL. Give the copies another folder.")
      }
      self.connection = connection
      self.position = position
      self.schema = Int(version)
      self.folder = folder
    } catch {
      folder.release()
      throw error
    }
  }

  deinit {
    close()
  }

  private var isClosed = false

  /// `secure_delete`: what was erased is erased here, too. `synchronous`: what a power cut takes the journal still has.
  private static let pragmas = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", "PRAGMA busy_timeout = \(patience)", "PRAGMA secure_delete = 1",
    "PRAGMA journal_size_limit = \(logBytesMax / 2)",
  ]

  /// Takes in batches that follow one on the other, all or none.
  ///
  /// - `batches`: from the one behind ``position`` on.
  /// - `willShow`: told which tables they change, before anybody else can see that.
  /// - Throws: `StorageError.Code.damaged` if one does not fit.
  public func apply(_ batches: [JournalBatch], willShow: (_ tables: Set<String>) -> Void = { _ in }) throws(StorageError) {
    guard let last = batches.last?.position else { return }
    for (offset, batch) in batches.enumerated() where batch.position.batch != position.batch + 1 + Int64(offset) {
      throw misfit(batch, "it should be \(position.batch + 1 + Int64(offset))")
    }
    // Wherever among the others it stands: what follows it was written on another schema.
    for batch in batches where batch.changes.isEmpty {
      throw misfit(batch, "it stands for another schema, and a base of that is needed")
    }
    touched.names = []
    try connection.execute("BEGIN IMMEDIATE")
    do throws(StorageError) {
      try takeIn(batches)
      guard try connection.journalPosition() == last else {
        throw misfit(batches[batches.count - 1], "it says another position")
      }
      willShow(touched.names)
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
    position = last
    restartLog()
  }

  /// Lets the log begin at its start again, now and then: while there always is somebody who looks, it would not by itself.
  private func restartLog() {
    guard let bytes = FileCalls.size(folder.store + "-wal"), bytes > Self.logBytesMax else { return }
    sqlite3_busy_timeout(connection.handle, Self.restartPatience)
    defer { sqlite3_busy_timeout(connection.handle, Self.patience) }
    // Where looks last longer, the next time does it.
    _ = try? connection.checkpoint(SQLITE_CHECKPOINT_RESTART)
  }

  /// Together, for what is changed again and again is written once then; or, where that cannot be taken in, one by one.
  ///
  /// SQLite merges a row that is removed and put again into an update. Of a row that is nothing but its key, as a place in an index is,
  /// that is an update of nothing, which it takes for damage.
  private func takeIn(_ batches: [JournalBatch]) throws(StorageError) {
    do throws(StorageError) {
      try apply(try Self.combined(batches), upTo: batches[batches.count - 1])
    } catch {
      guard error.code == .damaged, batches.count > 1 else { throw error }
      for batch in batches { try apply(batch.changes, upTo: batch) }
    }
  }

  /// The changes of batches as if they were one: what is changed again and again is written once.
  private static func combined(_ batches: [JournalBatch]) throws(StorageError) -> [UInt8] {
    if batches.count == 1 { return batches[0].changes }
    var group: OpaquePointer?
    var code = sqlite3changegroup_new(&group)
    defer { sqlite3changegroup_delete(group) }
    for batch in batches where code == SQLITE_OK {
      var changes = batch.changes
      code = changes.withUnsafeMutableBytes { sqlite3changegroup_add(group, Int32($0.count), $0.baseAddress) }
    }
    var size: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    if code == SQLITE_OK { code = sqlite3changegroup_output(group, &size, &bytes) }
    defer { sqlite3_free(bytes) }
    guard code == SQLITE_OK else {
      let (first, last) = (batches[0].position.batch, batches[batches.count - 1].position.batch)
      throw StorageError(.damaged, "The batches \(first) to \(last) do not fit on each other (SQLite \(code)).")
    }
    return bytes.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: Int(size))) } ?? []
  }

  private func apply(_ changes: [UInt8], upTo batch: JournalBatch) throws(StorageError) {
    var changes = changes
    let code = changes.withUnsafeMutableBytes { bytes in
      sqlite3changeset_apply(
        connection.handle, Int32(bytes.count), bytes.baseAddress, TouchedTables.note,
        // The copy is what the batches were written on; where a row is not as expected, it is another's.
        { _, _, _ in SQLITE_CHANGESET_ABORT }, Unmanaged.passUnretained(touched).toOpaque())
    }
    switch code & 0xFF {
    case SQLITE_OK: return
    // Nothing is wrong with the copy, which is as it was before.
    case SQLITE_FULL, SQLITE_BUSY, SQLITE_LOCKED: throw connection.error(code, during: "taking in batches")
    default: throw misfit(batch, "SQLite \(code)")
    }
  }

  private func misfit(_ batch: JournalBatch, _ reason: String) -> StorageError {
    StorageError(
      .damaged,
      "Batch \(batch.position.batch) does not fit on batch \(position.batch) of the copy in \(folder.path) (\(reason)).")
  }

  /// Calls `body` with every row of the tables that a journal guards, some hundred at a time, of a file that nobody has open.
  public static func guardedRows(in path: String, _ body: ([JournalRow]) throws(StorageError) -> Void) throws(StorageError) {
    let connection = try SQLiteConnection(unchanging: path, vfs: nil)
    defer { connection.close() }
    for table in JournalRow.guardedTables {
      let columns = try connection.texts("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
      var rows: [JournalRow] = []
      let reading = try SQLiteStatement("SELECT * FROM \(table)", on: connection, isKept: false)
      defer { reading.reset() }
      while try reading.step() {
        var values: [String: JournalRow.Value] = [:]
        for (index, column) in columns.enumerated() { values[column] = try reading.journalValue(Int32(index)) }
        rows.append(JournalRow(table: table, operation: .inserted, key: [:], values: values))
        guard rows.count == 500 else { continue }
        try body(rows)
        rows = []
      }
      try body(rows)
    }
  }

  /// Gives the copy to who opens it next.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    connection.close()
    folder.release()
  }

  /// Removes the copy in a folder; signing keys and the like stay.
  public static func discard(in directory: String) throws(StorageError) {
    let folder = try DataFolder(directory)
    defer { folder.release() }
    FileCalls.removeStore(folder.store)
    FileCalls.remove(folder.store + DurableMark.ending)
  }

  /// Makes a file the copy of a folder that has none.
  ///
  /// - `base`: the file; moved.
  public static func install(_ base: String, in directory: String) throws(StorageError) {
    let folder = try DataFolder(directory)
    defer { folder.release() }
    try FileCalls.rename(base, to: folder.store)
  }
}

/// The tables that SQLite found changes of.
private final class TouchedTables {
  var names: Set<String> = []

  /// SQLite asks it of each table whether its changes are wanted; they are.
  static let note: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Int32 = { context, table in
    guard let context, let table else { return 1 }
    // Held by the copy, which is taking in a batch.
    Unmanaged<TouchedTables>.fromOpaque(context).takeUnretainedValue().names.insert(String(cString: table))
    return 1
  }
}

extension SQLiteEngine {
  /// Where the copy begins its term, and who is told of its transactions.
  static func order(_ writer: SQLiteConnection, _ journal: any BatchJournal, fence: Int64) throws(StorageError) -> JournalOrder
  {
    guard let position = try writer.journalPosition() else { throw writer.damaged("the copy's position") }
    let order = JournalOrder(journal, after: JournalPosition(batch: position.batch, fence: fence))
    writer.recorder = try TransactionRecorder(writer, order: order)
    return order
  }

  /// Counts the epoch on, in a batch of its own. Before the write session is made.
  public func beginEpoch() throws(StorageError) -> Int64 {
    precondition(!hasSession, "An epoch begins before anything is written.")
    return try writer.beginEpoch()
  }

  /// How often something of the past was erased, of the whole store.
  public func erasures() throws(StorageError) -> Int64 {
    let connection = try pool.take()
    defer { pool.give(connection) }
    return try connection.meta(.historyErasures) ?? 0
  }

  /// Copies the working copy, as of now, into a new file.
  ///
  /// - Returns: where the file stands; the batch may still be on its way to the journal.
  public func base(to path: String) throws(StorageError) -> JournalPosition {
    let connection = try pool.take()
    defer { pool.give(connection) }
    try connection.backup(to: path)
    let copy = try SQLiteConnection(unchanging: path, vfs: nil)
    defer { copy.close() }
    guard let position = try copy.journalPosition() else { throw copy.damaged("the copy's position") }
    return position
  }

  /// Makes a new store, and a file of it that every copy can begin with.
  public static func makeFirstCopy(at path: String) throws(StorageError) {
    let engine = try inMemory()
    defer { engine.close() }
    try engine.backup(to: path)
    try makeWorkingCopy(of: path, at: JournalPosition(batch: 0, fence: 0))
  }

  /// Makes a store that nobody has open a working copy, of a journal that begins with it; or, without a position, a store of its own.
  public static func makeWorkingCopy(of path: String, at position: JournalPosition?) throws(StorageError) {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    try StoreOpening.throwIfNewer(connection)
    try connection.execute("BEGIN IMMEDIATE")
    if let position {
      try connection.putJournalPosition(position)
    } else {
      try connection.endCopy()
    }
    try connection.execute("COMMIT")
    _ = try connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  /// Brings a copy to the program's schema.
  ///
  /// - `position`: the batch that stands for it.
  /// - `base`: a new file, which becomes what the copy is then.
  public static func upgradeWorkingCopy(
    in directory: String, to schema: SchemaHistory, at position: JournalPosition, base: String
  ) throws(StorageError) {
    let folder = try DataFolder(directory)
    defer { folder.release() }
    let connection = try SQLiteConnection(path: folder.store)
    defer { connection.close() }
    try StoreUpgrade(
      connection: connection, settings: StoreUpgrade.Settings(schema: schema, policy: UpgradePolicy(mode: .uncopied))
    ).run()
    try connection.execute("BEGIN IMMEDIATE")
    try connection.putJournalPosition(position)
    try connection.execute("COMMIT")
    try connection.backup(to: base)
  }
}
