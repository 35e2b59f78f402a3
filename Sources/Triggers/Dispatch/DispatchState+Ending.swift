import FunctionsKit
import Logging
import RewardModel
import StorageCore

extension DispatchState {
  /// Takes back what a runner did.
  ///
  /// - Returns: whether the run counts; false if it was abandoned meanwhile, and nothing of it may have an effect.
  mutating func end(_ ended: EndedRun, at now: Int64) -> Bool {
    let (run, ending) = (ended.run, ended.ending)
    endAlone(run)
    guard active.removeValue(forKey: run.id) != nil else {
      // The thread came back after all: its note is free again.
      freeNote(run.delivery.noteSlot)
      return false
    }
    var delivery = run.delivery
    functions[delivery.function].time.add(ended.nanoseconds)
    functions[delivery.function].pace.noteThreaded(
      ended.nanoseconds, isClean: !ended.hasSuspended && ending.isClean)
    switch ending {
    case .effect(var request, let execution, let leavesOutPaid):
      delivery.leavesOutPaid = leavesOutPaid
      request.triggers.settles = delivery.isStored ? (delivery.event, functions[delivery.function].name) : nil
      if request.operations.isEmpty && request.ledger.transfers.isEmpty && request.rows.outbox.isEmpty {
        later(request, delivery: delivery, execution: execution, at: now)
      } else {
        actions.submissions.append(WriterRequest(request: request, purpose: .effect(delivery, execution)))
      }
    case .skipped(let reason): skip(delivery, because: reason, startedAt: run.startedAt, at: now)
    case .failed(let error, let failure): fail(delivery, error: error, failure: failure, startedAt: run.startedAt, at: now)
    }
    return true
  }

  /// Records that nothing was to be done. The key goes on at once: there is no effect that could be overtaken.
  mutating func skip(_ delivery: Delivery, because reason: String, startedAt: Int64, at now: Int64) {
    let execution = table.skipped(delivery, because: reason, startedAt: startedAt, finishedAt: now)
    var request = request(in: delivery.namespace)
    request.triggers.execution = execution
    request.triggers.settles = delivery.isStored ? (delivery.event, execution.function) : nil
    later(request, delivery: delivery, execution: execution, at: now)
  }

  /// Keeps the record of a run without effects until something else is sent.
  private mutating func later(
    _ request: CommitRequest, delivery: Delivery, execution: ExecutionRecord, at now: Int64
  ) {
    // Spilled deliveries are read again by their records: these must be gone before the key is drained.
    guard !queue.isSpilled(delivery.orderingKey) else {
      return actions.submissions.append(WriterRequest(request: request, purpose: .effect(delivery, execution)))
    }
    freeNote(delivery.noteSlot)
    queue.finish(delivery.orderingKey)
    let key = delivery.orderingKey
    if let key { inline.expectRecord(of: key) }
    var delivery = delivery.withoutKey
    delivery.passedKey = key
    delivery.noteSlot = nil
    if skips.isEmpty {
      timers.add(.flush, at: now + options.skipDelay)
      wake(by: now + options.skipDelay)
    }
    skips.append(WriterRequest(request: request, purpose: .effect(delivery, execution)))
  }

