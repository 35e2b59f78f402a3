import FunctionsKit
package import StorageCore
package import TreeModel

/// Makes the events of a commit, in its own transaction, as Cloud Functions for Firebase define them (https://firebase.google.com/docs/functions/database-events).
///
/// For each changed leaf every pattern that matches a prefix of its path yields that prefix; each one that some function
/// wants yields one event, whatever number of leaves changed below it. The work is bounded by what changed, but for
/// paths above leaves: their unchanged leaves are counted too, in one bounded read, because they belong to the event's
/// size and decide between created, updated and deleted. Patterns that end at leaves never read.
package struct EventParticipant: CommitParticipant {
  private let table: TriggerTable
  private let limits: WriteLimits

  package init(table: TriggerTable, limits: WriteLimits = WriteLimits()) {
    self.table = table
    self.limits = limits
  }

  /// None: events are rows beside the tree.
  package func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  { [] }

  /// Adds an event for each path that a function wants; the pipeline stores what the draft holds.
  package func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {
    guard !draft.changes.isEmpty, !draft.request.triggers.areSuppressed, !table.isEmpty else { return }
    let hop = draft.request.log.cause?.hop ?? 0
    for place in matchedPaths(draft.changes) {
      let unchanged = try unchangedLeaves(of: place, in: draft, session: session)
      guard let kind = place.kind(hasUnchanged: unchanged.exist) else { continue }
      let wanting = place.functions.filter {
        table.wants($0, kind: kind, before: place.exact?.before, after: place.exact?.after)
      }
      guard !wanting.isEmpty else { continue }
      try checkSize(of: place, in: draft, unchangedBytes: unchanged.bytes)
      let event = EventRecord(
        namespace: draft.request.namespace, id: EventID(epoch: draft.epoch, revision: draft.revision, path: place.path),
        kind: kind, hop: hop)
      guard draft.events.count < limits.eventsMax else { throw tooMany }
      draft.events.append(event)
      if hop > limits.hopsMax { deadLetter(event, functions: wanting, draft: draft, session: session) }
    }
  }

  /// The paths that patterns matched, in path order.
  func matchedPaths(_ changes: [LeafChange]) -> [MatchedPath] {
    var places: [MatchedPath] = []
    var indices: [PathBytes: Int] = [:]
    for (position, change) in changes.enumerated() where !change.path.isPriority {
      table.forEachMatch(of: change.path) { end, function in
        let bytes = change.path.prefix(end)
        let index: Int
        if let known = indices[bytes] {
          index = known
        } else {
          index = places.count
          indices[bytes] = index
          places.append(MatchedPath(path: bytes, first: position))
        }
        if !places[index].functions.contains(function) { places[index].functions.append(function) }
        places[index].changes = places[index].changes.lowerBound..<position + 1
        places[index].note(change)
      }
    }
    return places.count > 1 ? places.sorted { $0.path < $1.path } : places
  }

  /// Looks for leaves below the path that the commit does not touch.
  ///
  /// Reads no more than what an event may carry. It makes no difference whether the session shows the state before or
  /// after the changes: changed paths are left out.
  private func unchangedLeaves(of place: MatchedPath, in draft: CommitDraft, session: any CommitSession)
    throws(CommitError) -> (exist: Bool, bytes: Int)
  {
    guard place.mayHaveUnchanged else { return (false, 0) }
    let limit = limits.eventBytesMax / 16 + place.changes.count + 1
    let stored: [StoredLeaf]
    do {
      stored = try session.leaves(in: draft.request.namespace, under: place.path, limit: limit)
    } catch {
      throw CommitError(error)
    }
    var exist = false
    var bytes = 0
    var position = place.changes.lowerBound
    for entry in stored {
      while position < draft.changes.count, draft.changes[position].path < entry.leaf.path { position += 1 }
      if position < draft.changes.count, draft.changes[position].path == entry.leaf.path { continue }
      exist = true
      bytes += 2 * size(of: entry.leaf.scalar, at: entry.leaf.path)
    }
    return (exist, bytes)
  }

  private func checkSize(of place: MatchedPath, in draft: CommitDraft, unchangedBytes: Int) throws(CommitError) {
    var bytes = unchangedBytes
    for change in draft.changes[place.changes] {
      if let before = change.before { bytes += size(of: before, at: change.path) }
      if let after = change.after { bytes += size(of: after, at: change.path) }
    }
    guard bytes > limits.eventBytesMax else { return }
    throw CommitError(
      .triggersExceeded,
      "The event at \(place.path.path?.description ?? "?") would carry \(bytes) bytes before and after; "
        + "\(limits.eventBytesMax) are allowed. Write less at once, put the function's pattern on a smaller node, "
        + "or write with disableTriggers=true.")
  }

  private func size(of scalar: Scalar, at path: PathBytes) -> Int {
    path.bytes.count + (scalar.stringValue?.utf8.count ?? 8)
  }

  private var tooMany: CommitError {
    CommitError(
      .triggersExceeded,
      "The write would cause more than \(limits.eventsMax) events. Write smaller parts, or with disableTriggers=true.")
  }

  /// Ends a chain of functions that start each other: the write is kept, and what it would start is recorded for a person to see.
  private func deadLetter(_ event: EventRecord, functions: [Int], draft: CommitDraft, session: any CommitSession) {
    let chain = CauseChain(endingWith: draft.request.log.cause, in: draft.request.namespace, reading: session)
    for function in functions {
      session.put(
        DeliveryRecord(
          event: event.id, kind: event.kind, hop: event.hop, function: table.definitions[function].name, state: .dead,
          attempts: 0, crashes: 0, nextAttemptAt: 0,
          lastError: "hop limit: \(event.hop) functions started each other, \(limits.hopsMax) may. The chain: \(chain)",
          updatedAt: draft.time),
        in: event.namespace)
    }
  }
}

/// How a commit came about: the functions and events that led to it, the latest first.
struct CauseChain: CustomStringConvertible {
  private(set) var causes: [Cause] = []

  /// Follows a cause back to the first write, as far as the log remembers, at most 64 steps.
  init(endingWith last: Cause?, in namespace: NamespaceID, reading storage: any StorageReading) {
    var next = last
    while let cause = next, causes.count < 64 {
      causes.append(cause)
      guard cause.parent != nil else { return }
      // A log that was pruned, or cannot be read, only makes the chain shorter: it is for people.
      next = (try? storage.commit(in: namespace, at: cause.event.revision))?.cause
    }
  }

  var description: String {
    causes.map { "\($0.function) for \($0.event)" }.joined(separator: " ← ")
  }
}

extension Cause {
  /// The commit that the cause's event happened in; nil for an invocation by hand, which happened in none.
  var parent: Revision? { event.epoch > 0 ? event.revision : nil }
}
