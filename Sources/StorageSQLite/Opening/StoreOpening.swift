internal import CSQLite
public import StorageCore

/// Opens a store's file for its writer: creates it, takes it as it is, brings it up to date, or refuses it.
struct StoreOpening {
  let path: String
  let options: SQLiteOptions
  var upgrade = StoreUpgrade.Settings()
  /// Names of other files and folders beside the store that only a store's server makes: where one is, a store was.
  var companions: [String] = []
  /// Whether the file is a journal's working copy: what a power cut took of it the journal still has.
  var isCopy = false

  func open() throws(StorageError) -> SQLiteConnection {
    let log = try throwIfLost()
    let connection = try SQLiteConnection(path: path, creates: true, vfs: LogFileSystem.name(over: options.vfs))
    try connection.execute(Pragmas.creation(options))
    let tables = try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'")
    if !tables.isEmpty { try Self.throwIfNewer(connection, known: upgrade.schema.version) }
    for pragma in Pragmas.writer(options) { try connection.execute(pragma) }
    guard try connection.texts("PRAGMA journal_mode") == ["wal"] else {
      throw StorageError(
        .failed, "\(path) is on a file system without shared memory, which the write-ahead log needs. Use a local disk.")
    }
    if tables.isEmpty {
      try throwIfTraces()
      try create(connection)
    } else {
      try StoreUpgrade(connection: connection, settings: upgrade).run()
    }
    let digests = try RowDigests.follow(connection)
    connection.digests = digests
    try throwIfMisplaced(connection)
    if isCopy {
      LogFileSystem.log(of: connection.handle)?.isSynced = false
      return connection
    }
    // What was made or migrated is durable before anybody builds on it.
    guard let file = LogFileSystem.log(of: connection.handle), file.sync() == SQLITE_OK else {
      throw StorageError(.failed, "The disk refused an fsync of \(path). Check the disk and its space, then start again.")
    }
    file.keep(
      try DurableMark(path: path + DurableMark.ending),
      from: DurableMark.Extent(
        salts: log.salts ?? 0, bytes: log.salts == nil ? 0 : log.soundBytes, transactions: digests.transactions))
    if let limits = options.reserve {
      file.reserve = try LogReserve(path: logPath, limits: limits, bytesMax: options.walBytesKept)
    }
    return connection
  }

  /// Says no before anything in the file is touched.
  static func throwIfNewer(_ connection: SQLiteConnection, known: Int = SchemaScript.version) throws(StorageError) {
    let other = StorageError(.damaged, "\(connection.path) is a SQLite file, but no Doubloon store. Choose another folder.")
    guard try !connection.texts("SELECT name FROM sqlite_master WHERE name = 'meta'").isEmpty else { throw other }
    guard let version = try connection.meta(.schemaVersion) else {
      guard let unreleased = try connection.meta(.unreleasedSchemaVersion) else { throw other }
      throw StorageError(
        .newerSchema,
        "\(connection.path) was written by a version of Doubloon before 0.1 (schema \(unreleased) of that time), which this program "
          + "does not read. Export it with the program that wrote it (doubloon data export / tree.json; doubloon accounts export "
          + "accounts.json), then import both files here into a new folder (doubloon data import, doubloon accounts import).")
    }
    guard version <= known else {
      let folder = FileCalls.folder(of: connection.path)
      let copies = FileCalls.names(in: folder).filter {
        $0.hasPrefix("doubloon.db.schema-") && $0.hasSuffix(StoreUpgrade.copyEnding)
      }
      let copy = copies.sorted().last.map {
        " Or go back to \(folder)/\($0), which was copied before the upgrade: \"doubloon restore\" makes a data folder of it, without "
          + "what happened since."
      }
      throw StorageError(
        .newerSchema,
        "\(connection.path) has schema \(version), this program knows up to \(known): a newer version of Doubloon wrote it. Nothing "
          + "was changed. Use that version, or a newer one. To go back for good, export with the newer program (doubloon data export / "
          + "tree.json; doubloon accounts export accounts.json) and import both files here into a new folder.\(copy ?? "")")
    }
  }