  /// Writes down a failed attempt: the event is tried again, or becomes a dead letter.
  mutating func fail(
    _ failed: Delivery, error: String, failure: RunEnding.NextAttempt, startedAt: Int64, at now: Int64
  ) {
    // What was handled before stays so, whatever the function says to it now: there is nothing to try again.
    if failed.isHandled { return finishAgain(failed) }
    options.failpoint(.beforeAttemptRecord)
    var delivery = failed
    delivery.attempts += 1
    delivery.reruns = 0
    functions[delivery.function].counts.failed += 1
    let policy = table.definitions[delivery.function].options.retry
    var delay: Int64
    var isDead = delivery.attempts >= policy.attempts
    switch failure {
    case .permanent:
      isDead = true
      delay = 0
    case .retryAfter(let milliseconds): delay = max(milliseconds, 0)
    case .retry:
      let milliseconds = Double(policy.delay(afterFailures: delivery.attempts).wholeMilliseconds)
      delay = Int64(milliseconds * Double.random(in: 0.8...1.2, using: &random))
    }
    let isPaused = functions[delivery.function].phase == .paused
    let record = delivery.record(
      isDead ? .dead : isPaused ? .paused : .waiting, function: functions[delivery.function].name,
      nextAttemptAt: isDead ? 0 : now + delay, lastError: String(error.prefix(2000)), at: now)
    // The caller that resumes the function waits until the record can be found.
    if record.state == .paused { functions[delivery.function].parking += 1 }
    let attempt = FailedAttempt(
      event: delivery.event, function: record.function, attempt: delivery.attempts, startedAt: startedAt, finishedAt: now,
      error: record.lastError, settings: table.settings[delivery.function])
    actions.submissions.append(note(attempt, delivery: delivery, record: record))
  }

  private func note(_ attempt: FailedAttempt, delivery: Delivery, record: DeliveryRecord) -> WriterRequest {
    var request = request(in: delivery.namespace)
    request.triggers.deliveries = [record]
    var upkeep = Maintenance()
    upkeep.failedAttempt = attempt
    request.rows.maintenance = upkeep
    return WriterRequest(request: request, purpose: .attempt(delivery, record, attempt))
  }

  /// Takes in what became of a request.
  mutating func complete(
    _ purpose: WriterRequest.Purpose, result: Result<CommitReceipt, CommitError>, at now: Int64
  ) {
    if case .effect(let delivery, _) = purpose { inline.noteRecord(of: delivery.passedKey) }
    switch (purpose, result) {
    case (.effect(let delivery, let execution), .success(let receipt)): finish(delivery, execution: execution, receipt: receipt)
    case (.effect(let delivery, let execution), .failure(let refusal)):
      refuse(delivery, execution: execution, refusal: refusal, at: now)
    case (.attempt(let delivery, let record, _), .success): rest(delivery, record: record)
    case (.park(let deliveries, let isLate), .success):
      if isLate { noteLateParked(deliveries) }
      for delivery in deliveries { parked(delivery) }
    case (.settle(let delivery), .success): finish(delivery)
    case (.wait(let deliveries), .success):
      for var delivery in deliveries { settle(&delivery) }
    case (.wait(let deliveries), .failure): unsettle(deliveries)
    case (.note, _): return
    case (.letters, .success): return
    case (.letters(let letters, let namespace), .failure): resend(self.letters(letters, in: namespace), at: now)
    case (.spill(let deliveries), .success): spilled(deliveries)
    case (.spill(let deliveries), .failure): resend(waiting(.spill(deliveries), at: now), at: now)
    case (.attempt(let delivery, let record, let attempt), .failure):
      resend(note(attempt, delivery: delivery, record: record), at: now)
    case (.park(let deliveries, let isLate), .failure):
      guard let first = deliveries.first, namespaces[first.namespace] != nil else {
        // The namespace was deleted, and what was for it.
        if isLate { noteLateParked(deliveries) }
        for delivery in deliveries { parked(delivery) }
        return
      }
      if !isLate { noteLate(deliveries) }
      // Not at once again: the writer is busy, or gone.
      resend(parking(deliveries, isLate: true, at: now), at: now)
    case (.settle(let delivery), .failure): resend(settlement(of: delivery), at: now)
    }
  }

  private mutating func resend(_ submission: WriterRequest, at now: Int64) {
    guard namespaces[submission.request.namespace] != nil else { return drop(submission.purpose) }
    timers.add(.resend(submission), at: now + 1000)
    wake(by: now + 1000)
  }

  /// What was for a namespace that was deleted is deleted with it; nothing waits for its record any more.
  private mutating func drop(_ purpose: WriterRequest.Purpose) {
    switch purpose {
    case .attempt(let delivery, let record, _):
      freeNote(delivery.noteSlot)
      if record.state == .paused { noteParked(delivery.function) }
    case .settle(let delivery): freeNote(delivery.noteSlot)
    case .effect, .wait, .spill, .park, .letters, .note: break
    }
  }

