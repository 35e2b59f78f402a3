internal import CSQLite
public import StorageCore

/// Brings a store that an older version wrote up to date: says what it will do, copies, changes and verifies in one
/// transaction. Whatever goes wrong, and whenever the process dies, the store is as it was or wholly of the new schema.
struct StoreUpgrade {
  /// How stores are brought up to date, and what tests put in the place of the machine.
  struct Settings: Sendable {
    var schema = SchemaHistory.released
    var policy = UpgradePolicy()
    /// What is free on the disk of a folder, in bytes; nil if the system does not say.
    var freeBytes: @Sendable (String) -> Int64? = FileCalls.freeBytes
    /// Called at each point where the process could die.
    var reached: @Sendable (Point) -> Void = { _ in }
  }

  /// Where an upgrade stands.
  enum Point: Sendable, Hashable {
    case planned, copied, begun
    /// After the step from this version.
    case stepped(Int)
    case verified, committed
  }

  /// What the log may need beyond the store's own size, in bytes.
  private static let spareBytes: Int64 = 16 << 20

  let connection: SQLiteConnection
  let settings: Settings

  /// Does it, if it is due.
  ///
  /// - Throws: `StorageError.Code.full` where there is no room, before anything is done; `.olderSchema` if the policy says no;
  ///   `.damaged` if the store or what became of it does not verify.
  func run() throws(StorageError) {
    let found = Int(try connection.meta(.schemaVersion) ?? 0)
    guard found < settings.schema.version else { return }
    guard let steps = settings.schema.steps(from: found) else {
      throw StorageError(
        .failed,
        "\(connection.path) has schema \(found), which this program cannot bring up to date. Open it with an older one first.")
    }
    let plan = StoreUpgrade.plan(for: connection.path, from: found, settings: settings)
    if settings.policy.mode == .refused {
      throw StorageError(
        .olderSchema,
        "An older version wrote it, and commands that look do not change it. \(plan) Do that with \"doubloon upgrade --data "
          + "\(FileCalls.folder(of: connection.path))\", or by starting the server.")
    }
    settings.policy.announce(.planned(plan))
    guard plan.fits else { throw Self.full(plan) }
    settings.reached(.planned)
    let copy = try plan.copy.map { path throws(StorageError) in try makeCopy(path) }
    if copy == nil { try Self.verifyWitnesses(connection, of: connection.path) }
    do throws(StorageError) {
      try migrate(steps, from: found)
    } catch {
      // The store is what the copy is: a server that tries again and again must not fill the disk.
      if let copy { FileCalls.remove(copy) }
      throw error
    }
    settings.policy.announce(.migrated(from: found, to: settings.schema.version))
  }

  /// What would be done.
  static func plan(for path: String, from found: Int, settings: Settings) -> UpgradePlan {
    let bytes = (FileCalls.size(path) ?? 0) + (FileCalls.size(path + "-wal") ?? 0)
    let hasCopy = settings.policy.mode != .uncopied
    let moment = settings.policy.moment.isEmpty ? "" : ".\(settings.policy.moment)"
    let copy = hasCopy ? FileCalls.freeName("\(path).schema-\(found)\(moment)\(copyEnding)") : nil
    return UpgradePlan(
      path: path, from: found, to: settings.schema.version, storeBytes: bytes, copy: copy,
      neededBytes: (hasCopy ? 2 : 1) * bytes + spareBytes, freeBytes: settings.freeBytes(FileCalls.folder(of: path)))
  }

  static let copyEnding = ".copy"

  private static func full(_ plan: UpgradePlan) -> StorageError {
    let command = "doubloon upgrade --no-copy --data \(FileCalls.folder(of: plan.path))"
    let way = plan.copy == nil ? "" : "; or, if you have a backup, go without the copy: \(command)"
    return StorageError(
      .full, "There is no room to bring the store up to date. \(plan) Nothing was done. Make room on the disk\(way).")
  }

  // MARK: The copy

