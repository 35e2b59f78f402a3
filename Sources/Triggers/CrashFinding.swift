import StorageCore

/// A run that the last process died in, and that has not been finished since.
struct CrashFinding: Sendable {
  let event: EventRecord
  let function: String
  let attempts: Int
  let crashes: Int
  /// Whether the run was alone when the process died. Otherwise it is one of several suspects, or the process was killed
  /// from outside.
  let isBlamed: Bool

  /// nil if the effect was durable already, or the event is unknown: then there is nothing to count.
  init?(_ note: CrashNote, snapshot: any Snapshot) throws(StorageError) {
    guard try snapshot.execution(in: note.namespace, of: note.event, by: note.function) == nil,
      let event = try snapshot.event(in: note.namespace, id: note.event)
    else { return nil }
    let delivery = try snapshot.delivery(in: note.namespace, of: note.event, to: note.function)
    if delivery?.state == .dead { return nil }
    self.event = event
    function = note.function
    isBlamed = note.isAlone
    attempts = (delivery?.attempts ?? 0) + (isBlamed ? 1 : 0)
    crashes = (delivery?.crashes ?? 0) + (isBlamed ? 1 : 0)
  }

  /// The finding, written down. The next attempt comes at once, and alone: see ``DispatchState/quarantine``.
  func record(isDead: Bool, at now: Int64) -> DeliveryRecord {
    DeliveryRecord(
      event: event.id, kind: event.kind, hop: event.hop, function: function, state: isDead ? .dead : .waiting,
      attempts: attempts, crashes: crashes, nextAttemptAt: isDead ? 0 : now,
      lastError: isBlamed
        ? "crash: the process died while nothing but this ran (\(crashes) times so far)"
        : "crash: the process died while this ran, among others perhaps; it is tried again alone", updatedAt: now)
  }

  /// The attempt, if it is to blame; nil for a suspect, who may have failed at nothing.
  func attempt(settings: String?, at now: Int64) -> FailedAttempt? {
    guard isBlamed else { return nil }
    return FailedAttempt(
      event: event.id, function: function, attempt: attempts, startedAt: nil, finishedAt: now,
      error: record(isDead: false, at: now).lastError, settings: settings)
  }
}
