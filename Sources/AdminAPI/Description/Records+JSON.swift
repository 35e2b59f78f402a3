import HTTPServer
import RewardModel
import StorageCore
import TextFormats
import TreeModel

/// How records are shown to administrators. Names and meanings are the records' own; what is not there is left out.
extension JSON {
  init(_ cause: Cause) {
    self = ["event": .string(cause.event.description), "function": .string(cause.function)]
  }

  /// A change of a leaf or of a priority.
  init(_ change: LeafChange) {
    let place = (change.path.path?.description ?? "?") + (change.path.isPriority ? "/.priority" : "")
    self = [
      "path": .string(place), "before": change.before?.json ?? .null, "after": change.after?.json ?? .null,
    ]
  }

  init(_ outbox: OutboxRecord) {
    self = .record([
      ("key", .string(outbox.key)), ("outlet", .string(outbox.outlet)), ("state", .string(outbox.state.rawValue)),
      ("attempts", .int(Int64(outbox.attempts))),
      ("nextAttemptAt", outbox.state == .waiting ? .int(outbox.nextAttemptAt) : nil),
      ("lastError", outbox.lastError.map(JSON.string)), ("createdAt", .int(outbox.createdAt)),
      ("payload", (try? JSONParser.parse(outbox.payload)) ?? .string(outbox.payload)),
    ])
  }

  init(_ execution: ExecutionRecord) {
    self = .record([
      ("event", .string(execution.event.description)), ("function", .string(execution.function)),
      ("outcome", .string(execution.outcome.rawValue)), ("reason", execution.reason.map(JSON.string)),
      ("attempt", .int(Int64(execution.attempt))), ("startedAt", .int(execution.startedAt)),
      ("finishedAt", .int(execution.finishedAt)), ("effect", execution.effect.map { .int($0.rawValue) }),
      ("settings", execution.settings.map { (try? JSONParser.parse($0)) ?? .string($0) }),
    ])
  }

  init(_ attempt: FailedAttempt) {
    self = .record([
      ("function", .string(attempt.function)), ("attempt", .int(Int64(attempt.attempt))),
      ("startedAt", attempt.startedAt.map(JSON.int)), ("finishedAt", .int(attempt.finishedAt)),
      ("error", .string(attempt.error)),
      ("settings", attempt.settings.map { (try? JSONParser.parse($0)) ?? .string($0) }),
    ])
  }

  init(_ delivery: DeliveryRecord) {
    self = .record([
      ("event", .string(delivery.event.description)), ("function", .string(delivery.function)),
      ("state", .string(delivery.state.rawValue)), ("kind", .string(delivery.kind.rawValue)),
      ("hop", .int(Int64(delivery.hop))), ("attempts", .int(Int64(delivery.attempts))),
      ("crashes", .int(Int64(delivery.crashes))),
      ("nextAttemptAt", delivery.state == .waiting ? .int(delivery.nextAttemptAt) : nil),
      ("lastError", .string(delivery.lastError)), ("updatedAt", .int(delivery.updatedAt)),
    ])
  }

  init(_ function: FunctionRecord) {
    self = .record([
      ("name", .string(function.name)), ("pattern", .string(function.pattern)), ("kinds", .string(function.kinds)),
      ("paused", .bool(function.isPaused)), ("pauseReason", function.pauseReason.map(JSON.string)),
      ("updatedAt", .int(function.updatedAt)),
    ])
  }

  init(_ entry: LedgerEntry) {
    let transfer = entry.transfer
    self = .record([
      ("sequence", .int(entry.sequence)), ("revision", .int(entry.revision)), ("time", .int(entry.time)),
      ("debit", .string(transfer.debit.name)), ("credit", .string(transfer.credit.name)), ("amount", .int(transfer.amount)),
      ("unit", .string(transfer.unit)), ("code", .string(transfer.code)), ("key", .string(transfer.key.text)),
      ("event", transfer.event.map(JSON.string)), ("function", transfer.function.map(JSON.string)),
      ("subject", transfer.subject.map(JSON.string)), ("reverses", transfer.reverses.map(JSON.int)),
      ("reason", transfer.reason.map(JSON.string)), ("expiresAt", transfer.expiresAt.map(JSON.int)),
      ("debitAfter", .int(entry.debitAfter)), ("creditAfter", .int(entry.creditAfter)),
      ("hash", .string(Hex.encode(entry.hash))),
    ])
  }

  init(_ audit: AuditRecord, at place: Int64) {
    self = .record([
      ("id", .int(place)),
      ("time", .int(audit.time)), ("actor", .string(audit.actor.description)), ("action", .string(audit.action)),
      ("detail", (try? JSONParser.parse(audit.detail)) ?? .string(audit.detail)), ("result", .string(audit.result)),
    ])
  }

  init(_ report: LedgerReport) {
    self = .record([
      ("sound", .bool(report.isSound)), ("entries", .int(report.entryCount)), ("accounts", .int(Int64(report.accountCount))),
      ("lastHash", .string(Hex.encode(report.lastHash))), ("firstBrokenEntry", report.firstBrokenEntry.map(JSON.int)),
      ("faultCount", .int(Int64(report.faultCount))), ("faults", .array(report.faults.map(JSON.init))),
      ("unbackedCount", .int(Int64(report.unbackedCount))), ("unbacked", .array(report.unbacked.map(JSON.init))),
    ])
  }

  private init(_ fault: LedgerReport.Fault) {
    self = .record([
      ("kind", .string(fault.kind.rawValue)), ("sequence", fault.sequence.map(JSON.int)),
      ("account", fault.account.map { .string($0.name) }), ("message", .string(fault.message)),
    ])
  }

  private init(_ place: LedgerReport.Unbacked) {
    self = [
      "path": .string(place.path), "account": .string(place.account.name), "unit": .string(place.unit),
      "found": .string(place.found),
    ]
  }
}