  /// Makes the copy under one name until it was read again: what a process left there that was killed is replaced.
  private func makeCopy(_ path: String) throws(StorageError) -> String {
    let partial = connection.path + ".upgrading"
    do throws(StorageError) {
      try connection.backup(to: partial)
      let copy = try SQLiteConnection(unchanging: partial, vfs: nil)
      defer { copy.close() }
      try Self.verifyWitnesses(copy, of: connection.path)
      try FileCalls.rename(partial, to: path)
      try FileCalls.sync(FileCalls.folder(of: path))
    } catch {
      FileCalls.remove(partial)
      throw error
    }
    settings.policy.announce(.copied(to: path, bytes: FileCalls.size(path) ?? 0))
    settings.reached(.copied)
    return path
  }

  /// Checks what can be checked of a store of any version: its pages, and its rows against their digests.
  private static func verifyWitnesses(_ connection: SQLiteConnection, of path: String) throws(StorageError) {
    var faults = try connection.texts("PRAGMA integrity_check(5)").filter { $0 != "ok" }
    if faults.isEmpty, try !connection.texts("SELECT name FROM sqlite_master WHERE name = 'row_digest'").isEmpty {
      var check = StoreCheck(connection: connection)
      faults = check.runOnDigests().faults
    }
    guard let fault = faults.first else { return }
    throw StorageError(
      .damaged,
      "\(path) is damaged, and was not brought up to date: \(fault) Nothing was changed. Restore the last backup into a new folder."
    )
  }

  // MARK: The change

  private func migrate(_ steps: [SchemaMigration], from found: Int) throws(StorageError) {
    try connection.execute("BEGIN IMMEDIATE")
    do throws(StorageError) {
      settings.reached(.begun)
      for step in steps {
        try connection.execute(step.script)
        settings.reached(.stepped(step.from))
      }
      try connection.setMeta(.schemaVersion, to: Int64(settings.schema.version))
      try connection.writeDigests()
      try verify()
      settings.reached(.verified)
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
    settings.reached(.committed)
  }

  /// Reads everything as it would be committed.
  private func verify() throws(StorageError) {
    var check = StoreCheck(connection: connection)
    let report = check.run()
    guard let fault = report.faults.first else { return settings.policy.announce(.verified(rows: report.rows)) }
    throw StorageError(
      .damaged,
      "\(connection.path) would not be sound as schema \(settings.schema.version): \(fault) It was left as it is; go on with the "
        + "version that wrote it, and report this.")
  }
}

extension SQLiteEngine {
  /// What opening the store of a folder would do to it, without doing it; nil if it is up to date.
  ///
  /// - Throws: `StorageError.Code.newerSchema`, or `.failed` where there is no store, or one whose server did not stop in order: what
  ///   is in its log only cannot be read without changing it.
  public static func upgradePlan(
    directory: String, schema: SchemaHistory = .released, policy: UpgradePolicy = UpgradePolicy()
  ) throws(StorageError) -> UpgradePlan? {
    guard FileCalls.exists(directory + "/doubloon.db") else {
      throw StorageError(.failed, "There is no store in \(directory).")
    }
    // Nobody may change it meanwhile.
    let folder = try DataFolder(directory)
    defer { folder.release() }
    let connection = try SQLiteConnection(unchanging: folder.store, vfs: nil)
    defer { connection.close() }
    guard try LogInspection(path: folder.store + "-wal").soundBytes <= LogInspection.headerBytes else {
      throw StorageError(
        .failed,
        "The last server on \(directory) did not stop in order, and its log is not in the store yet. Start and stop the version that "
          + "wrote it, then look again; or upgrade without looking, which takes the log in first.")
    }
    try StoreOpening.throwIfNewer(connection, known: schema.version)
    let found = Int(try connection.meta(.schemaVersion) ?? 0)
    guard found < schema.version else { return nil }
    return StoreUpgrade.plan(for: folder.store, from: found, settings: StoreUpgrade.Settings(schema: schema, policy: policy))
  }
}