  /// A working copy is written in a term of its journal only, and nothing else is taken for one.
  private func throwIfMisplaced(_ connection: SQLiteConnection) throws(StorageError) {
    let position = try connection.journalPosition()
    guard (position != nil) != isCopy else { return }
    let folder = FileCalls.folder(of: path)
    throw StorageError(
      .unsuitable,
      position == nil
        ? "\(path) is a store of its own, and no working copy of one in PostgreSQL. Give the copies another folder; \"doubloon move\" "
          + "takes a store into PostgreSQL."
        : "\(folder) is a node's working copy of a store in PostgreSQL, and what was written here would be lost. Start the server with "
          + "the PostgreSQL of that store, or choose another folder.")
  }

  private func create(_ connection: SQLiteConnection) throws(StorageError) {
    try connection.execute("BEGIN IMMEDIATE")
    try connection.execute(SchemaScript.text)
    try connection.setMeta(.schemaVersion, to: Int64(SchemaScript.version))
    try connection.setMeta(.epoch, to: 1)
    try connection.setMeta(.nextNamespace, to: 1)
    try connection.writeDigests()
    try connection.execute("COMMIT")
    // SQLite syncs the name of its log file; that of the main file is ours to sync.
    try FileCalls.sync(FileCalls.folder(of: path))
  }
}

/// What must be there and is not: looked for before SQLite opens a store, because SQLite would go on without it.
extension StoreOpening {
  private var logPath: String { path + "-wal" }

  /// Refuses to open a store of which something is missing that was durable, and cuts off what a power cut tore.
  ///
  /// - Returns: the log as it will be played back.
  func throwIfLost() throws(StorageError) -> LogInspection {
    if (FileCalls.size(path) ?? 0) == 0 { try throwIfTraces() }
    let log = try LogInspection(path: logPath)
    if !isCopy, let loss = try loss(in: log) {
      throw StorageError(
        .damaged,
        "\(loss) Nothing was changed. Restore the last backup into a new folder; or, to go on without what is lost, run "
          + "\"doubloon recover --data \(FileCalls.folder(of: path))\".")
    }
    // A later crash must not make what is left of this one look like something that was whole. Zeros and frames of earlier
    // generations never do, and are kept to be written over.
    if log.hasRest { try FileCalls.truncate(logPath, to: log.soundBytes) }
    return log
  }

  /// What is missing of a log, in a sentence; nil if it has all that was acknowledged.
  func loss(in log: LogInspection) throws(StorageError) -> String? {
    let mark = DurableMark.extent(at: path + DurableMark.ending)
    if mark == .recovering { return "Giving up what is lost of \(path) was begun, and cut off." }
    if log.isBrokenInTheMiddle, let offset = log.breakOffset {
      let count = log.laterTransactions
      let later = count == 0 ? "what follows" : count == 1 ? "1 later transaction" : "\(count) later transactions"
      return
        "\(logPath) is damaged at byte \(offset): what was written there and \(later) had been acknowledged, and cannot be read."
    }
    guard let mark, mark.bytes > 0 else { return nil }
    // A log that began again since has other salts, and all of the one before is in the main file.
    if let salts = log.salts, salts != mark.salts || log.soundBytes >= mark.bytes { return nil }
    // Without a frame in the log SQLite takes the main file as it is.
    guard log.soundBytes <= LogInspection.headerBytes else {
      return
        "\(logPath) can be read up to byte \(log.soundBytes), but \(mark.bytes) bytes of it had been synced: what was "
        + "acknowledged between is lost."
    }
    guard let reason = try missing(before: mark.transactions) else { return nil }
    let what = log.fileBytes == 0 ? "is missing or empty" : "holds nothing that can be read"
    return
      "\(logPath) \(what), but \(mark.bytes) bytes of it had been synced, and \(path) does not show that it has what they "
      + "held: \(reason)"
  }

  /// What the main file lacks of what was acknowledged, in a sentence; nil if it holds all of it without a log.
  ///
  /// Another program that opens the store of a process that died (`sqlite3` does, to look at it) moves the whole log into the main
  /// file, and removes the log. The number of transactions shows how far the file goes; a check of every row, that it is whole:
  /// of a log that was only moved in part, and then lost, the one may be there without the other.
  private func missing(before transactions: Int64) throws(StorageError) -> String? {
    guard (FileCalls.size(path) ?? 0) > 0 else { return "it is empty." }
    let connection = try SQLiteConnection(unchanging: path, vfs: options.vfs)
    defer { connection.close() }
    let found: Int64
    do throws(StorageError) {
      guard try !connection.texts("SELECT name FROM sqlite_master WHERE name = 'row_digest'").isEmpty else {
        return "it holds no tables."
      }
      try Self.throwIfNewer(connection, known: upgrade.schema.version)
      found = try RowDigests.stored(on: connection)[RowDigests.transactionsKey]?.count ?? 0
    } catch {
      if error.code == .newerSchema { throw error }
      return error.message
    }
    guard found >= transactions else { return "it ends with transaction \(found) of \(transactions)." }
    var check = StoreCheck(connection: connection)
    let report = check.run()
    guard let fault = report.faults.first else { return nil }
    return "it was damaged, or changed by another program. \(fault)"
  }

