public import StorageCore
import Synchronization
public import TreeModel

/// Erases the past of some paths for a player who left: payloads of commits, history, checkpoint.
///
/// The records of the commits stay, with their digests and hashes, and so does what the commits changed elsewhere: the chain
/// verifies, a rebuild gives the same tree. See StorageCore's page *Commit records*.
///
/// Every step is a commit of its own and idempotent, and the record says which one is next: an interrupted erasure resumes
/// where it stopped.
public struct PastErasure: Sendable {
  /// Commits whose payloads one step rewrites.
  private static let commitsPerStep = 16
  /// Commits whose kept answers one step replaces.
  private static let answersPerStep = 5000

  let engine: any StorageEngine
  let writer: any TreeWriter
  let clock: any WallClock

  public init(engine: any StorageEngine, writer: any TreeWriter, clock: any WallClock) {
    self.engine = engine
    self.writer = writer
    self.clock = clock
  }

  /// Orders the erasure of everything committed so far at the record's paths, which must hold no data any more.
  ///
  /// - Throws: `CommitError`: `stale` if there is data.
  public func order(_ record: ErasureRecord, in namespace: NamespaceID) async throws(CommitError) -> ErasureRecord {
    var request = CommitRequest(namespace: namespace, actor: record.actor)
    request.decision = ErasureOrdering(record)
    request.log.isMarked = true
    request.rows.maintenance = Self.maintenance(.rows)
    var ordered = record
    ordered.order = try await commit(request).revision
    ordered.state = .forgetting
    return ordered
  }

  /// Erases the payloads, and seals the rest.
  ///
  /// - `answer`: what takes the place of answers that are kept with idempotency keys.
  public func forget(_ record: ErasureRecord, in namespace: NamespaceID, answer: [UInt8]) async throws -> ErasureRecord {
    guard let order = record.order else { return record }
    let paths = record.paths.map { PathBytes($0) }
    let revisions = try await listed(record, paths: paths, through: order, in: namespace)
    for start in stride(from: 0, to: revisions.count, by: Self.commitsPerStep) {
      let step = Array(revisions[start..<min(start + Self.commitsPerStep, revisions.count)])
      try await erase(.changes(of: step, below: paths, order: order), in: namespace)
    }
    try await replaceAnswers(to: revisions, by: answer, in: namespace)
    return try await seal(record, order: order, revisions: revisions, in: namespace)
  }

  /// Erases the copies beside the log: the history, and the paths in the last checkpoint.
  public func forgetBesideLog(_ record: ErasureRecord, in namespace: NamespaceID) async throws {
    guard let order = record.order else { return }
    let paths = record.paths.map { PathBytes($0) }
    if let step = try checkpointStep(paths, in: namespace) { try await erase(step, in: namespace) }
    for path in paths { try await erase(.past(below: path, through: order), in: namespace) }
  }

  /// How many commits have changes at the paths.
  public func touchedCount(_ paths: [PathBytes], in namespace: NamespaceID) throws(StorageError) -> Int {
    let head = try engine.read { (snapshot) throws(StorageError) in try snapshot.head(of: namespace).revision }
    return try touched(paths, through: head, in: namespace).count
  }

  // MARK: Steps

  /// The commits with changes below the paths, oldest first, from the history, which is erased last.
  private func touched(_ paths: [PathBytes], through last: Revision, in namespace: NamespaceID) throws(StorageError)
    -> [Revision]
  {
    var found: Set<Revision> = []
    for path in paths {
      var before = last.next
      while true {
        let touches = try engine.read { (snapshot) throws(StorageError) in
          try snapshot.touches(in: namespace, under: path, before: before, limit: 1000)
        }
        found.formUnion(touches.revisions)
        if touches.isComplete || touches.scannedThrough >= before { break }
        before = touches.scannedThrough
      }
    }
    return found.sorted()
  }

