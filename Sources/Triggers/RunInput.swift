import FunctionsKit
import RewardModel
import StorageCore
import TreeModel

/// What a function is given: the event's values, and a context.
struct RunInput {
  let run: FunctionDefinition.Run
  let context: FunctionContext
  let reader: RunReader

  /// Reads the event's values: of a leaf from the commit, of a larger node from the tree as of the commit and of the one
  /// before it. A retry, a restart and a replay find the same.
  init(
    _ delivery: Delivery, _ definition: FunctionDefinition, namespace: String, engine: any StorageEngine,
    options: DispatcherOptions, now: Int64
  ) throws {
    let facts = delivery.facts
    guard let captures = delivery.captures else {
      throw PermanentError("\(definition.name)'s pattern \(definition.pattern) does not match \(facts.path) any more.")
    }
    let commit = try facts.commit ?? Self.commit(of: facts, engine)
    reader = RunReader(
      engine: engine, namespace: facts.namespace, revision: facts.revision, leavesMax: options.limits.leavesMax,
      identities: options.identities, now: now)
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
    reader = RunReader(
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

  private static func values(_ facts: EventFacts, commit: EventFacts.Commit, reader: RunReader) throws
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

/// Reads the tree for one run: as of its event's commit, just before it, and as it is now.
///
/// Reads ahead of the disk: an event's commit is durable before its run begins, and what a run makes of the latest value is
/// committed behind the batch that it saw.
struct RunReader: FunctionReader {
  let engine: any StorageEngine
  let namespace: NamespaceID
  let revision: Revision
  /// The most that one read may return.
  let leavesMax: Int
  /// By which identities of players who left are known; nil where that is off.
  let identities: IdentityHash?
  /// The time of the run.
  let now: Int64

  func nodeAtEvent(_ path: Path) throws -> TreeNode { try node(path, asOf: revision) }
  func nodeBeforeEvent(_ path: Path) throws -> TreeNode { try node(path, asOf: revision.previous) }

  func existsAtEvent(_ path: Path) throws -> Bool {
    let place = PathBytes(path)
    return try engine.readAhead { (snapshot) throws(StorageError) in
      try !snapshot.leaves(in: namespace, under: place, asOf: revision, limit: 1).isEmpty
    }.result
  }

  func exists(_ path: Path, at time: Int64) throws -> Bool {
    let place = PathBytes(path)
    return try engine.readAhead { (snapshot) throws(StorageError) in
      let then = min(try snapshot.revision(in: namespace, at: time), revision)
      return try !snapshot.leaves(in: namespace, under: place, asOf: then, limit: 1).isEmpty
    }.result
  }

  func hasAccount(_ uid: String) throws -> Bool {
    try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.account(in: namespace, uid: uid) != nil
    }.result
  }

  /// Whether a business key was used, by now.
  func isPaid(_ key: String) throws -> Bool {
    try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.entry(in: namespace, key: BusinessKey(key)) != nil
    }.result
  }

  /// The entry of a business key, as of now.
  func entry(_ key: String) throws -> LedgerEntry? {
    try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.entry(in: namespace, key: BusinessKey(key))
    }.result
  }

  func record(_ kind: String, _ key: String) throws -> String? {
    try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.record(in: namespace, kind: kind, key: key)
    }.result
  }

  func records(_ kind: String, under start: String) throws -> [(key: String, value: String)] {
    let found = try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.records(in: namespace, kind: kind, after: start, isDescending: false, limit: 1000)
    }.result
    return found.prefix { $0.key.utf8.starts(with: start.utf8) }.map { ($0.key, $0.value) }
  }

  func wasPaid(_ player: String, _ code: String) throws -> Bool {
    guard let identities else { return false }
    let (namespace, now, own) = (namespace, now, identities.player(player))
    return try engine.readAhead { (snapshot) throws(StorageError) -> Bool in
      let hashes: [String]
      if let account = try snapshot.account(in: namespace, uid: player) {
        hashes = identities.hashes(of: account)
      } else {
        let stored = try snapshot.record(in: namespace, kind: FormerIdentities.kind, key: player)
        hashes = stored.flatMap { FormerIdentities(stored: $0) }?.hashes ?? []
      }
      for hash in hashes {
        guard let stored = try snapshot.record(in: namespace, kind: PaidRewards.identityKind, key: hash) else { continue }
        if PaidRewards(stored: stored).isPaid(code, beside: own, at: now) { return true }
      }
      return false
    }.result
  }

  func latestNode(_ path: Path) throws -> TreeNode { try node(path, asOf: nil) }

  private func node(_ path: Path, asOf revision: Revision?) throws -> TreeNode {
    let place = PathBytes(path)
    let (leaves, _) = try engine.readAhead { (snapshot) throws(StorageError) -> [StoredLeaf] in
      if let revision {
        try snapshot.leaves(in: namespace, under: place, asOf: revision, limit: leavesMax + 1)
      } else {
        try snapshot.leaves(in: namespace, under: place, limit: leavesMax + 1)
      }
    }
    guard leaves.count <= leavesMax else {
      throw PermanentError("\(path) holds more than \(leavesMax) leaves; read a smaller part of the tree.")
    }
    guard let node = TreeNode(leaves: leaves.lazy.map(\.leaf), at: place) else {
      throw StorageError(.damaged, "A stored path below \(path) cannot be read; verify the data, or restore a backup.")
    }
    return node
  }
}