  private func settlement(of delivery: Delivery) -> WriterRequest {
    var request = request(in: delivery.namespace)
    request.triggers.settles = (delivery.event, functions[delivery.function].name)
    return WriterRequest(request: request, purpose: .settle(delivery))
  }

  /// The effect is durable.
  mutating func finish(_ delivery: Delivery, execution: ExecutionRecord, receipt: CommitReceipt) {
    options.failpoint(.effectDurable)
    if !receipt.events.isEmpty {
      namespaces[delivery.namespace]?.tracker.expect(receipt.revision, root: delivery.root)
    }
    count(execution, of: delivery.function)
    finish(delivery)
  }

  mutating func count(_ execution: ExecutionRecord, of function: Int) {
    functions[function].isFailing = false
    if execution.outcome == .done {
      functions[function].counts.done += 1
    } else {
      functions[function].counts.skipped += 1
    }
  }

  /// The delivery has its durable end.
  private mutating func finish(_ delivery: Delivery) {
    var delivery = delivery
    freeNote(delivery.noteSlot)
    settle(&delivery)
    end(delivery)
    queue.finish(delivery.orderingKey)
  }

  /// A failed attempt is durable.
  private mutating func rest(_ delivery: Delivery, record: DeliveryRecord) {
    options.failpoint(.afterAttemptRecord)
    var delivery = delivery
    freeNote(delivery.noteSlot)
    delivery.noteSlot = nil
    delivery.isStored = true
    settle(&delivery)
    switch record.state {
    case .waiting:
      remarkFailing(record)
      if functions[delivery.function].phase == .paused {
        park(delivery)
        queue.finish(delivery.orderingKey)
        return
      }
      hold(delivery.orderingKey, at: record.updatedAt)
      timers.add(.retry(delivery), at: record.nextAttemptAt)
      wake(by: record.nextAttemptAt)
    case .dead:
      functions[delivery.function].counts.dead += 1
      actions.remarks.append(
        (.error, "\(record.function) gave up on \(record.event) after attempt \(record.attempts): \(record.lastError)"))
      queue.finish(delivery.orderingKey)
    case .paused:
      queue.finish(delivery.orderingKey)
      noteParked(delivery.function)
    }
    end(delivery)
  }

  /// Says that a function has begun to fail. It is tried again for half an hour, and its author should not wait so long.
  private mutating func remarkFailing(_ record: DeliveryRecord) {
    guard let function = table.position(of: record.function), !functions[function].isFailing else { return }
    functions[function].isFailing = true
    actions.remarks.append(
      (
        .warning,
        "\(record.function) failed on \(record.event) at attempt \(record.attempts), and tries again: \(record.lastError)"
      ))
  }

  private mutating func parked(_ delivery: Delivery) {
    var delivery = delivery
    settle(&delivery)
    end(delivery)
    delivery.isStored = true
    noteStored(delivery)
    noteParked(delivery.function)
  }

  private mutating func noteParked(_ function: Int) {
    functions[function].parking -= 1
    guard functions[function].parking == 0 else { return }
    actions.parked += functions[function].parkingWaiters
    functions[function].parkingWaiters = []
    noteParkingOver(function)
  }

  mutating func freeNote(_ slot: Int?) {
    guard let slot else { return }
    notes?.clear(slot)
    freeNoteSlots.append(slot)
  }

  // MARK: Refusals

  /// The event was handled before: the run changes nothing.
  private mutating func finishAgain(_ delivery: Delivery) {
    functions[delivery.function].counts.alreadyDone += 1
    guard delivery.isStored else { return finish(delivery) }
    queue.finish(delivery.orderingKey)
    actions.submissions.append(settlement(of: delivery.withoutKey))
  }

