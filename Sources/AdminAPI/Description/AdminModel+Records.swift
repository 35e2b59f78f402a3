package import AdminModel
import RewardModel
package import StorageCore
import TextFormats
package import TreeModel

/// How records are shown to administrators: names and meanings are the records' own.
extension AdminEvents.Cause {
  init(_ cause: Cause) { self.init(event: cause.event.description, function: cause.function) }
}

extension AdminEvents.Change {
  /// A change of a leaf or of a priority.
  package init(_ change: LeafChange, revision: Revision? = nil) {
    self.init(
      path: (change.path.path?.description ?? "?") + (change.path.isPriority ? "/.priority" : ""),
      before: change.before?.json ?? .null, after: change.after?.json ?? .null, revision: revision?.rawValue)
  }
}

extension AdminEvents.OutboxMessage {
  init(_ outbox: OutboxRecord) {
    self.init(
      key: outbox.key, outlet: outbox.outlet, state: outbox.state.rawValue, attempts: Int64(outbox.attempts),
      nextAttemptAt: outbox.state == .waiting ? Timestamp(outbox.nextAttemptAt) : nil, lastError: outbox.lastError,
      createdAt: Timestamp(outbox.createdAt), payload: JSON(storedText: outbox.payload))
  }
}

extension AdminEvents.Execution {
  init(_ execution: ExecutionRecord) {
    self.init(
      event: execution.event.description, function: execution.function,
      outcome: AdminEvents.ExecutionOutcome(execution.outcome), reason: execution.reason, attempt: Int64(execution.attempt),
      startedAt: Timestamp(execution.startedAt), finishedAt: Timestamp(execution.finishedAt),
      effect: execution.effect?.rawValue, settings: execution.settings.map { JSON(storedText: $0) })
  }
}

extension AdminEvents.ExecutionOutcome {
  init(_ outcome: ExecutionRecord.Outcome) {
    switch outcome {
    case .done: self = .done
    case .skipped: self = .skipped
    }
  }
}

extension AdminEvents.FailedAttempt {
  init(_ attempt: FailedAttempt) {
    self.init(
      function: attempt.function, attempt: Int64(attempt.attempt), startedAt: attempt.startedAt.map { Timestamp($0) },
      finishedAt: Timestamp(attempt.finishedAt), error: attempt.error, settings: attempt.settings.map { JSON(storedText: $0) })
  }
}

extension AdminEvents.Delivery {
  init(_ delivery: DeliveryRecord) {
    self.init(
      event: delivery.event.description, function: delivery.function, state: AdminEvents.DeliveryState(delivery.state),
      kind: delivery.kind.rawValue, hop: Int64(delivery.hop), attempts: Int64(delivery.attempts),
      crashes: Int64(delivery.crashes),
      nextAttemptAt: delivery.state == .waiting ? Timestamp(delivery.nextAttemptAt) : nil, lastError: delivery.lastError,
      updatedAt: Timestamp(delivery.updatedAt))
  }
}

extension AdminEvents.DeliveryState {
  init(_ state: DeliveryRecord.State) {
    switch state {
    case .waiting: self = .waiting
    case .paused: self = .paused
    case .dead: self = .dead
    }
  }
}

extension AdminEvents.Kind {
  init(_ kind: EventRecord.Kind) {
    switch kind {
    case .created: self = .created
    case .updated: self = .updated
    case .deleted: self = .deleted
    }
  }
}

extension AdminEvents.Invocation {
  init(_ invocation: InvocationRecord) {
    self.init(
      id: invocation.id, event: invocation.event.description, function: invocation.function,
      path: invocation.path.description, before: invocation.before.jsonValue(.export),
      after: invocation.after.jsonValue(.export), actingAs: invocation.actingAs.description,
      actor: invocation.actor.description, reason: invocation.reason, time: Timestamp(invocation.time))
  }
}

