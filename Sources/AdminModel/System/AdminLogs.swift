package import TreeModel

/// The commit log and the audit log.
package enum AdminLogs {
  package static let verify = Endpoint<NoQuery, NoBody, Verification>(
    .get, "/admin/v1/log/verify", "Audits the chain of commits, and what refers to them.", isScoped: true)
  package static let checkpoint = Endpoint<NoQuery, NoBody, LastCheckpoint>(
    .get, "/admin/v1/log/checkpoint", "Up to where the log was pruned, with the last checkpoint.", isScoped: true)
  package static let prune = Endpoint<NoQuery, PruneOrder, Pruning>(
    .post, "/admin/v1/log/prune",
    "Forgets what commits changed, behind a checkpoint; body: through (revision) or before (ms), reason.", access: .admin,
    isScoped: true
  ).withProof
  package static let previewPruning = Endpoint<NoQuery, PrunePreviewOrder, Pruning>(
    .post, "/admin/v1/log/prune/preview",
    "How far a pruning would go, without it; body: through (revision) or before (ms).", isScoped: true)
  package static let audits = Endpoint<AuditQuery, NoBody, AuditPage>(
    .get, "/admin/v1/audits", "What administrators did and tried, refused or not, newest first.")

  /// What is wrong in the log.
  package struct LogFinding: AdminValue {
    package var revision: Int64?
    package var message: String

    package init(revision: Int64? = nil, message: String) {
      self.revision = revision
      self.message = message
    }
  }

  /// Whether the log is what was written.
  package struct Verification: AdminValue {
    package var sound: Bool
    package var commits: Int64
    /// Commits without their changes.
    package var forgotten: Int64
    /// Commits without the changes of players who left.
    package var erased: Int64
    /// Erasures that are under way or were cut off; order those again.
    package var unsealed: [Int64]
    package var entries: Int64
    package var executions: Int64
    package var pruned: Int64
    package var lastHash: String
    package var firstFault: LogFinding?
    package var faultCount: Int64
    package var faults: [LogFinding]

    package init(
      sound: Bool, commits: Int64, forgotten: Int64, erased: Int64, unsealed: [Int64], entries: Int64, executions: Int64,
      pruned: Int64, lastHash: String, firstFault: LogFinding? = nil, faultCount: Int64, faults: [LogFinding]
    ) {
      self.sound = sound
      self.commits = commits
      self.forgotten = forgotten
      self.erased = erased
      self.unsealed = unsealed
      self.entries = entries
      self.executions = executions
      self.pruned = pruned
      self.lastHash = lastHash
      self.firstFault = firstFault
      self.faultCount = faultCount
      self.faults = faults
    }

    package static let notes: [String: FieldNote] = [
      "forgotten": .text("commits without their changes"),
      "erased": .text("commits without the changes of players who left"),
      "unsealed": .text("erasures that are under way or were cut off; order those again"),
    ]
  }

  /// What stands for the commits that were pruned.
  package struct Checkpoint: AdminValue {
    package var revision: Int64
    package var commitTime: Timestamp
    package var commitHash: String
    /// SHA-256 of the canonical tree.
    package var treeHash: String
    package var leaves: Int64
    package var actor: String
    package var reason: String
    package var createdAt: Timestamp

    package init(
      revision: Int64, commitTime: Timestamp, commitHash: String, treeHash: String, leaves: Int64, actor: String,
      reason: String, createdAt: Timestamp
    ) {
      self.revision = revision
      self.commitTime = commitTime
      self.commitHash = commitHash
      self.treeHash = treeHash
      self.leaves = leaves
      self.actor = actor
      self.reason = reason
      self.createdAt = createdAt
    }

    package static let notes: [String: FieldNote] = [
      "treeHash": .text("SHA-256 of the canonical tree")
    ]
  }

  /// Up to where the log was pruned.
  package struct LastCheckpoint: AdminValue {
    package var pruned: Int64
    package var checkpoint: Checkpoint?

    package init(pruned: Int64, checkpoint: Checkpoint? = nil) {
      self.pruned = pruned
      self.checkpoint = checkpoint
    }
  }

  /// Up to where the log is pruned, and why.
  package struct PruneOrder: AdminValue {
    /// Up to this revision.
    package var through: Int64?
    /// Up to what was committed before.
    package var before: Timestamp?
    /// Why, for the record.
    package var reason: String

    package init(through: Int64? = nil, before: Timestamp? = nil, reason: String) {
      self.through = through
      self.before = before
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "through": .only(.integer(1 ... .max), text: "up to this revision"),
      "before": .text("up to what was committed before"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// Up to where the log would be pruned.
  package struct PrunePreviewOrder: AdminValue {
    /// Up to this revision.
    package var through: Int64?
    /// Up to what was committed before.
    package var before: Timestamp?

    package init(through: Int64? = nil, before: Timestamp? = nil) {
      self.through = through
      self.before = before
    }

    package static let notes: [String: FieldNote] = [
      "through": .only(.integer(1 ... .max), text: "up to this revision"),
      "before": .text("up to what was committed before"),
    ]
  }

  /// How far a pruning goes.
  package struct Pruning: AdminValue {
    package var requested: Int64
    package var prunedBefore: Int64
    /// Up to this revision.
    package var pruned: Int64
    /// Why not as far as was asked for.
    package var heldBack: String?
    package var checkpoint: Checkpoint?

    package init(requested: Int64, prunedBefore: Int64, pruned: Int64, heldBack: String? = nil, checkpoint: Checkpoint? = nil) {
      self.requested = requested
      self.prunedBefore = prunedBefore
      self.pruned = pruned
      self.heldBack = heldBack
      self.checkpoint = checkpoint
    }

    package static let notes: [String: FieldNote] = [
      "pruned": .text("up to this revision"),
      "heldBack": .text("why not as far as was asked for"),
    ]
  }

  /// Whether an action was done.
  package enum AuditResult: String, AdminWord, Hashable {
    case ok
    case refused
  }

  /// Which records are wanted.
  package struct AuditQuery: AdminValue {
    package var action: String?
    package var except: String?
    package var actor: String?
    package var result: AuditResult?
    package var since: Timestamp?
    package var until: Timestamp?
    package var before: Int64?
    package var limit: Int64?

    package init(
      action: String? = nil, except: String? = nil, actor: String? = nil, result: AuditResult? = nil, since: Timestamp? = nil,
      until: Timestamp? = nil, before: Int64? = nil, limit: Int64? = nil
    ) {
      self.action = action
      self.except = except
      self.actor = actor
      self.result = result
      self.since = since
      self.until = until
      self.before = before
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "action": .only(.filled, text: "Only this action (ledger.reverse), or this kind of action (ledger)."),
      "except": .only(.filled, text: "Not this action or this kind of action: data leaves out what was written into the tree."),
      "actor": .only(.filled, text: "Only of this actor (admin:ann), or this kind of actor (anonymous)."),
      "result": .text("Only what was done, or only what was not."),
      "since": .since,
      "until": .until,
      "before": .text("Only before this record: the next of an earlier page."),
      "limit": .limit(100),
    ]
  }

  /// What an administrator did, or tried.
  package struct AuditRecord: AdminValue {
    package var id: Int64
    package var time: Timestamp
    package var actor: String
    package var action: String
    package var detail: JSON
    /// Ok, or why it was refused.
    package var result: String

    package init(id: Int64, time: Timestamp, actor: String, action: String, detail: JSON, result: String) {
      self.id = id
      self.time = time
      self.actor = actor
      self.action = action
      self.detail = detail
      self.result = result
    }

    package static let schemaName: String? = "AuditRecord"

    package static let notes: [String: FieldNote] = [
      "result": .text("ok, or why it was refused")
    ]
  }

  /// What administrators did and tried, newest first.
  package struct AuditPage: AdminValue {
    package var actions: [AuditRecord]
    /// The next page's before.
    package var next: Int64?
    /// Whether that was the end.
    package var complete: Bool

    package init(actions: [AuditRecord], next: Int64? = nil, complete: Bool) {
      self.actions = actions
      self.next = next
      self.complete = complete
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's before"),
      "complete": .text("whether that was the end"),
    ]
  }
}
