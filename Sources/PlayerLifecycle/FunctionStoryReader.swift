import RewardModel
package import StorageCore
package import TreeModel

/// Finds out what one function made of one player's changes.
struct FunctionStoryReader {
  /// Changes of one story.
  private static let changesMax = 100
  /// Leaves of a node that are read to tell its value.
  private static let leavesMax = 50

  let function: FunctionDescription
  let paths: PlayerPaths
  let namespace: NamespaceID
  let snapshot: any Snapshot
  /// The function as the store remembers it.
  let record: FunctionRecord?

  /// The story of the latest commits that touched the function's path.
  ///
  /// - Parameter limit: how many commits.
  /// - Returns: nil if the function does not look for players, or all over the tree.
  func story(limit: Int) throws -> FunctionStory? {
    guard let keys = paths.known(of: function.pattern) else { return nil }
    let touches = try snapshot.touches(in: namespace, under: PathBytes(Path(keys: keys)), before: nil, limit: limit)
    let settled = try snapshot.settledRevision(of: namespace)
    var changes: [ChangeStory] = []
    for revision in touches.revisions.reversed() {
      guard let commit = try snapshot.commit(in: namespace, at: revision) else { continue }
      for (path, exact) in found(in: commit, under: PathBytes(Path(keys: keys))) where changes.count < Self.changesMax {
        guard let change = try change(of: commit, at: path, exact: exact, settled: settled) else { continue }
        changes.append(change)
      }
    }
    let open = function.pattern.segments.dropFirst(keys.count).map(\.description)
    return FunctionStory(
      function: function, player: paths.uid, path: "/" + (keys.map(\.text) + open).joined(separator: "/"),
      pauseReason: record?.isPaused == true ? record?.pauseReason ?? "" : nil, changes: changes,
      isComplete: touches.isComplete, prunedThrough: touches.prunedThrough,
      isErased: try snapshot.erasedPath(in: namespace, around: Path(keys: keys), asOf: .zero) != nil)
  }

  /// The paths of a commit that the pattern matches for the player, each with the change of its own leaf where nothing
  /// below it changed.
  private func found(in commit: CommitRecord, under root: PathBytes) -> [(path: Path, exact: LeafChange?)] {
    var found: [Path] = []
    var exact: [Path: LeafChange] = [:]
    var below: Set<Path> = []
    for change in commit.changes ?? [] where root.contains(change.path) && !change.path.isPriority {
      guard let path = change.path.path else { continue }
      for depth in 0...path.depth {
        let prefix = Path(keys: Array(path.keys[..<depth]))
        guard paths.concerns(prefix, matching: function.pattern) else { continue }
        if found.last != prefix, !below.contains(prefix), exact[prefix] == nil { found.append(prefix) }
        if depth == path.depth { exact[prefix] = change } else { below.insert(prefix) }
      }
    }
    return found.map { ($0, below.contains($0) ? nil : exact[$0]) }
  }

  private func change(of commit: CommitRecord, at changed: Path, exact: LeafChange?, settled: Revision) throws -> ChangeStory? {
    let path = PathBytes(changed)
    let before: TreeNode
    let after: TreeNode
    if let exact {
      before = exact.before.map { .leaf($0) } ?? .absent
      after = exact.after.map { .leaf($0) } ?? .absent
    } else {
      before = try node(at: path, asOf: commit.revision.previous)
      after = try node(at: path, asOf: commit.revision)
    }
    guard let kind = EventRecord.Kind(before, after) else { return nil }
    let event = EventID(epoch: commit.epoch, revision: commit.revision, path: path)
    return ChangeStory(
      event: event, happening: Happening(path: changed, kind: kind, before: before, after: after), time: commit.time,
      actor: commit.actor,
      fate: try fate(of: event, kind: kind, commit: commit, before: before.scalar, after: after.scalar, settled: settled))
  }

  private func node(at path: PathBytes, asOf revision: Revision) throws -> TreeNode {
    let leaves = try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: Self.leavesMax)
    return TreeNode(leaves: leaves.map(\.leaf), at: path) ?? .absent
  }

  // MARK: What became of it

  private func fate(
    of event: EventID, kind: EventRecord.Kind, commit: CommitRecord, before: Scalar?, after: Scalar?, settled: Revision
  ) throws -> ChangeStory.Fate {
    let names = [function.name] + function.formerly
    if let execution = try snapshot.executions(in: namespace, of: event).first(where: { names.contains($0.function) }) {
      return try fate(of: execution)
    }
    if let delivery = try snapshot.deliveries(in: namespace, of: event).first(where: { names.contains($0.function) }) {
      return switch delivery.state {
      case .waiting: .waiting(until: delivery.nextAttemptAt, attempts: delivery.attempts, error: delivery.lastError)
      case .paused: .paused(reason: delivery.lastError)
      case .dead: .dead(attempts: delivery.attempts, error: delivery.lastError)
      }
    }
    guard function.kinds.contains(kind), function.admits(before, after) else { return .unwanted }
    if commit.suppressesTriggers { return .suppressed }
    let isNew = record?.since[namespace].map { event.revision <= $0 } ?? false
    let isKnown = try snapshot.event(in: namespace, id: event) != nil
    return isKnown && !isNew && event.revision > settled ? .pending : .unheard
  }

  private func fate(of execution: ExecutionRecord) throws -> ChangeStory.Fate {
    guard execution.outcome == .done else {
      let settings = execution.settings.flatMap { try? JSONParser.parse($0) }
      return .skipped(reason: execution.reason ?? "", amount: settings?["amount"]?.int)
    }
    guard let effect = execution.effect else { return .done }
    let entries = try snapshot.entries(in: namespace, of: effect, limit: 100)
    return entries.isEmpty ? .done : .paid(entries, attempt: execution.attempt)
  }
}

extension EventRecord.Kind {
  /// What happened where one node became another; nil if there was nothing before and is nothing after.
  package init?(_ before: TreeNode, _ after: TreeNode) {
    switch (before.exists, after.exists) {
    case (false, true): self = .created
    case (true, true): self = .updated
    case (true, false): self = .deleted
    case (false, false): return nil
    }
  }
}
