public import StorageCore
import TreeModel

/// Forgets what commits before a revision changed, behind a checkpoint of the tree.
///
/// The records of the commits stay, with their digests: the chain verifies from its beginning. Ledger, executions and
/// business keys are not touched. What goes are the changes, and with them the trees and the events' values of that time;
/// reads and replays say so.
///
/// Every step is a commit of its own, and nothing is forgotten before the whole checkpoint is durable: a process that dies
/// on the way leaves either the log as it was, or a pruned log of which the next pruning removes the rest.
public struct LogPruning: Sendable {
  private static let leavesPerCommit = 1024
  private static let revisionsPerCommit: Int64 = 1024

  let engine: any StorageEngine
  let writer: any TreeWriter
  let clock: any WallClock

  public init(engine: any StorageEngine, writer: any TreeWriter, clock: any WallClock) {
    self.engine = engine
    self.writer = writer
    self.clock = clock
  }

  /// How far the log can be pruned, without pruning it.
  ///
  /// What an event needs that waits, is kept or is a dead letter, is kept: its function decides on the tree of its time.
  public func plan(through requested: Revision, in namespace: NamespaceID) throws(StorageError) -> PruningReport {
    try engine.read { (snapshot) throws(StorageError) in
      let before = try snapshot.prunedRevision(of: namespace)
      let head = try snapshot.head(of: namespace).revision
      let settled = try snapshot.settledRevision(of: namespace)
      var through = min(requested, head)
      var heldBack: String?
      if let first = try snapshot.firstDeliveryRevision(in: namespace), first <= through {
        through = first.previous
        heldBack =
          "an event of revision \(first) waits, is kept or is a dead letter; retry or acknowledge it, and prune again"
      }
      if settled < through,
        try snapshot.events(in: namespace, after: .init(revision: settled.next, path: nil), limit: 1)
          .contains(where: { $0.id.revision <= through })
      {
        through = settled
        heldBack = "the events after revision \(settled) are not known to be settled yet; prune again a little later"
      }
      return PruningReport(
        requested: requested, before: before, through: max(through, before), heldBack: heldBack, checkpoint: nil)
    }
  }

  /// Prunes.
  ///
  /// - Throws: `StorageError`, or `CommitError` if the writer could not go on; it may be called again.
  public func prune(through requested: Revision, in namespace: NamespaceID, by actor: Actor, because reason: String)
    async throws -> PruningReport
  {
    let plan = try plan(through: requested, in: namespace)
    guard plan.through > plan.before else {
      // One that was cut off behind its checkpoint goes on.
      if plan.before > .zero { try await forget(through: plan.before, in: namespace) }
      return plan
    }
    // What one that was cut off before its checkpoint has left is no part of this one.
    var clearing = Maintenance()
    clearing.pruning = .clearLeaves(keeping: plan.before)
    try await commit(clearing, in: namespace)
    let checkpoint = try await writeCheckpoint(plan.through, in: namespace, by: actor, because: reason)
    var maintenance = Maintenance()
    maintenance.checkpoint = checkpoint
    try await commit(maintenance, in: namespace)
    try await forget(through: plan.through, in: namespace)
    return PruningReport(
      requested: requested, before: plan.before, through: plan.through, heldBack: plan.heldBack, checkpoint: checkpoint)
  }

  private func writeCheckpoint(_ revision: Revision, in namespace: NamespaceID, by actor: Actor, because reason: String)
    async throws -> CheckpointRecord
  {
    let commit = try engine.read { (snapshot) throws(StorageError) in try snapshot.commit(in: namespace, at: revision) }
    guard let commit else {
      throw StorageError(.damaged, "Commit \(revision) is missing. Run \"doubloon log verify\", or restore a backup.")
    }
    var hash = TreeHash()
    var last: PathBytes?
    while true {
      let from = last
      let leaves = try engine.read { (snapshot) throws(StorageError) in
        try snapshot.leaves(in: namespace, after: from, asOf: revision, limit: Self.leavesPerCommit).map(\.leaf)
      }
      for leaf in leaves { hash.add(leaf) }
      var maintenance = Maintenance()
      maintenance.checkpointLeaves = (revision, leaves)
      if !leaves.isEmpty { try await self.commit(maintenance, in: namespace) }
      last = leaves.last?.path
      if leaves.count < Self.leavesPerCommit { break }
    }
    return CheckpointRecord(
      revision: revision, commitTime: commit.time, commitHash: commit.hash, treeHash: hash.finalized(),
      leafCount: hash.count, actor: actor, reason: reason, createdAt: clock.now())
  }

  private func forget(through revision: Revision, in namespace: NamespaceID) async throws {
    var maintenance = Maintenance()
    maintenance.pruning = .clearLeaves(keeping: revision)
    try await commit(maintenance, in: namespace)
    for start in stride(from: 0, to: revision.rawValue, by: Int(Self.revisionsPerCommit)) {
      let end = min(start + Self.revisionsPerCommit, revision.rawValue)
      maintenance.pruning = .forgetChanges(after: Revision(start), through: Revision(end))
      try await commit(maintenance, in: namespace)
    }
    maintenance.pruning = .forgetHistory(through: revision)
    try await commit(maintenance, in: namespace)
  }

  private func commit(_ maintenance: Maintenance, in namespace: NamespaceID) async throws(CommitError) {
    var request = CommitRequest(namespace: namespace, actor: .system("prune"))
    request.rows.maintenance = maintenance
    _ = try await writer.commit(request)
  }
}

/// What a pruning did, or would do.
public struct PruningReport: Sendable, Hashable {
  /// Up to here it was asked for.
  public let requested: Revision
  /// Up to here the log was pruned before.
  public let before: Revision
  /// Up to here it is pruned now; what was asked for, unless something holds it back.
  public let through: Revision
  /// What holds it back, in a sentence; nil if nothing does.
  public let heldBack: String?
  /// The checkpoint that was written; nil if there was nothing to prune, or nothing was to be written.
  public let checkpoint: CheckpointRecord?
}
