internal import Crypto
public import StorageCore
internal import Synchronization
internal import TextFormats
internal import TreeModel

/// The journal of one term, in PostgreSQL: a batch is one transaction there, which begins with the lease's fence.
///
/// A node that has lost its lease finds the fence raised, and its batch divides by zero; so no two terms ever write beside each other,
/// whatever clocks and networks do. What became of a batch whose answer was lost is asked of the server that takes writes then, until
/// it is known.
public final class PostgresJournal: BatchJournal {
  /// How long a batch of unknown outcome is asked for before the term is given up, in milliseconds.
  static let patience: Int64 = 20_000
  /// How long its answer is waited for before it is asked for over another connection: a network that was cut tells nobody.
  private static let answerTime = 5000

  private struct State {
    var sent: Sent?
    var failure: StorageError?
    /// Until when, by ``MonotonicTime``, no other node can have taken the lease.
    var validUntil: Int64
    var hash: [UInt8]
    var totals = Totals()
    /// Whether this node has ended the term, and not PostgreSQL or another node.
    var isGivenUp = false
  }

  /// What has become durable in the term.
  public struct Totals: Sendable, Hashable {
    /// Batches.
    public var batches: Int64 = 0
    /// Their changes, in bytes.
    public var bytes: Int64 = 0
    /// From sending a batch to the answer that it is durable, all of them together, in milliseconds.
    public var time: Int64 = 0
  }

  private struct Sent {
    let batch: JournalBatch
    let time: Int64
    let digest: [UInt8]
    let hash: [UInt8]
    /// The store as of this batch, where no changes can tell what it does.
    let base: SchemaChange?
  }

  /// The whole store in another schema.
  public struct SchemaChange: Sendable {
    let upload: PostgresArchive.Upload
    let version: Int

    /// - `version`: the schema's.
    public init(_ upload: PostgresArchive.Upload, version: Int) {
      self.upload = upload
      self.version = version
    }
  }

  /// The lease's number.
  public let fence: Int64
  private let cell: PostgresCell
  /// Used by who sends and then by who waits, one after the other.
  private let link: UncheckedLink
  private let lock = ConditionLock()
  private let state: Mutex<State>

  /// `@unchecked Sendable`: ``append(_:)`` uses the link while nothing is on its way, and ``flush()`` while something is; both hold
  /// their turn by `State.sent`, which is exchanged under the lock.
  private struct UncheckedLink: @unchecked Sendable {
    let link: PostgresLink
  }

  /// - `fence`: that of the lease, just taken.
  /// - `hash`: of the last batch.
  public init(_ cell: PostgresCell, fence: Int64, hash: [UInt8]) throws(StorageError) {
    self.cell = cell
    self.fence = fence
    link = UncheckedLink(link: try cell.link())
    state = Mutex(State(sent: nil, failure: nil, validUntil: 0, hash: hash))
  }

  public var isCurrent: Bool {
    state.withLock { $0.failure == nil && MonotonicTime.now() < $0.validUntil }
  }

  /// Why nothing can be written any more; nil while it can.
  public var failure: StorageError? { state.withLock(\.failure) }

  /// What has become durable in the term.
  public var totals: Totals { state.withLock(\.totals) }

  /// A beat that was sent at this time was answered, and the lease was still this term's.
  ///
  /// - Parameter time: by the machine's monotonic clock, in milliseconds.
  public func noteBeat(sentAt time: Int64) {
    state.withLock { $0.validUntil = max($0.validUntil, time + PostgresLease.validity) }
  }

  /// Whether the lease may still be this term's though nothing is written in it any more.
  public var isGivenUp: Bool { state.withLock(\.isGivenUp) }

  /// Ends the term: another node has the lease, this one ends, or its copy cannot be written.
  public func end(_ reason: String) {
    link.link.stop()
    state.withLock { $0.isGivenUp = $0.isGivenUp || $0.failure == nil }
    _ = fail(reason)
  }

  public func append(_ batch: JournalBatch) throws(StorageError) { try append(batch, base: nil) }

  /// Appends a batch that stands for another schema, and in the same transaction the base that every other copy goes on with.
  ///
  /// One without the other would leave nothing to go on with where this node's machine is lost.
  public func append(_ schema: SchemaChange, at position: JournalPosition) throws(StorageError) {
    try append(JournalBatch(position: position, changes: [], guarded: []), base: schema)
  }

  private func append(_ batch: JournalBatch, base: SchemaChange?) throws(StorageError) {
    let digest = Array(SHA256.hash(data: batch.changes))
    lock.lock()
    while state.withLock({ $0.sent != nil && $0.failure == nil }) { lock.wait() }
    let (failure, before) = state.withLock { ($0.failure, $0.hash) }
    guard failure == nil else {
      lock.unlock()
      throw failure ?? StorageError(.lost, "The term is over.")
    }
    let sent = Sent(
      batch: batch, time: MonotonicTime.now(), digest: digest, hash: Self.hash(after: before, batch.position, digest: digest),
      base: base)
    state.withLock { $0.sent = sent }
    lock.unlock()
    // What cannot be sent is asked for by flush(), as what was not answered.
    try? link.link.send(statements(sent))
  }