  /// The same, stored before the first of them is rewritten, because after a restart the recent history is read from the
  /// payloads.
  private func listed(_ record: ErasureRecord, paths: [PathBytes], through last: Revision, in namespace: NamespaceID)
    async throws -> [Revision]
  {
    let kept = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.record(in: namespace, kind: ErasureRecord.commitsKind, key: record.uid)
    }
    if let kept, let json = try? JSONParser.parse(kept), json["order"]?.int == last.rawValue,
      let commits = json["commits"]?.array
    {
      return commits.compactMap { $0.int.map { Revision($0) } }
    }
    let revisions = try touched(paths, through: last, in: namespace)
    let list: JSON = ["order": .int(last.rawValue), "commits": .array(revisions.map { .int($0.rawValue) })]
    var writer = JSONWriter()
    writer.write(list)
    var request = CommitRequest(namespace: namespace, actor: ErasureSeal.actor)
    request.rows.records = [
      KeyedRecordChange(
        kind: ErasureRecord.commitsKind, key: record.uid, value: String(decoding: writer.bytes, as: UTF8.self))
    ]
    request.rows.maintenance = Self.maintenance(.rows)
    _ = try await commit(request)
    return revisions
  }

  private func seal(_ record: ErasureRecord, order: Revision, revisions: [Revision], in namespace: NamespaceID)
    async throws -> ErasureRecord
  {
    var seal = ErasureSeal()
    for revision in revisions {
      let commit = try engine.read { (snapshot) throws(StorageError) in try snapshot.commit(in: namespace, at: revision) }
      if let part = commit?.erased.first(where: { $0.order == order }) { seal.add(revision, part) }
    }
    var sealed = record
    sealed.state = .sealed
    sealed.commits = seal.count
    var request = CommitRequest(namespace: namespace, actor: ErasureSeal.actor)
    request.log.requestID = seal.requestID(of: order)
    request.log.isMarked = true
    request.rows.records = [
      sealed.change, KeyedRecordChange(kind: ErasureRecord.commitsKind, key: record.uid, value: nil),
    ]
    request.rows.maintenance = Self.maintenance(.rows)
    _ = try await commit(request)
    return sealed
  }

  /// Answers are kept for a day at most. Those to requests that changed nothing have revision 0 and no known author: all of
  /// them are replaced.
  private func replaceAnswers(to revisions: [Revision], by answer: [UInt8], in namespace: NamespaceID) async throws {
    let now = clock.now()
    let kept = try engine.read { (snapshot) throws(StorageError) in
      let first = try snapshot.revision(in: namespace, at: now - 2 * 86_400_000)
      return [Revision.zero] + revisions.filter { $0 > first }
    }
    for start in stride(from: 0, to: kept.count, by: Self.answersPerStep) {
      let step = Array(kept[start..<min(start + Self.answersPerStep, kept.count)])
      try await erase(.answers(to: step, by: answer), in: namespace)
    }
  }

  /// The step for the last checkpoint; nil if it has no data at the paths.
  private func checkpointStep(_ paths: [PathBytes], in namespace: NamespaceID) throws(StorageError) -> Maintenance.Erasing? {
    let checkpoint = try engine.read { (snapshot) throws(StorageError) in try snapshot.checkpoint(of: namespace) }
    guard let checkpoint else { return nil }
    var hash = TreeHash()
    var isHit = false
    var last: PathBytes?
    while true {
      let from = last
      let page = try engine.read { (snapshot) throws(StorageError) in
        try snapshot.checkpointLeaves(in: namespace, of: checkpoint.revision, after: from, limit: 4096)
      }
      for leaf in page {
        if paths.contains(where: { $0.contains(leaf.path) }) { isHit = true } else { hash.add(leaf) }
      }
      last = page.last?.path
      if page.count < 4096 { break }
    }
    guard isHit else { return nil }
    return .checkpoint(checkpoint.revision, below: paths, treeHash: hash.finalized(), leafCount: hash.count)
  }

  private func erase(_ step: Maintenance.Erasing, in namespace: NamespaceID) async throws(CommitError) {
    var request = CommitRequest(namespace: namespace, actor: ErasureSeal.actor)
    request.rows.maintenance = Self.maintenance(step)
    _ = try await commit(request)
  }

  private static func maintenance(_ step: Maintenance.Erasing) -> Maintenance {
    var maintenance = Maintenance()
    maintenance.erasing = step
    return maintenance
  }

  private func commit(_ request: CommitRequest) async throws(CommitError) -> CommitReceipt {
    try await writer.commit(request)
  }
}

/// Begins the erasure, on the writer, of everything committed so far; only if there are no data at the paths any more.
final class ErasureOrdering: WriterDecision {
  private let record: ErasureRecord

  init(_ record: ErasureRecord) {
    self.record = record
  }

  func decide(in namespace: NamespaceID, at time: Int64, session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  {
    let (standing, head) = try refusing { () throws(StorageError) -> (Path?, NamespaceHead) in
      (try self.standing(in: namespace, session: session), try session.head(of: namespace))
    }
    if let standing { throw CommitError(.stale(.absent), "Something stands at \(standing) again.") }
    var ordered = record
    // The commit of this request: it is marked, so there is one.
    let order = head.revision.next
    ordered.order = order
    ordered.state = .forgetting
    session.put(ordered.change, in: namespace)
    for change in ordered.placeChanges(order, at: time) { session.put(change, in: namespace) }
    return []
  }

  /// A path that still has data; nil if none has.
  private func standing(in namespace: NamespaceID, session: any CommitSession) throws(StorageError) -> Path? {
    for path in record.paths
    where try !session.leaves(in: namespace, under: PathBytes(path), limit: 1).isEmpty { return path }
    return nil
  }
}

/// Lets one task at a time rewrite the past: a pruning that reads what an erasure is about to remove would copy it into its
/// checkpoint.
public final class MaintenanceTurn: Sendable {
  private let holder = Mutex<String?>(nil)

  init() {}

  /// Claims the right to rewrite the past.
  ///
  /// - Parameter work: what it is for: "An erasure", "A pruning".
  /// - Returns: who has it, if it is taken; nil if it is the caller's now, who must ``end()`` it.
  public func begin(_ work: String) -> String? {
    holder.withLock { holder in
      if let holder { return holder }
      holder = work
      return nil
    }
  }

  /// Releases the claim.
  public func end() { holder.withLock { $0 = nil } }
}