  /// Says no to an empty store in a folder that held one.
  func throwIfTraces() throws(StorageError) {
    let folder = FileCalls.folder(of: path)
    // An empty folder was perhaps made for what comes.
    var traces = companions.map { folder + "/" + $0 }.filter { !FileCalls.isVacant($0) }
    // A log that is empty may be of a creation that was cut off; so may one without a mark beside it, of no whole transaction.
    if try LogInspection(path: logPath).soundBytes > LogInspection.headerBytes { traces.append(logPath) }
    if DurableMark.extent(at: path + DurableMark.ending) != nil { traces.append(path + DurableMark.ending) }
    guard let first = traces.first else { return }
    let what = FileCalls.size(path).map { $0 == 0 ? "is empty" : "holds no tables" } ?? "is missing"
    throw StorageError(
      .damaged,
      "\(path) \(what), but \(first) is there: this folder held a store. Nothing was created. Put the file back, or restore "
        + "the last backup into a new folder. To begin with an empty store, move all of \(folder) away first.")
  }
}

extension SQLiteEngine {
  /// Makes a store that can be opened of one whose log is damaged: what lies behind the damage is given up, the log as it was
  /// is kept beside, and a new epoch begins, as after a restore.
  ///
  /// - Returns: what was lost, in a sentence, and where the log is kept.
  /// - Throws: `StorageError.Code.unsuitable` if nothing is missing of the log.
  public static func acceptLoss(in directory: String) throws(StorageError) -> (loss: String, kept: String?) {
    guard FileCalls.exists(directory) else { throw StorageError(.failed, "There is no folder \(directory).") }
    let folder = try DataFolder(directory)
    defer { folder.release() }
    let opening = StoreOpening(path: folder.store, options: SQLiteOptions())
    if (FileCalls.size(folder.store) ?? 0) == 0 {
      try opening.throwIfTraces()
      throw StorageError(.failed, "There is no store in \(directory).")
    }
    let logPath = folder.store + "-wal"
    let log = try LogInspection(path: logPath)
    guard let loss = try opening.loss(in: log) else {
      throw StorageError(.unsuitable, "Nothing is missing of the log in \(directory); the store opens as it is.")
    }
    // Until the new epoch has begun no start may go on, whatever becomes of this process.
    let mark = try DurableMark(path: folder.store + DurableMark.ending)
    mark.write(.recovering)
    try FileCalls.sync(folder.store + DurableMark.ending)
    var kept: String?
    if log.fileBytes > 0 {
      let copy = FileCalls.freeName(logPath + ".damaged")
      try FileCalls.copy(logPath, to: copy)
      try FileCalls.sync(copy)
      try FileCalls.sync(directory)
      kept = copy
      try FileCalls.truncate(logPath, to: log.salts == nil ? 0 : log.soundBytes)
    }
    FileCalls.remove(folder.store + "-shm")
    try beginEpoch(in: folder)
    mark.remove()
    return (loss, kept)
  }

  /// Begins a new epoch in the main file, which holds everything then.
  private static func beginEpoch(in folder: DataFolder) throws(StorageError) {
    let connection = try SQLiteConnection(path: folder.store)
    defer { connection.close() }
    try StoreOpening.throwIfNewer(connection)
    try connection.beginEpoch()
    _ = try connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }
}

extension SQLiteConnection {
  /// Counts the epoch on: what happens from now on has other event ids than what was lost. Returns the new one.
  @discardableResult
  func beginEpoch() throws(StorageError) -> Int64 {
    guard let epoch = try meta(.epoch) else { throw damaged("the store's epoch") }
    if digests == nil, try !texts("SELECT name FROM sqlite_master WHERE name = 'row_digest'").isEmpty {
      digests = try RowDigests.follow(self)
    }
    try inTransaction { () throws(StorageError) in try setMeta(.epoch, to: epoch + 1) }
    return epoch + 1
  }
}