  /// The writer did not take the effect: what that means for the event.
  mutating func refuse(
    _ delivery: Delivery, execution: ExecutionRecord, refusal: CommitError, at now: Int64
  ) {
    switch refusal.code {
    case .alreadyExecuted:
      finishAgain(delivery)
    // Paid by somebody since it was looked up: the next run leaves it out.
    case .keyTaken where delivery.leavesOutPaid && delivery.reruns < 3:
      rerun(delivery, refusal: refusal, startedAt: execution.startedAt, at: now)
    case .keyTaken(let entry):
      skip(
        delivery, because: "already_paid: entry \(entry.sequence) of \(entry.transfer.event ?? "no event")",
        startedAt: execution.startedAt, at: now)
    case .insufficientFunds: skip(delivery, because: "insufficient_funds", startedAt: execution.startedAt, at: now)
    case .stale, .recordChanged: rerun(delivery, refusal: refusal, startedAt: execution.startedAt, at: now)
    case .overloaded: postpone(delivery, at: now)
    case .unavailable: fail(delivery, error: refusal.message, failure: .retry, startedAt: execution.startedAt, at: now)
    case .permissionDenied, .invalid, .tooLarge, .triggersExceeded, .balanceType, .balanceOverflow, .invalidTransfer,
      .idempotencyConflict, .rejected:
      fail(
        delivery, error: "\(refusal.code.word): \(refusal.message)", failure: .permanent, startedAt: execution.startedAt,
        at: now)
    }
  }

  /// A value that the run had read has changed: the whole run is repeated at once.
  private mutating func rerun(_ delivery: Delivery, refusal: CommitError, startedAt: Int64, at now: Int64) {
    var delivery = delivery
    delivery.reruns += 1
    guard delivery.reruns <= options.rerunsMax else {
      return fail(
        delivery, error: "stale: \(refusal.message) Repeated \(options.rerunsMax) times.", failure: .retry,
        startedAt: startedAt, at: now)
    }
    freeNote(delivery.noteSlot)
    delivery.noteSlot = nil
    requeue(delivery)
  }

  /// The writer's queue is full: the run is repeated later, and does not count as an attempt.
  private mutating func postpone(_ delivery: Delivery, at now: Int64) {
    var delivery = delivery
    freeNote(delivery.noteSlot)
    delivery.noteSlot = nil
    delivery.postponements += 1
    let delay = min(Int64(50) << min(Int64(delivery.postponements), 7), 5000)
    timers.add(.repetition(delivery), at: now + delay)
    wake(by: now + delay)
  }
}

extension Delivery {
  /// The same, when its key has gone on already.
  fileprivate var withoutKey: Delivery { Delivery(self, orderingKey: nil) }
}

extension CommitError.Code {
  /// The word by which the trigger log shows a refusal that no attempt can change.
  fileprivate var word: String {
    switch self {
    case .balanceType: "balance_type"
    case .balanceOverflow: "balance_overflow"
    case .invalidTransfer: "invalid_transfer"
    case .tooLarge: "too_large"
    case .triggersExceeded: "triggers_exceeded"
    default: "refused"
    }
  }
}

extension DispatchState {
  /// Whether a runner may run something: not while a suspect is alone.
  var canRun: Bool { aloneRun == nil && (quarantine.isEmpty || active.isEmpty) }

  /// The run is over, or left behind: others may run again, and if the process dies from now on it is not known by which.
  mutating func endAlone(_ run: Run) {
    guard run.isAlone else { return }
    if aloneRun == run.id { aloneRun = nil }
    if let slot = run.delivery.noteSlot { notes?.endAlone(slot) }
  }

  /// Reading from storage, before anything else is run.
  mutating func nextMaintenance() -> Work? {
    guard queue.count < options.eventsLow else { return nil }
    if let orderingKey = refills.popFirst() { return .refill(orderingKey) }
    while let function = resumes.popFirst() {
      if let kept = functions[function].kept { return .resume(function, kept) }
    }
    return nil
  }
}