extension AdminEvents.ErasedPath {
  init(_ erased: ErasedPath) {
    self.init(
      path: erased.path.description, uid: erased.uid, through: erased.through.rawValue, at: Timestamp(erased.at),
      by: erased.actor.description, reason: erased.reason)
  }
}

extension AdminAccounts.Erasure {
  init(_ erasure: ErasureRecord) {
    self.init(
      uid: erasure.uid, state: AdminAccounts.ErasureState(erasure.state), paths: erasure.paths.map(\.description),
      by: erasure.actor.description, reason: erasure.reason, orderedAt: Timestamp(erasure.orderedAt),
      order: erasure.order?.rawValue, finishedAt: erasure.finishedAt.map { Timestamp($0) }, commits: erasure.commits)
  }
}

extension AdminAccounts.ErasureState {
  init(_ state: ErasureRecord.State) {
    switch state {
    case .removing: self = .removing
    case .forgetting: self = .forgetting
    case .sealed: self = .sealed
    case .done: self = .done
    }
  }
}

extension AdminEvents.Commit {
  /// - `path`: changes elsewhere are not shown, nor counted.
  /// - `changesMax`: changes that are shown; the count tells how many there are.
  init(_ commit: CommitRecord, under path: PathBytes = .root, changesMax: Int) {
    let changes = commit.changes?.filter { path.contains($0.path) }
    let erased = commit.erased.flatMap(\.paths).filter { path.contains($0) || $0.contains(path) }
      .compactMap { $0.path?.description }
    self.init(
      revision: commit.revision.rawValue, time: Timestamp(commit.time), actor: commit.actor.description,
      requestID: commit.requestID, cause: commit.cause.map { AdminEvents.Cause($0) }, triggers: !commit.suppressesTriggers,
      changeCount: changes.map { Int64($0.count) },
      changes: changes?.prefix(changesMax).map { AdminEvents.Change($0) }, forgotten: changes == nil ? true : nil,
      erased: erased.isEmpty ? nil : erased)
  }
}

extension AdminLedger.Entry {
  init(_ entry: LedgerEntry, referral: AdminLedger.ReferralEvidence? = nil, reversedBy: Int64? = nil) {
    let transfer = entry.transfer
    self.init(
      sequence: entry.sequence, revision: entry.revision, time: Timestamp(entry.time), debit: transfer.debit.name,
      credit: transfer.credit.name, amount: transfer.amount, unit: transfer.unit, code: transfer.code,
      key: transfer.key.text, event: transfer.event, function: transfer.function, subject: transfer.subject,
      reverses: transfer.reverses, reason: transfer.reason, expiresAt: transfer.expiresAt.map { Timestamp($0) },
      debitAfter: entry.debitAfter, creditAfter: entry.creditAfter, hash: Hex.encode(entry.hash), referral: referral,
      reversedBy: reversedBy)
  }
}

extension AdminLedger.Verification {
  init(_ report: LedgerReport) {
    self.init(
      sound: report.isSound, entries: report.entryCount, accounts: Int64(report.accountCount),
      lastHash: Hex.encode(report.lastHash), firstBrokenEntry: report.firstBrokenEntry, faultCount: Int64(report.faultCount),
      faults: report.faults.map { fault in
        AdminLedger.Finding(
          kind: fault.kind.rawValue, sequence: fault.sequence, account: fault.account?.name, message: fault.message)
      },
      unbackedCount: Int64(report.unbackedCount),
      unbacked: report.unbacked.map { value in
        AdminLedger.UnbackedValue(path: value.path, account: value.account.name, unit: value.unit, found: value.found)
      })
  }
}

extension AdminLogs.AuditRecord {
  init(_ audit: AuditRecord, id: Int64) {
    self.init(
      id: id, time: Timestamp(audit.time), actor: audit.actor.description, action: audit.action,
      detail: JSON(storedText: audit.detail), result: audit.result)
  }
}

extension JSON {
  /// What was stored as JSON; a text that is none as it is.
  init(storedText text: String) { self = (try? JSONParser.parse(text)) ?? .string(text) }
}
