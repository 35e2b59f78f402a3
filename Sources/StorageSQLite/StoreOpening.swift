internal import CSQLite
internal import StorageCore

/// Opens a store's file for its writer: creates it, takes it as it is, brings it up to date, or refuses it.
struct StoreOpening {
  let path: String
  let options: SQLiteOptions
  let migrations: [SchemaMigration]
  /// Names of other files and folders beside the store that only a store's server makes: where one is, a store was.
  var companions: [String] = []

  func open() throws(StorageError) -> SQLiteConnection {
    let log = try refuseLoss()
    let connection = try SQLiteConnection(path: path, creates: true, vfs: LogFileSystem.name(over: options.vfs))
    try connection.execute(Pragmas.creation(options))
    let tables = try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'")
    if !tables.isEmpty { try Self.refuseNewer(connection) }
    for pragma in Pragmas.writer(options) { try connection.execute(pragma) }
    guard try connection.texts("PRAGMA journal_mode") == ["wal"] else {
      throw StorageError(
        .failed, "\(path) is on a file system without shared memory, which the write-ahead log needs. Use a local disk.")
    }
    if tables.isEmpty {
      try refuseTraces()
      try create(connection)
    } else {
      try migrate(connection)
    }
    let digests = try RowDigests.follow(connection)
    connection.digests = digests
    // What was made or migrated is durable before anybody builds on it.
    guard let file = LogFileSystem.log(of: connection.handle), file.sync() == SQLITE_OK else {
      throw StorageError(.failed, "The disk refused an fsync of \(path). Check the disk and its space, then start again.")
    }
    file.keep(
      try DurableMark(path: path + DurableMark.ending),
      from: DurableMark.Extent(
        salts: log.salts ?? 0, bytes: log.salts == nil ? 0 : log.soundBytes, transactions: digests.transactions))
    return connection
  }

  /// Says no before anything in the file is touched.
  static func refuseNewer(_ connection: SQLiteConnection) throws(StorageError) {
    guard try !connection.texts("SELECT name FROM sqlite_master WHERE name = 'meta'").isEmpty,
      let version = try connection.meta(.schemaVersion)
    else {
      throw StorageError(.damaged, "\(connection.path) is a SQLite file, but no Doubloon store. Choose another folder.")
    }
    guard version <= SchemaScript.version else {
      throw StorageError(
        .newerSchema,
        "\(connection.path) has schema \(version), this program knows up to \(SchemaScript.version). Use a newer Doubloon.")
    }
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

  /// Brings an older store up to date in one transaction, with a copy of it beside.
  private func migrate(_ connection: SQLiteConnection) throws(StorageError) {
    let found = Int(try connection.meta(.schemaVersion) ?? 0)
    guard found < SchemaScript.version else { return }
    let steps = (found..<SchemaScript.version).compactMap { version in migrations.first { $0.from == version } }
    guard steps.count == SchemaScript.version - found else {
      throw StorageError(
        .failed, "\(path) has schema \(found), which this program cannot bring up to date. Open it with an older one first.")
    }
    try connection.backup(to: "\(path).v\(found).backup")
    try connection.execute("BEGIN IMMEDIATE")
    do {
      for step in steps { try connection.execute(step.script) }
      try connection.setMeta(.schemaVersion, to: Int64(SchemaScript.version))
      try connection.writeDigests()
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
  }
}
