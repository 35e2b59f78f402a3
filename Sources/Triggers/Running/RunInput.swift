import FunctionsKit
import RewardModel
import StorageCore
import TreeModel

/// What a function is given: the event's values, and a context.
struct RunInput {
  let run: FunctionDefinition.Run
  let context: FunctionContext
  let reader: any RunReader

  /// Reads the event's values: of a leaf from the commit, of a larger node from the tree as of the commit and of the one
  /// before it. A retry, a restart and a replay find the same.
  init(
    _ delivery: Delivery, _ definition: FunctionDefinition, namespace: String, engine: any StorageEngine,
    options: DispatcherOptions, now: Int64
  ) throws {
    let facts = delivery.facts
    let reader = SnapshotRunReader(
      engine: engine, namespace: facts.namespace, revision: facts.revision, leavesMax: options.limits.leavesMax,
      identities: options.identities, now: now)
    try self.init(
      delivery, definition, commit: facts.commit ?? Self.commit(of: facts, engine), namespace: namespace, reader: reader)
  }

  /// The same with a reader that is there already.
  ///
  /// - `commit`: the event's.
  init(
    _ delivery: Delivery, _ definition: FunctionDefinition, commit: EventFacts.Commit, namespace: String, reader: any RunReader
  ) throws {
    let facts = delivery.facts
    guard let captures = delivery.captures else {
      throw PermanentError("\(definition.name)'s pattern \(definition.pattern) does not match \(facts.path) any more.")
    }
    self.reader = reader
    let details = EventDetails(
      id: facts.text, namespace: namespace, path: facts.path, time: commit.time,
      actor: commit.actor.description, attempt: delivery.attempts + 1)
    let (before, after) = try Self.values(facts, commit: commit, reader: reader)
    run = FunctionDefinition.Run(details: details, captures: captures, before: before, after: after)
    context = FunctionContext(event: details, reader: reader, limits: definition.limits)
  }

  /// The values of an event that never happened, on the tree as it is at a revision.
  init(
    _ record: InvocationRecord, _ definition: FunctionDefinition, at revision: Revision, namespace: String, id: NamespaceID,
    captures: [String],
    engine: any StorageEngine, options: DispatcherOptions, now: Int64
  ) {
    reader = SnapshotRunReader(
      engine: engine, namespace: id, revision: revision, leavesMax: options.limits.leavesMax,
      identities: options.identities, now: now)
    let details = EventDetails(
      id: record.event.description, namespace: namespace, path: record.path, time: record.time,
      actor: record.actingAs.description, attempt: 1)
    run = FunctionDefinition.Run(details: details, captures: captures, before: record.before, after: record.after)
    context = FunctionContext(event: details, reader: reader, limits: definition.limits)
  }

  private static func commit(of facts: EventFacts, _ engine: any StorageEngine) throws -> EventFacts.Commit {
    let (record, _) = try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.commit(in: facts.namespace, at: facts.revision)
    }
    guard let record else {
      throw PermanentError("The commit of \(facts.record.id) is not in the log any more; the event cannot be run.")
    }
    return EventFacts.Commit(time: record.time, actor: record.actor, changes: record.changes)
  }

  private static func values(_ facts: EventFacts, commit: EventFacts.Commit, reader: any RunReader) throws
    -> (before: TreeNode, after: TreeNode)
  {
    if let change = commit.changes?.change(at: facts.record.id.path) {
      switch (facts.record.kind, change.before, change.after) {
      case (.created, nil, let after?): return (.absent, .leaf(after))
      case (.updated, let before?, let after?): return (.leaf(before), .leaf(after))
      case (.deleted, let before?, nil): return (.leaf(before), .absent)
      default: break  // A map was there before, or is there now.
      }
    }
    let before = facts.record.kind == .created ? .absent : try reader.nodeBeforeEvent(facts.path)
    let after = facts.record.kind == .deleted ? .absent : try reader.nodeAtEvent(facts.path)
    return (before, after)
  }
}