  public func flush() throws(StorageError) {
    guard let sent = state.withLock(\.sent) else {
      if let failure { throw failure }
      return
    }
    defer {
      lock.lock()
      lock.broadcast()
      lock.unlock()
    }
    try finish(sent)
    state.withLock { state in
      (state.sent, state.hash) = (nil, sent.hash)
      state.totals.batches += 1
      state.totals.bytes += Int64(sent.batch.changes.count)
      state.totals.time += MonotonicTime.now() - sent.time
    }
  }

  /// The hash of a batch in the chain of all.
  static func hash(after before: [UInt8], _ position: JournalPosition, digest: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    hash.update(data: before)
    for number in [position.batch, position.fence] {
      withUnsafeBytes(of: number.bigEndian) { hash.update(bufferPointer: $0) }
    }
    hash.update(data: digest)
    return Array(hash.finalize())
  }

  // MARK: A batch

  private func statements(_ sent: Sent) -> [PostgresLink.Statement] {
    let position = sent.batch.position
    return [
      PostgresLink.Statement(
        """
        WITH held AS (UPDATE \(cell.schema).lease SET batch = $2 WHERE fence = $1 AND batch = $2 - 1 RETURNING 1)
        SELECT 1 / (SELECT count(*) FROM held)
        """, .integer(position.fence), .integer(position.batch)),
      PostgresLink.Statement(
        "INSERT INTO \(cell.schema).batch_log VALUES ($1, $2, $3, $4, $5)", .integer(position.batch), .integer(position.fence),
        .bytes(sent.digest), .bytes(sent.hash), .bytes(sent.batch.changes)),
    ] + GuardedRows(cell.schema).statements(sent.batch.guarded)
      + (sent.base.map { [cell.insertion(of: $0.upload, at: position, hash: sent.hash, schema: $0.version)] } ?? [])
  }

  private func finish(_ sent: Sent) throws(StorageError) {
    if link.link.isWaiting {
      do throws(PostgresError) {
        _ = try link.link.receive(timeout: Self.answerTime)
        return
      } catch {
        if let refusal = refusal(error, of: sent) { throw refusal }
      }
    }
    try resolve(sent)
  }

  /// What an answer means that says no; nil if it leaves open what happened.
  private func refusal(_ error: PostgresError, of sent: Sent) -> StorageError? {
    // The fence may be raised, or the batch may be there: it is looked for.
    if error.isUnknown || error.state == PostgresError.fenced || error.state == PostgresError.readOnly { return nil }
    if error.state == PostgresError.uniqueViolation {
      return fail(
        "PostgreSQL has refused batch \(sent.batch.position.batch), because something would be paid or done twice: \(error). This is "
          + "a fault of the program: keep the logs and report it.")
    }
    return fail("PostgreSQL has refused batch \(sent.batch.position.batch): \(error).")
  }

  /// Finds out what became of a batch, on whichever server takes writes, and brings it there if it is not.
  private func resolve(_ sent: Sent) throws(StorageError) {
    let end = MonotonicTime.now() + Self.patience
    var last = "no answer"
    repeat {
      link.link.close()
      let finding: Finding
      do throws(PostgresError) {
        finding = try settle(sent)
      } catch {
        if let refusal = refusal(error, of: sent) { throw refusal }
        (finding, last) = (.absent, error.description)
      }
      if finding == .there { return }
      if finding == .over { throw fail("another node leads by now") }
      if let failure { throw failure }
      MonotonicTime.wait(200)
    } while MonotonicTime.now() < end
    throw fail("PostgreSQL has not answered for \(Self.patience / 1000) seconds (\(last))")
  }

  /// Looks for a batch, and brings it there where it may be brought.
  private func settle(_ sent: Sent) throws(PostgresError) -> Finding {
    let finding = try look(for: sent)
    switch finding {
    case .there:
      // Behind it something small that standbys have to have: the batch may be visible though none of them has it.
      _ = try link.link.run("UPDATE \(cell.schema).lease SET node = node WHERE fence >= $1", .integer(fence))
    case .absent:
      _ = try link.link.run(statements(sent), timeout: Int(Self.patience))
      return .there
    case .over: break
    }
    return finding
  }

  private enum Finding {
    case there, absent, over
  }

  private func look(for sent: Sent) throws(PostgresError) -> Finding {
    let position = sent.batch.position
    // An old connection that still waits to commit holds the row; this waits for it.
    let rows = try link.link.run(
      [
        PostgresLink.Statement("SELECT fence, batch FROM \(cell.schema).lease FOR UPDATE"),
        PostgresLink.Statement(
          "SELECT digest FROM \(cell.schema).batch_log WHERE batch = $1 AND fence = $2", .integer(position.batch),
          .integer(position.fence)),
      ])
    guard let lease = rows[0].first else { return .over }
    if let found = rows[1].first, found.bytes(0) == sent.digest { return .there }
    return lease.integer(0) == fence && lease.integer(1) == position.batch - 1 ? .absent : .over
  }

  private func fail(_ reason: String) -> StorageError {
    lock.lock()
    defer {
      lock.broadcast()
      lock.unlock()
    }
    return state.withLock { state in
      let failure = state.failure ?? StorageError(.lost, "This node's term is over: \(reason).")
      state.failure = failure
      return failure
    }
  }
}
