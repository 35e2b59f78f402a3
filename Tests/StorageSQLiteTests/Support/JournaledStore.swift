import StorageCore
import StorageTestSupport

@testable import StorageSQLite

/// A store with a journal in memory, and copies of it that follow.
final class JournaledStore {
  let folder = TemporaryFolder()
  let journal = MemoryJournal()
  private(set) var fence: Int64 = 0

  /// Makes the base that every copy begins with.
  init() throws {
    let first = try SQLiteEngine(directory: folder.file("first"), options: tinyOptions)
    try first.backup(to: base)
    first.close()
    try SQLiteEngine.makeWorkingCopy(of: base, at: JournalPosition(batch: 0, fence: 0))
  }

  private var base: String { folder.file("base.db") }

  func path(_ node: String) -> String { folder.file(node) }

  /// Begins a node's copy.
  func install(_ node: String) throws {
    let moved = folder.file("\(node).base")
    try FileCalls.copy(base, to: moved)
    try WorkingCopy.install(moved, in: path(node))
  }

  /// Begins a term of a node's copy, which must be up to date.
  func lead(_ node: String) throws -> SQLiteEngine {
    fence += 1
    journal.begin()
    return try SQLiteEngine(workingCopy: path(node), journal: journal, fence: fence, options: tinyOptions)
  }

  /// Brings a node's copy up to date.
  func follow(_ node: String) throws {
    let copy = try WorkingCopy(in: path(node))
    defer { copy.close() }
    try copy.apply(Array(journal.batches.dropFirst(Int(copy.position.batch))))
  }

  /// Every row of every table, and what a check says, of a node's copy that nobody has open.
  func contents(_ node: String) throws -> [String] {
    let connection = try SQLiteConnection(path: path(node) + "/doubloon.db")
    defer { connection.close() }
    var lines: [String] = []
    for table in try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
      let columns = try connection.texts("SELECT 'quote(' || name || ')' FROM pragma_table_info('\(table)') ORDER BY cid")
      let row = columns.joined(separator: " || ',' || ")
      lines += try connection.texts("SELECT '\(table): ' || \(row) FROM \(table) ORDER BY 1")
    }
    var check = StoreCheck(connection: connection)
    return lines + check.run().faults
  }
}
