import Glibc
import Logging
import StorageCore
import StoragePostgres
import StorageSQLite
import Synchronization
import Triggers

/// The time in which this node leads: the store, opened to be written through PostgreSQL, and what is looked after meanwhile.
final class ClusterTerm: Sendable {
  /// How often it is looked whether a new base is due, in milliseconds.
  private static let interval: Int64 = 60_000
  /// So many bytes of batches make a new base due, and a quarter of the base before: what a node that begins has to take in.
  private static let bytesMin: Int64 = 64 << 20

  let engine: SQLiteEngine
  /// Keeps the keys of all nodes the same; nil where no secret is shared.
  let vault: KeyVault?
  private let journal: PostgresJournal
  private let cell: PostgresCell
  private let folder: String
  private let name: String
  private let schema: SchemaHistory
  private let heartbeat: Heartbeat
  private let startedAt: Int64
  private let logger: Logger

  /// Where a node stands when its term begins.
  struct Beginning {
    let journal: PostgresJournal
    /// The last batch before the term.
    let lastBatch: Int64
    /// The version of the copy's schema.
    let schema: Int
    /// When it is, in milliseconds since 1970.
    let time: Int64
  }

  /// - `folder`: the node's data folder.
  /// - `name`: the node's.
  /// - `schema`: the program's.
  /// - `sealingKey`: what the keys of all nodes are sealed with; nil: each node has its own.
  /// - `heartbeat`: what has seen the other nodes.
  init(
    _ beginning: Beginning, cell: PostgresCell, folder: String, name: String, schema: SchemaHistory, sealingKey: [UInt8]?,
    heartbeat: Heartbeat, logger: Logger
  ) throws(StorageError) {
    let journal = beginning.journal
    self.journal = journal
    self.cell = cell
    self.folder = folder
    self.name = name
    self.schema = schema
    self.heartbeat = heartbeat
    startedAt = beginning.time
    self.logger = logger
    let isOlder = beginning.schema < schema.version
    vault = try sealingKey.map { key throws(StorageError) in
      try KeyVault(key, cell: cell, fence: journal.fence, folder: "\(folder)/keys")
    }
    try vault?.pull()
    // Of all nodes: an event that ended one process after the other is found, wherever they ran.
    let archive = try PostgresArchive(cell, random: SystemRandomNumberGenerator())
    try archive.collect { notes throws(StorageError) in
      try Shard.crashNotes(in: folder).add(notes)
    }
    if isOlder { try Self.upgrade(folder, to: schema, journal, archive, after: beginning.lastBatch) }
    engine = try SQLiteEngine(workingCopy: folder, journal: journal, fence: journal.fence, schema: schema)
  }

  /// Brings the store to this program's schema. No batch can tell that: the other nodes go on with the base that comes with it.
  private static func upgrade(
    _ folder: String, to schema: SchemaHistory, _ journal: PostgresJournal, _ archive: PostgresArchive, after batch: Int64
  ) throws(StorageError) {
    let position = JournalPosition(batch: batch + 1, fence: journal.fence)
    let file = base(beside: folder)
    unlink(file)
    defer { unlink(file) }
    try SQLiteEngine.upgradeWorkingCopy(in: folder, to: schema, at: position, base: file)
    try journal.append(PostgresJournal.SchemaChange(try archive.send(file), version: schema.version), at: position)
    try journal.flush()
    // It is a base more; what cannot be removed now is removed with the next.
    try? archive.prune(keeping: 2, in: journal.fence)
  }

  /// Where a base is made before it is sent.
  private static func base(beside folder: String) -> String { "\(folder).base" }

  /// What is seen of the nodes and of the journal.
  var sight: ClusterSight {
    ClusterSight(node: name, term: journal.fence, startedAt: startedAt, nodes: heartbeat.nodes, totals: journal.totals)
  }

  /// Whether no other node can have written since.
  var isCurrent: Bool { journal.isCurrent }

  /// Whether nothing can be written in it any more.
  var isLost: Bool { journal.failure != nil }

  /// Returns when the term is over: the lease or PostgreSQL is lost, the copy cannot be written, or another node is asked for.
  ///
  /// - Parameter failure: why the writer has stopped, if it has.
  func wait(after failure: @Sendable () -> StorageError?) async throws {
    while journal.failure == nil, failure() == nil, heartbeat.successor == nil { try await Task.sleep(for: .milliseconds(50)) }
    if journal.failure == nil, failure() == nil, let successor = heartbeat.successor {
      // Ends in order: what was taken in becomes durable, and the lease is given back.
      return logger.notice("this node gives the lease to another", metadata: ["node": "\(successor)"])
    }
    let reason = journal.failure ?? failure()
    logger.warning("this node's term is over", metadata: ["reason": "\(reason?.message ?? "")"])
    guard !isLost else { return }
    // The copy cannot be written: what waits to be sent is told, and another node may lead at once.
    journal.end(reason?.message ?? "")
  }

  /// Makes a base whenever one is due, until the task is cancelled.
  ///
  /// One is due after an erasure, too: what was erased stands in the batches and the base before it.
  @Sendable func makeBases() async throws {
    let erased = Mutex((try? engine.erasures()) ?? 0)
    while true {
      try await Task.sleep(for: .milliseconds(Self.interval))
      await Self.onThread { [self] in
        do throws(StorageError) {
          let erasures = try engine.erasures()
          let isErased = erased.withLock { $0 != erasures }
          if !isErased { guard try isBaseDue() else { return } }
          guard try makeBase(keepingOlder: !isErased) else { return }
          erased.withLock { $0 = erasures }
        } catch {
          logger.warning("no base was made; the next look is in a minute", metadata: ["reason": "\(error.message)"])
        }
      }
    }
  }

  /// A large store has large bases: one is made in proportion to what has changed.
  private func isBaseDue() throws(StorageError) -> Bool {
    let archive = try PostgresArchive(cell, random: SystemRandomNumberGenerator())
    let size = try archive.newestBase()?.bytes ?? 0
    return try archive.bytesBehindBase() > max(Self.bytesMin, size / 4)
  }

  private static func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      BlockingThread {
        body()
        continuation.resume()
      }.detach()
    }
  }

  /// Keeps a copy of the store in PostgreSQL, and forgets the batches before the one before it.
  ///
  /// - Returns: false if its last batch never arrived there: then the term is over.
  private func makeBase(keepingOlder: Bool = true) throws(StorageError) -> Bool {
    let file = Self.base(beside: folder)
    defer { unlink(file) }
    let position = try engine.base(to: file)
    // The last batch of the file may still be on its way.
    let archive = try PostgresArchive(cell, random: SystemRandomNumberGenerator())
    for _ in 0..<50 {
      if try archive.add(file, at: position, schema: schema.version, keepingOlder: keepingOlder, in: journal.fence) {
        logger.notice("kept a base of the store in PostgreSQL", metadata: ["batch": "\(position.batch)"])
        return true
      }
      usleep(100_000)
    }
    return false
  }

  /// Closes the store, and gives the lease back if it is still this node's.
  func end() {
    engine.close()
    journal.end("the node gave it back")
    guard journal.isGivenUp, let lease = try? PostgresLease(cell, node: name) else { return }
    do throws(StorageError) {
      try lease.release(fence: journal.fence)
    } catch {
      logger.warning(
        "the lease could not be given back: another node leads in \(PostgresLease.patience / 1000) seconds",
        metadata: ["reason": "\(error.message)"])
    }
  }
}
