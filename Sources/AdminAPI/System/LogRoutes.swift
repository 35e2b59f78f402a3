import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import StorageCore
import TextFormats
import TreeDatabase
import TreeModel

/// The commit log: its proof, and its pruning.
enum LogRoutes {
  static let routes: [Route] = [
    .reading(AdminLogs.verify, by: verify), .reading(AdminLogs.checkpoint, by: checkpoint),
    .changing(AdminLogs.prune, audit: "log.prune", answer: prune),
    .changing(AdminLogs.previewPruning, audit: nil, answer: preview),
    .changing(AdminLogs.beginVerification, audit: "log.verify", answer: begin), .reading(AdminLogs.verification, by: state),
  ]

  private static func verify(_ call: RouteCall, query _: NoQuery) throws -> AdminLogs.Verification {
    let namespace = try call.namespace()
    return AdminLogs.Verification(
      try call.read { snapshot in try LogAudit.verify(snapshot, namespace: namespace) })
  }

  private static func begin(_ call: RouteCall, order _: EmptyBody) async throws -> AdminLogs.BackgroundVerification {
    let namespace = try call.namespace()
    guard let begun = try call.services.logAudits.begin(namespace, by: call.caller.actor) else {
      throw APIError(.conflict, "busy", "An audit of a log is under way; wait until it is done.")
    }
    return begun
  }

  private static func state(_ call: RouteCall, query _: NoQuery) throws -> AdminLogs.BackgroundVerification {
    call.services.logAudits.audit(of: try call.namespace())
  }

  private static func checkpoint(_ call: RouteCall, query _: NoQuery) throws -> AdminLogs.LastCheckpoint {
    let namespace = try call.namespace()
    let (pruned, checkpoint) = try call.read { snapshot in
      (try snapshot.prunedRevision(of: namespace), try snapshot.checkpoint(of: namespace))
    }
    return AdminLogs.LastCheckpoint(
      pruned: pruned.rawValue, checkpoint: checkpoint.map { AdminLogs.Checkpoint($0) })
  }

  private static func preview(_ call: RouteCall, order: AdminLogs.PrunePreviewOrder) async throws -> AdminLogs.Pruning {
    let (pruning, namespace) = (pruning(call), try call.namespace())
    let revision = try revision(call, through: order.through, before: order.before)
    return AdminLogs.Pruning(try pruning.plan(through: revision, in: namespace))
  }

  private static func prune(_ call: RouteCall, order: AdminLogs.PruneOrder) async throws -> AdminLogs.Pruning {
    let (pruning, namespace) = (pruning(call), try call.namespace())
    let revision = try revision(call, through: order.through, before: order.before)
    let turn = call.services.database.maintenanceTurn
    if let holder = turn.begin("A pruning") {
      throw APIError(.conflict, "busy", "\(holder) is under way; try again when it is done.")
    }
    defer { turn.end() }
    do {
      return AdminLogs.Pruning(
        try await pruning.prune(through: revision, in: namespace, by: call.caller.actor, because: order.reason))
    } catch  where !(error is StorageError || error is CommitError) {
      throw APIError(.serviceUnavailable, "unavailable", "The log could not be pruned: \(error). Try again.")
    }
  }

  private static func pruning(_ call: RouteCall) -> LogPruning {
    let database = call.services.database
    return LogPruning(engine: database.engine, writer: database, clock: database.clock)
  }

  private static func revision(_ call: RouteCall, through: Int64?, before: Timestamp?) throws -> Revision {
    if let through { return Revision(through) }
    guard let before else {
      throw APIError.badRequest("Say up to where: \"through\", a revision, or \"before\", a time in milliseconds.")
    }
    let namespace = try call.namespace()
    return try call.read { snapshot in
      try snapshot.lastRevision(in: namespace, before: before.milliseconds)
    }
  }
}

extension AdminLogs.Verification {
  init(_ report: LogReport) {
    let faults = report.faults.map { AdminLogs.LogFinding(revision: $0.revision?.rawValue, message: $0.message) }
    self.init(
      sound: report.isSound, commits: report.commits, forgotten: report.forgotten, erased: report.erased,
      unsealed: report.unsealed.map(\.rawValue), entries: report.entries, executions: report.executions,
      pruned: report.pruned.rawValue, lastHash: Hex.encode(report.lastHash), firstFault: faults.first,
      faultCount: Int64(report.faultCount), faults: faults)
  }
}

extension AdminLogs.Pruning {
  fileprivate init(_ report: PruningReport) {
    // Beyond any revision that there will be, and beyond what a script's numbers hold.
    self.init(
      requested: min(report.requested.rawValue, 1 << 53), prunedBefore: report.before.rawValue, pruned: report.through.rawValue,
      heldBack: report.heldBack, checkpoint: report.checkpoint.map { AdminLogs.Checkpoint($0) })
  }
}

extension AdminLogs.Checkpoint {
  fileprivate init(_ checkpoint: CheckpointRecord) {
    self.init(
      revision: checkpoint.revision.rawValue, commitTime: Timestamp(checkpoint.commitTime),
      commitHash: Hex.encode(checkpoint.commitHash), treeHash: Hex.encode(checkpoint.treeHash), leaves: checkpoint.leafCount,
      actor: checkpoint.actor.description, reason: checkpoint.reason, createdAt: Timestamp(checkpoint.createdAt))
  }
}
