internal import Glibc
internal import StorageCore
internal import StoragePostgres
public import StorageSQLite
internal import Synchronization
internal import TestSupport

/// The stores that tests work on. Whatever a test shows of a store that stands alone it shows of a journal's working copy as well: with
/// a journal in memory where a suite asks for that, and in PostgreSQL where `DOUBLOON_TEST_POSTGRES` has a connection string.
public enum TestStore {
  /// Where batches become durable.
  public enum Journal: Sendable, Hashable {
    /// In the store's file.
    case none
    case memory
    /// In a schema of its own for each store.
    case postgres(url: String)
  }

  @TaskLocal public static var journal: Journal =
    getenv("DOUBLOON_TEST_POSTGRES").map { .postgres(url: String(cString: $0)) } ?? .none

  /// The terms of the stores in folders: one that is opened again goes on with its journal, as a node that comes back.
  private static let terms = Mutex<[String: any TestTerms]>([:])

  /// Opens the store in a folder, made where there is none.
  ///
  /// - `directory`: nil: a folder of its own, which goes with the engine.
  public static func open(_ directory: String? = nil, options: SQLiteOptions = SQLiteOptions()) throws -> SQLiteEngine {
    if journal == .none {
      guard let directory else { return try SQLiteEngine.inMemory(options: options) }
      return try SQLiteEngine(directory: directory, options: options)
    }
    guard let directory else {
      let folder = TemporaryFolder(isInMemory: true)
      return try makeTerms(folder.path, keeping: folder).begin(options)
    }
    let known = terms.withLock { $0[directory] }
    let terms = try known ?? makeTerms(directory, keeping: nil)
    Self.terms.withLock { $0[directory] = terms }
    return try terms.begin(options)
  }

  private static func makeTerms(_ path: String, keeping folder: TemporaryFolder?) throws -> any TestTerms {
    let base = "\(path).base"
    defer { unlink(base) }
    mkdir(path, 0o700)
    if SQLiteEngine.isVacant(directory: path) {
      try SQLiteEngine.makeFirstCopy(at: base)
    } else {
      let engine = try SQLiteEngine(directory: path)
      defer { engine.close() }
      try engine.backup(to: base)
      try SQLiteEngine.makeWorkingCopy(of: base, at: JournalPosition(batch: 0, fence: 0))
    }
    let terms: any TestTerms
    switch journal {
    case .postgres(let url): terms = try PostgresTerms(url, base: base, path: path, folder: folder)
    default: terms = MemoryTerms(path: path, folder: folder)
    }
    try WorkingCopy.install(base, in: path)
    return terms
  }
}

/// The terms of one store.
private protocol TestTerms: Sendable {
  /// Begins the next one, on a copy that has what the journal has.
  func begin(_ options: SQLiteOptions) throws -> SQLiteEngine
}

private final class MemoryTerms: TestTerms {
  private let journal = MemoryJournal()
  private let path: String
  private let folder: TemporaryFolder?

  init(path: String, folder: TemporaryFolder?) {
    (self.path, self.folder) = (path, folder)
  }

  func begin(_ options: SQLiteOptions) throws -> SQLiteEngine {
    journal.begin()
    let copy = try WorkingCopy(in: path)
    try copy.apply(Array(journal.batches.dropFirst(Int(copy.position.batch))))
    let fence = copy.position.fence + 1
    copy.close()
    return try SQLiteEngine(workingCopy: path, journal: KeptJournal(journal, by: self), fence: fence, options: options)
  }
}

private final class PostgresTerms: TestTerms {
  private static let count = Atomic<Int>(0)

  private let cell: PostgresCell
  private let path: String
  private let folder: TemporaryFolder?

  init(_ url: String, base: String, path: String, folder: TemporaryFolder?) throws {
    let number = Self.count.add(1, ordering: .relaxed).newValue
    cell = PostgresCell(url: url, schema: "test_\(getpid())_\(number)")
    (self.path, self.folder) = (path, folder)
    let archive = try PostgresArchive(cell, random: SystemRandomNumberGenerator())
    guard try archive.create(from: base, schema: SchemaScript.version) else {
      throw StorageError(.failed, "The schema of a test's store is another's.")
    }
  }

  func begin(_ options: SQLiteOptions) throws -> SQLiteEngine {
    let lease = try PostgresLease(cell, node: "test")
    guard let view = try lease.look(), let taken = try lease.take(view, address: "") else {
      throw StorageError(.lost, "A test's store is led by another.")
    }
    let archive = PostgresArchive(beside: lease, random: SystemRandomNumberGenerator())
    let copy = try WorkingCopy(in: path)
    guard var hash = try archive.hash(at: copy.position) else {
      throw StorageError(.damaged, "PostgreSQL does not know the batch.")
    }
    while true {
      let next = try archive.batches(after: copy.position, hash: &hash)
      if next.isEmpty { break }
      try copy.apply(next)
    }
    copy.close()
    let journal = try PostgresJournal(cell, fence: taken.fence, hash: hash)
    // No other node is there that could take the lease.
    journal.noteBeat(sentAt: MonotonicTime.now() + 3_600_000)
    return try SQLiteEngine(workingCopy: path, journal: KeptJournal(journal, by: self), fence: taken.fence, options: options)
  }
}

/// A journal that keeps its store's folder for as long as there is an engine on it.
private final class KeptJournal: BatchJournal {
  private let journal: any BatchJournal
  private let keeper: any TestTerms

  init(_ journal: any BatchJournal, by keeper: any TestTerms) {
    (self.journal, self.keeper) = (journal, keeper)
  }

  var isCurrent: Bool { journal.isCurrent }

  func append(_ batch: JournalBatch) throws(StorageError) { try journal.append(batch) }

  func flush() throws(StorageError) { try journal.flush() }

  func end(_ reason: String) { journal.end(reason) }
}
