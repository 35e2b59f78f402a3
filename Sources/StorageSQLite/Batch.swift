internal import RewardModel
internal import StorageCore
internal import TreeModel

/// Everything that was put since the last commit, and how to take it back.
struct Batch {
  var overlays: [NamespaceID: BatchOverlay] = [:]
  var heads: [NamespaceID: NamespaceHead] = [:]
  var created: [NamespaceRecord] = []
  var removed: [NamespaceID] = []
  var functions: [ExactText: FunctionRecord] = [:]
  var audits: [AuditRecord] = []
  /// Answers in the file that expired at or before this time are forgotten.
  var idempotencyExpiry: Int64?
  private(set) var undo: [BatchUndo] = []
  /// Places of the tree in the overlays, those among them that were taken back.
  private(set) var pendingLeaves = 0

  var isEmpty: Bool { undo.isEmpty }
  var position: Int { undo.count }

  mutating func record(_ step: BatchUndo) {
    undo.append(step)
  }

  /// The overlay of a namespace, for a put.
  mutating func overlay(_ ns: NamespaceID) -> BatchOverlay {
    if let overlay = overlays[ns] { return overlay }
    let overlay = BatchOverlay()
    overlays[ns] = overlay
    return overlay
  }

  mutating func setLeaf(_ scalar: Scalar?, at path: PathBytes, revision: Revision, in ns: NamespaceID) {
    let pending = BatchOverlay.PendingLeaf(scalar: scalar, revision: revision)
    let overlay = overlay(ns)
    let before = overlay.nodes.updateValue(pending, forKey: path)
    if before == nil {
      overlay.addPath(path)
      pendingLeaves += 1
    }
    undo.append(.node(ns, path, before))
  }

  /// Keeps the batch as it is, for a step that changes it at many places.
  mutating func recordWhole() {
    var copy = self
    copy.overlays = overlays.mapValues { $0.copy() }
    undo.append(.whole(copy))
  }

  mutating func rollback(to position: Int) {
    precondition(position <= undo.count, "A mark is good until the batch was taken back beyond it, or committed.")
    while undo.count > position { takeBack(undo.removeLast()) }
  }

  private mutating func takeBack(_ step: BatchUndo) {
    switch step {
    case .node(let ns, let path, let before):
      // The path stays in the order of paths, without its value: a row that is not live is passed over.
      overlays[ns]?.nodes[path] = before ?? BatchOverlay.PendingLeaf(scalar: nil, revision: .zero, isLive: false)
    case .commit(let ns): overlays[ns]?.commits.removeLast()
    case .event(let ns): overlays[ns]?.events.removeLast()
    case .entry(let ns): overlays[ns]?.removeLastEntry()
    case .settled(let ns, let before): overlays[ns]?.settledRevision = before
    case .head(let ns, let before): heads[ns] = before
    case .audit: audits.removeLast()
    case .upkeep(let ns): overlays[ns]?.upkeep.removeLast()
    case .execution(let ns, let key, let before): overlays[ns]?.executions[key] = before
    case .delivery(let ns, let key, let before):
      if let before {
        overlays[ns]?.deliveries.updateValue(before, forKey: key)
      } else {
        overlays[ns]?.deliveries.removeValue(forKey: key)
      }
    case .balance(let ns, let key, let before): overlays[ns]?.balances[key] = before
    case .outbox(let ns, let key, let before): overlays[ns]?.outbox[key] = before
    case .idempotency(let ns, let key, let before): overlays[ns]?.idempotency[key] = before
    case .place(let ns, let key, let before): overlays[ns]?.places[key] = before
    case .index(let ns, let id, let before):
      if let before {
        overlays[ns]?.indexes.updateValue(before, forKey: id)
      } else {
        overlays[ns]?.indexes.removeValue(forKey: id)
      }
    case .accountRow(let ns, let key, let before):
      if let before {
        overlays[ns]?.accountRows.updateValue(before, forKey: key)
      } else {
        overlays[ns]?.accountRows.removeValue(forKey: key)
      }
    case .rules(let ns, let before): overlays[ns]?.rules = before
    case .record(let ns, let key, let before):
      if let before {
        overlays[ns]?.records.updateValue(before, forKey: key)
      } else {
        overlays[ns]?.records.removeValue(forKey: key)
      }
    case .removedPlaces(let ns): overlays[ns]?.removedPlaces.removeLast()
    case .function(let name, let before): functions[name] = before
    case .whole(let before): self = before
    }
  }
}
