import StorageCore
import TreeModel

/// Keeps the indexes in the transaction of the write: every child that a commit touches gets its place, or loses it.
///
/// Old places follow from the commit's own changes; what a change says nothing about is looked up as the batch has it. A
/// place that cannot have been there is removed all the same, which costs a row that is not found, and saves a look-up.
struct IndexParticipant: CommitParticipant {
  let catalog: IndexCatalog

  func assignments(for request: CommitRequest, at time: Int64, in session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
  { [] }

  func participate(in draft: inout CommitDraft, session: any WriteSession) throws(CommitRefusal) {
    let namespace = draft.request.namespace
    guard let indexes = catalog.indexes(of: namespace) else { return }
    let changes = draft.treeChanges
    let ends = changes.map(\.path.keyEnds)
    for index in indexes {
      let end = index.trunk.subtreeEnd
      var at = changes.partitioningIndex { !($0.path < index.trunk) }
      while at < changes.count, end.map({ changes[at].path < $0 }) ?? true {
        guard index.covers(changes[at].path, ends: ends[at]) else {
          at += 1
          continue
        }
        // The changes of one child stand side by side.
        let child = PathBytes(bytes: Array(changes[at].path.bytes[..<ends[at][index.depth]]))
        let first = at
        while at < changes.count, child.contains(changes[at].path) { at += 1 }
        let step = IndexedChild(
          index: index, child: child, parentBytes: parentBytes(ends[first], index), changes: changes[first..<at])
        try refusing { () throws(StorageError) in try step.keepPlace(in: namespace, session) }
      }
    }
  }

  private func parentBytes(_ ends: [Int], _ index: TreeIndex) -> Int {
    index.depth == 0 ? 0 : ends[index.depth - 1]
  }
}

/// One child of an indexed node, and what a commit changed in it.
private struct IndexedChild {
  let index: TreeIndex
  let child: PathBytes
  /// How many of the child's bytes are its parent's.
  let parentBytes: Int
  /// Not empty.
  let changes: ArraySlice<LeafChange>

  func keepPlace(in namespace: NamespaceID, _ session: any WriteSession) throws(StorageError) {
    let target = index.target(of: child)
    let priority = target.priority
    let value = changes.first { $0.path == target }
    let below = changes.filter { $0.path != target && $0.path != priority && target.contains($0.path) }
    var old: IndexRank?
    var new: IndexRank?
    if value == nil, below.isEmpty {
      // What the child is ordered by stayed; the child itself may have come or gone.
      guard changes.contains(where: { $0.before == nil || $0.after == nil }) else { return }
      new = try index.rank(of: child, in: namespace, session)
      if new == nil { old = .null }
    } else {
      // Without a leaf before, and with nothing removed below, there was nothing; or a map, whose place stays.
      old = value?.before.map { IndexRank($0) } ?? (below.contains { $0.before != nil } ? .map : .null)
      if let after = value?.after {
        new = IndexRank(after)
      } else if below.contains(where: { $0.after != nil }) {
        new = .map
      } else {
        new = try index.rank(of: child, in: namespace, session)
      }
    }
    if let old, old != new { try setPlace(old, isTaken: false, in: namespace, session) }
    if let new { try setPlace(new, isTaken: true, in: namespace, session) }
  }

  private func setPlace(_ rank: IndexRank, isTaken: Bool, in namespace: NamespaceID, _ session: any WriteSession)
    throws(StorageError)
  {
    guard let key = child.key(at: parentBytes)?.key else { throw .unreadablePath }
    let parent = PathBytes(bytes: Array(child.bytes[..<parentBytes]))
    session.setPlace(IndexPlace(rank, key), isTaken: isTaken, below: parent, of: index.id, in: namespace)
  }
}

extension Array {
  /// The first position at which `condition` holds, in an array where it holds from some position on.
  fileprivate func partitioningIndex(_ condition: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
