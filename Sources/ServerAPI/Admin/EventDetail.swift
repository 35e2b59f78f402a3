import RewardModel
import StorageCore
import TreeModel

/// One event whole: the row of the list, and what the list leaves out.
struct EventDetail {
  /// Leaves of before and of after that are shown; a larger node is cut, and the answer says so.
  static let leavesMax = 1000

  let event: EventRecord
  let namespace: NamespaceID
  let snapshot: any Snapshot

  /// The row, with the node before and after, what each run changed, and the ledger entries that came of it.
  func json() throws(StorageError) -> JSON {
    let commit = try snapshot.commit(in: namespace, at: event.id.revision)
    let executions = try snapshot.executions(in: namespace, of: event.id)
    let deliveries = try snapshot.deliveries(in: namespace, of: event.id)
    guard case .object(var members) = EventListing.row(event, commit, executions, deliveries) else { return .null }
    let before = try node(asOf: event.id.revision.previous)
    let after = try node(asOf: event.id.revision)
    members += [
      .init(key: "before", value: before.node.jsonValue(.export)), .init(key: "after", value: after.node.jsonValue(.export)),
    ]
    if before.isCut || after.isCut { members.append(.init(key: "cut", value: .bool(true))) }
    var effects: [JSON] = []
    var entries: [JSON] = []
    for revision in Set(executions.compactMap(\.effect)).sorted() {
      effects += try changes(of: revision)
      entries += try self.entries(of: revision).map(JSON.init)
    }
    members += [.init(key: "effects", value: .array(effects)), .init(key: "entries", value: .array(entries))]
    return .object(members)
  }

  private func node(asOf revision: Revision) throws(StorageError) -> (node: TreeNode, isCut: Bool) {
    let path = event.id.path
    let leaves = try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: Self.leavesMax + 1)
    guard let node = TreeNode(leaves: leaves.prefix(Self.leavesMax).map(\.leaf), at: path) else {
      throw StorageError(.damaged, "A stored path cannot be read; verify the data, or restore a backup.")
    }
    return (node, leaves.count > Self.leavesMax)
  }

  /// What the commit of an effect changed; empty once its payload is forgotten.
  private func changes(of revision: Revision) throws(StorageError) -> [JSON] {
    let changes = try snapshot.commit(in: namespace, at: revision)?.changes ?? []
    return changes.prefix(Self.leavesMax).map { change in
      let place = (change.path.path?.description ?? "?") + (change.path.isPriority ? "/.priority" : "")
      return .object([
        .init(key: "path", value: .string(place)), .init(key: "before", value: change.before?.json ?? .null),
        .init(key: "after", value: change.after?.json ?? .null),
        .init(key: "revision", value: .int(revision.rawValue)),
      ])
    }
  }

  /// The entries of one commit. Sequences and revisions grow together, so the first is found by halving.
  private func entries(of revision: Revision) throws(StorageError) -> [LedgerEntry] {
    var low: Int64 = 1
    var high = try snapshot.head(of: namespace).entrySequence + 1
    while low < high {
      let middle = low + (high - low) / 2
      guard let entry = try snapshot.entry(in: namespace, sequence: middle) else { return [] }
      if entry.revision < revision.rawValue { low = middle + 1 } else { high = middle }
    }
    return try snapshot.entries(in: namespace, after: low - 1, limit: 100).filter { $0.revision == revision.rawValue }
  }
}
