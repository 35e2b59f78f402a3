import APISupport
import HTTPServer
import NIOHTTP1
import StorageCore
import TextFormats
import TreeDatabase
import TreeModel

/// The commit log: its proof, and its pruning.
enum LogRoutes {
  static let routes: [Route] = [
    Route.list("/admin/v1/log/verify", "Audits the chain of commits, and what refers to them.", verify)
      .described(verifyDescription),
    Route.list("/admin/v1/log/checkpoint", "Up to where the log was pruned, with the last checkpoint.", checkpoint)
      .described(checkpointDescription),
    Route.mutate(
      .POST, "/admin/v1/log/prune", audit: "log.prune",
      "Forgets what commits changed, behind a checkpoint; body: through (revision) or before (ms), reason.", prune
    ).described(pruneDescription),
    Route.mutate(
      .POST, "/admin/v1/log/prune/preview", audit: nil,
      "How far a pruning would go, without it; body: through (revision) or before (ms).", access: .viewer, preview
    ).described(previewDescription),
  ]

  private static func verify(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let namespace = try call.namespace()
    let report = try call.read { (snapshot) throws(StorageError) in
      try LogAudit.verify(snapshot, namespace: namespace)
    }
    return .json(JSON(report))
  }

  private static func checkpoint(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let namespace = try call.namespace()
    let (pruned, checkpoint) = try call.read { (snapshot) throws(StorageError) in
      (try snapshot.prunedRevision(of: namespace), try snapshot.checkpoint(of: namespace))
    }
    return .json(.record([("pruned", .int(pruned.rawValue)), ("checkpoint", checkpoint.map(JSON.init))]))
  }

  private static func preview(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (pruning, namespace, revision) = (pruning(call), try call.namespace(), try revision(call))
    let report: PruningReport
    do throws(StorageError) {
      report = try pruning.plan(through: revision, in: namespace)
    } catch {
      throw APIError(error)
    }
    return .json(JSON(report))
  }

  private static func prune(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let (pruning, namespace, revision) = (pruning(call), try call.namespace(), try revision(call))
    let reason = try call.body().required("reason")
    let turn = call.services.database.maintenanceTurn
    if let holder = turn.begin("A pruning") {
      throw APIError(.conflict, "busy", "\(holder) is under way; try again when it is done.")
    }
    defer { turn.end() }
    do {
      return .json(
        JSON(try await pruning.prune(through: revision, in: namespace, by: call.caller.actor, because: reason)))
    } catch let error as StorageError {
      throw APIError(error)
    } catch let refusal as CommitError {
      throw APIError(refusal)
    } catch {
      throw APIError(.serviceUnavailable, "unavailable", "The log could not be pruned: \(error). Try again.")
    }
  }

  private static func pruning(_ call: RouteCall) -> LogPruning {
    let database = call.services.database
    return LogPruning(engine: database.engine, writer: database, clock: database.clock)
  }

  private static func revision(_ call: RouteCall) throws(APIError) -> Revision {
    let body = try call.body()
    if let through = try body.optionalInteger("through") {
      guard through > 0 else { throw .badRequest("\"through\" must be a revision, from 1.") }
      return Revision(through)
    }
    guard let time = try body.optionalInteger("before") else {
      throw .badRequest("Say up to where: \"through\", a revision, or \"before\", a time in milliseconds.")
    }
    let namespace = try call.namespace()
    return try call.read { (snapshot) throws(StorageError) in try snapshot.lastRevision(in: namespace, before: time) }
  }
}

extension JSON {
  fileprivate init(_ report: LogReport) {
    self = .record([
      ("sound", .bool(report.isSound)), ("commits", .int(report.commits)), ("forgotten", .int(report.forgotten)),
      ("erased", .int(report.erased)), ("unsealed", .array(report.unsealed.map { .int($0.rawValue) })),
      ("entries", .int(report.entries)), ("executions", .int(report.executions)), ("pruned", .int(report.pruned.rawValue)),
      ("lastHash", .string(Hex.encode(report.lastHash))), ("firstFault", report.faults.first.map(JSON.init)),
      ("faultCount", .int(Int64(report.faultCount))), ("faults", .array(report.faults.map(JSON.init))),
    ])
  }

  fileprivate init(_ fault: LogReport.Fault) {
    self = .record([("revision", fault.revision.map { .int($0.rawValue) }), ("message", .string(fault.message))])
  }

  fileprivate init(_ report: PruningReport) {
    self = .record([
      ("requested", .int(report.requested.rawValue)), ("prunedBefore", .int(report.before.rawValue)),
      ("pruned", .int(report.through.rawValue)), ("heldBack", report.heldBack.map(JSON.string)),
      ("checkpoint", report.checkpoint.map(JSON.init)),
    ])
  }

  fileprivate init(_ checkpoint: CheckpointRecord) {
    self = .record([
      ("revision", .int(checkpoint.revision.rawValue)), ("commitTime", .int(checkpoint.commitTime)),
      ("commitHash", .string(Hex.encode(checkpoint.commitHash))), ("treeHash", .string(Hex.encode(checkpoint.treeHash))),
      ("leaves", .int(checkpoint.leafCount)), ("actor", .string(checkpoint.actor.description)),
      ("reason", .string(checkpoint.reason)), ("createdAt", .int(checkpoint.createdAt)),
    ])
  }
}

extension LogRoutes {
  private static let extent: [JSONSchema.Field] = [
    .maybe("through", .integer(1 ... .max), "up to this revision"), .maybe("before", .time, "up to what was committed before"),
  ]
  private static let checkpoint = JSONSchema.object([
    .always("revision", .count), .always("commitTime", .time), .always("commitHash", .text),
    .always("treeHash", .text, "SHA-256 of the canonical tree"), .always("leaves", .count), .always("actor", .text),
    .always("reason", .text), .always("createdAt", .time),
  ])
  private static let fault = JSONSchema.object([.maybe("revision", .count), .always("message", .text)])
  private static let pruning = JSONSchema.object([
    .always("requested", .count), .always("prunedBefore", .count), .always("pruned", .count, "up to this revision"),
    .maybe("heldBack", .text, "why not as far as was asked for"), .maybe("checkpoint", checkpoint),
  ])

  static let verifyDescription = RouteDescription(
    query: [.namespace],
    answer: .object([
      .always("sound", .boolean), .always("commits", .count), .always("forgotten", .count, "commits without their changes"),
      .always("erased", .count, "commits without the changes of players who left"),
      .always("unsealed", .list(.count), "erasures that are under way or were cut off; order those again"),
      .always("entries", .count), .always("executions", .count), .always("pruned", .count), .always("lastHash", .text),
      .maybe("firstFault", fault), .always("faultCount", .count), .always("faults", .list(fault)),
    ]))
  static let checkpointDescription = RouteDescription(
    query: [.namespace], answer: .object([.always("pruned", .count), .maybe("checkpoint", checkpoint)]))
  static let pruneDescription = RouteDescription(
    query: [.namespace], body: extent + [.always("reason", .filled, "why, for the record")], answer: pruning)
  static let previewDescription = RouteDescription(query: [.namespace], body: extent, answer: pruning)
}
