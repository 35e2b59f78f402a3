import StorageCore
import Synchronization
import TestSupport

@testable import StorageSQLite

/// A journal in memory, whose answers a test decides.
final class MemoryJournal: BatchJournal {
  private struct State {
    var batches: [JournalBatch] = []
    var sent: JournalBatch?
    var isLost = false
    /// What is done before a batch is durable.
    var stall: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// What is durable.
  var batches: [JournalBatch] { state.withLock(\.batches) }
  var isCurrent: Bool { state.withLock { !$0.isLost } }

  /// From now on nothing is taken in.
  func lose() { state.withLock { $0.isLost = true } }

  func end(_ reason: String) { lose() }

  /// Another term may write.
  func begin() { state.withLock { ($0.isLost, $0.sent) = (false, nil) } }

  func stall(_ body: (@Sendable () -> Void)?) { state.withLock { $0.stall = body } }

  func append(_ batch: JournalBatch) throws(StorageError) {
    let isRefused = state.withLock { state in
      if state.isLost { return true }
      precondition(state.sent == nil, "One batch at a time.")
      precondition(batch.position.batch == (state.batches.last?.position.batch ?? 0) + 1, "Batches follow one on the other.")
      state.sent = batch
      return false
    }
    if isRefused { throw Self.lost }
  }

  func flush() throws(StorageError) {
    state.withLock(\.stall)?()
    let isLost = state.withLock { state in
      if state.isLost { return true }
      if let sent = state.sent { state.batches.append(sent) }
      state.sent = nil
      return false
    }
    if isLost { throw Self.lost }
  }

  private static let lost = StorageError(.lost, "The term is over.")
}

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
