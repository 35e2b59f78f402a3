public import StorageCore
import Synchronization
import TreeModel

extension Replayer {
  /// Begins a replay; it is at work when the call returns, or waits behind another.
  ///
  /// - Throws: `AdministrationError` if the order names what does not exist, or if a function would be given events that
  ///   another has handled and the order does not allow it.
  public func start(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> ReplayRecord {
    guard !order.reason.isEmpty else { throw AdministrationError(.invalid, "A replay needs a reason, for the record.") }
    guard dispatcher.isServing else {
      throw AdministrationError(
        .conflict, "No functions run here. Ask the server that has the data open, or start it, and replay then.")
    }
    let (scan, progress) = try beginning(of: order, in: namespace)
    if order.mode != .failed, !order.allowsHandled {
      try await refuseHandled(ReplaySurvey.make(of: scan, from: progress.cursor, by: self))
    }
    let id = try nextID(in: namespace)
    let now = clock.now()
    let record = ReplayRecord(
      id: id, state: .running, order: order, progress: progress.json, createdAt: now, updatedAt: now)
    try await store(record, in: namespace)
    queueEnd.yield(Key(namespace: namespace, id: id))
    return record
  }

  /// Stops a replay after what is on its way; ``resume(_:in:)`` goes on.
  public func pause(_ id: Int64, in namespace: NamespaceID) throws -> ReplayRecord {
    try wish(.paused, for: Key(namespace: namespace, id: id), unless: "is not at work")
  }

  /// Ends a replay after what is on its way. What was given to functions stays theirs.
  public func cancel(_ id: Int64, in namespace: NamespaceID) async throws -> ReplayRecord {
    let key = Key(namespace: namespace, id: id)
    let record = try record(key)
    if record.state == .paused {
      let cancelled = record.with(.cancelled, ReplayProgress(record.progress), at: clock.now())
      try await store(cancelled, in: namespace)
      return cancelled
    }
    return try wish(.cancelled, for: key, unless: "is over already")
  }

  /// Goes on with a replay that was paused, or that failed.
  public func resume(_ id: Int64, in namespace: NamespaceID) async throws -> ReplayRecord {
    let key = Key(namespace: namespace, id: id)
    let record = try record(key)
    guard record.state == .paused || record.state == .failed else {
      if record.state == .running {
        // It may just be on its way to the pause.
        state.withLock { $0.wishes[key] = nil }
        return record
      }
      throw AdministrationError(.conflict, "Replay \(id) is \(record.state.rawValue); begin another one.")
    }
    state.withLock { $0.wishes[key] = nil }
    var progress = ReplayProgress(record.progress)
    progress.failure = nil
    let again = record.with(.running, progress, at: clock.now())
    try await store(again, in: namespace)
    queueEnd.yield(key)
    return again
  }

  private func wish(_ state: ReplayRecord.State, for key: Key, unless sentence: String) throws -> ReplayRecord {
    let record = try record(key)
    guard record.state == .running else {
      throw AdministrationError(.conflict, "Replay \(key.id) is \(record.state.rawValue); it \(sentence).")
    }
    self.state.withLock { $0.wishes[key] = state }
    return record
  }

  // MARK: Beginning

  /// What an order means now: what is gone through, and from where.
  func beginning(of order: ReplayOrder, in namespace: NamespaceID) throws -> (scan: ReplayScan, progress: ReplayProgress) {
    let (through, pruned) = try engine.read { (snapshot) throws(StorageError) in
      (try snapshot.head(of: namespace).revision, try snapshot.prunedRevision(of: namespace))
    }
    if order.mode != .failed, let event = order.event {
      guard event.revision > pruned else {
        throw AdministrationError(
          .conflict,
          "The log was pruned up to revision \(pruned): what \(event) saw is not known any more, so it cannot be run.")
      }
      try dispatcher.refuseErased(event, in: namespace)
      guard event.revision <= through, event.epoch > 0 else {
        throw AdministrationError("There is no event \(event). List the events to find its id.")
      }
    }
    let scan = try ReplayScan(order, in: namespace, through: through, of: dispatcher)
    let cursor = try engine.read { (snapshot) throws(StorageError) in try scan.start(in: snapshot) }
    return (scan, ReplayProgress(cursor: cursor, through: through, pruned: pruned))
  }

  private func refuseHandled(_ survey: ReplaySurvey) throws {
    let handled = survey.functions.filter { !$0.value.handledBy.isEmpty }.sorted { $0.key < $1.key }
    guard let (name, counts) = handled.first else { return }
    let others = counts.handledBy.sorted { $0.key < $1.key }.map { "\($0.value) by \($0.key)" }.joined(separator: ", ")
    throw AdministrationError(
      .conflict,
      "\(name) would be given events that other functions have handled: \(others). If both are to have them, allow it with "
        + "--allow-handled; if \(name) took the other's place, name that one in its `formerly`; else name the function to "
        + "replay with --function.")
  }

  private func nextID(in namespace: NamespaceID) throws -> Int64 {
    let stored = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.replays(in: namespace, before: nil, limit: 1).first?.id ?? 0
    }
    return state.withLock { state in
      let id = max(stored, state.lastIDs[namespace] ?? 0) + 1
      state.lastIDs[namespace] = id
      return id
    }
  }
}
