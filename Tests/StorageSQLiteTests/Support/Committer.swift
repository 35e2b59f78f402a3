import RewardModel
import StorageCore
import TreeModel

@testable import StorageSQLite

/// Writes commits as the pipeline does: changes with what stood before, chained records, heads.
final class Committer {
  let session: any WriteSession
  let ns: NamespaceID

  init(_ engine: SQLiteEngine, namespace: String = "game") throws {
    session = try engine.makeWriteSession()
    ns = try session.namespace(named: namespace, creatingAt: 1)!
  }

  /// Adds one commit to the batch.
  @discardableResult
  func put(_ values: [PathBytes: Scalar?]) throws -> Revision {
    var head = try session.head(of: ns)
    let revision = head.revision.next
    var changes: [LeafChange] = []
    for (path, scalar) in values.sorted(by: { $0.key < $1.key }) {
      let before = try session.leaf(in: ns, at: path)?.leaf.scalar
      guard before != scalar else { continue }
      changes.append(LeafChange(path: path, before: before, after: scalar))
      session.setLeaf(scalar, at: path, revision: revision, in: ns)
    }
    let record = commit(revision, changes, after: head)
    session.append(record)
    head.revision = revision
    head.time = record.time
    head.commitHash = record.hash
    session.setHead(head, of: ns)
    return revision
  }

  @discardableResult
  func put(_ path: Path, _ scalar: Scalar?) throws -> Revision {
    try put([PathBytes(path): scalar])
  }

  func commit(_ revision: Revision, _ changes: [LeafChange], after head: NamespaceHead) -> CommitRecord {
    let digest = CommitRecord.digest(of: changes)
    let time = 1000 + revision.rawValue
    let hash = CommitRecord.chainHash(
      previous: head.commitHash, epoch: session.epoch, revision: revision, time: time, actor: .anonymous, requestID: nil,
      cause: nil, suppressesTriggers: false, digest: digest)
    return CommitRecord(
      namespace: ns, epoch: session.epoch, revision: revision, time: time, actor: .anonymous, requestID: nil, cause: nil,
      suppressesTriggers: false, changes: changes, digest: digest, hash: hash)
  }

  /// Adds one entry to the batch.
  @discardableResult
  func post(_ transfer: LedgerTransfer, after: (debit: Int64, credit: Int64) = (-1, 1)) throws -> LedgerEntry {
    var head = try session.head(of: ns)
    let entry = LedgerEntry(
      sequence: head.entrySequence + 1, revision: head.revision.rawValue, time: 7, transfer: transfer,
      debitAfter: after.debit, creditAfter: after.credit, previousHash: head.entryHash)
    session.append(entry, in: ns)
    head.entrySequence = entry.sequence
    head.entryHash = entry.hash
    session.setHead(head, of: ns)
    return entry
  }
}

/// A transfer to `user`.
func transfer(_ user: String, key: String, reverses: Int64? = nil) -> LedgerTransfer {
  LedgerTransfer(
    debit: .issuance("signup"), credit: LedgerAccount("user:\(user)"), amount: 50, unit: "pieces_of_eight", code: "signup",
    key: BusinessKey(key), event: "1-1:/users/\(user)", function: "reward", subject: nil, reverses: reverses, reason: "why",
    allowsNegative: false, expiresAt: reverses)
}

/// Limits so small that a few commits cross every border.
var tinyOptions: SQLiteOptions {
  var options = SQLiteOptions()
  options.history = HistoryLimits(
    generationChanges: 12, sliceRows: 2, blockChanges: 3, mergeRuns: 3, mergeRows: 5)
  return options
}

/// The same, with a log that restarts after a few commits, in a file that is written ahead from the first of them on.
var reservedOptions: SQLiteOptions {
  var options = tinyOptions
  options.walBytesMax = 64 << 10
  options.walBytesKept = 1 << 20
  options.reserve = LogReserve.Limits(from: 0, step: 64 << 10, freeMin: 0)
  return options
}

extension StorageReading {
  func value(in ns: NamespaceID, _ path: Path) throws -> Scalar? {
    try leaf(in: ns, at: PathBytes(path))?.leaf.scalar
  }
}

/// A place whose text is put together.
func at(_ text: String) -> PathBytes {
  do {
    return PathBytes(try Path(parsing: text))
  } catch {
    preconditionFailure("\(error)")
  }
}
