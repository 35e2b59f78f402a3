import StorageCore

/// A run that the last process died in, and that has not been finished since.
struct CrashFinding: Sendable {
  let event: EventRecord
  let function: String
  let attempts: Int
  let crashes: Int

  /// nil if the effect was durable already, or the event is unknown: then there is nothing to count.
  init?(_ note: CrashNote, snapshot: any Snapshot) throws(StorageError) {
    guard try snapshot.execution(in: note.namespace, of: note.event, by: note.function) == nil,
      let event = try snapshot.event(in: note.namespace, id: note.event)
    else { return nil }
    let delivery = try snapshot.delivery(in: note.namespace, of: note.event, to: note.function)
    if delivery?.state == .dead { return nil }
    self.event = event
    function = note.function
    attempts = (delivery?.attempts ?? 0) + 1
    crashes = (delivery?.crashes ?? 0) + 1
  }

  /// The attempt, written down. The next one comes at once: waiting would not make it safer, and whoever pulled the plug
  /// is no reason to wait.
  func record(isDead: Bool, at now: Int64) -> DeliveryRecord {
    DeliveryRecord(
      event: event.id, kind: event.kind, hop: event.hop, function: function, state: isDead ? .dead : .waiting,
      attempts: attempts, crashes: crashes, nextAttemptAt: isDead ? 0 : now,
      lastError: "crash: the process died during the run (\(crashes) times so far)", updatedAt: now)
  }
}
