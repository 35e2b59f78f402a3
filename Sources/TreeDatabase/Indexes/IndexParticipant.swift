import AccessRules
import StorageCore
import TreeModel

/// Keeps the indexes in the transaction of the write: every child that a commit touches gets its place, or loses it.
///
/// Old places follow from the commit's own changes; what a change says nothing about is looked up as the batch has it. A
/// place that cannot have been there is removed all the same, which costs a row that is not found, and saves a look-up.
struct IndexParticipant: CommitParticipant {
  let catalog: IndexCatalog

  func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  { [] }

  func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {
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
          index: index, child: child, parentBytes: parentBytes(ends[first], index: index), changes: changes[first..<at])
        try refusing { () throws(StorageError) in try step.keepEntry(in: namespace, session: session) }
      }
    }
  }

  private func parentBytes(_ ends: [Int], index: TreeIndex) -> Int {
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

  func keepEntry(in namespace: NamespaceID, session: any CommitSession) throws(StorageError) {
    let target = index.target(of: child)
    let priority = target.priority
    let value = changes.first { $0.path == target }
    let below = changes.filter { $0.path != target && $0.path != priority && target.contains($0.path) }
    var old: IndexRank?
    var new: IndexRank?
    if value == nil, below.isEmpty {
      // What the child is ordered by stayed; the child itself may have come or gone.
      guard changes.contains(where: { $0.before == nil || $0.after == nil }) else { return }
      new = try index.rank(of: child, in: namespace, session: session)
      if new == nil { old = .null }
    } else {
      // Without a leaf before, and with nothing removed below, there was nothing; or a map, whose place stays.
      old = value?.before.map { IndexRank($0) } ?? (below.contains { $0.before != nil } ? .map : .null)
      if let after = value?.after {
        new = IndexRank(after)
      } else if below.contains(where: { $0.after != nil }) {
        new = .map
      } else {
        new = try index.rank(of: child, in: namespace, session: session)
      }
    }
    if let old, old != new { try setIndexEntry(old, isTaken: false, in: namespace, session: session) }
    if let new { try setIndexEntry(new, isTaken: true, in: namespace, session: session) }
  }

  private func setIndexEntry(_ rank: IndexRank, isTaken: Bool, in namespace: NamespaceID, session: any CommitSession)
    throws(StorageError)
  {
    guard let key = child.key(at: parentBytes)?.key else { throw .unreadablePath }
    let parent = PathBytes(bytes: Array(child.bytes[..<parentBytes]))
    session.setIndexEntry(IndexEntry(rank, key), isTaken: isTaken, below: parent, of: index.id, in: namespace)
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

/// An index that the rules of a namespace declare, prepared for comparing paths.
final class TreeIndex: Sendable {
  let id: IndexID
  let pattern: RulePattern
  let order: NodeOrder
  /// Each level of the pattern in binary form; nil takes any key.
  private let levels: [[UInt8]?]
  /// The keys before the first variable: every parent lies in this subtree.
  let trunk: PathBytes

  init(id: IndexID, pattern: RulePattern, order: NodeOrder) {
    self.id = id
    self.pattern = pattern
    self.order = order
    levels = pattern.segments.map { segment in
      if case .literal(let key) = segment { PathBytes.root.child(key).bytes } else { nil }
    }
    trunk = PathBytes(bytes: levels.prefix { $0 != nil }.reduce(into: []) { $0 += $1 ?? [] })
  }

  /// How many keys the path of a parent has.
  var depth: Int { levels.count }

  /// Whether a path lies below a node that the pattern matches.
  ///
  /// - `ends`: where each of the path's keys ends.
  func covers(_ path: PathBytes, ends: [Int]) -> Bool {
    guard ends.count > depth else { return false }
    return firstMismatch(path, ends: ends) == nil
  }

  /// The first level at which a path is not the pattern's; a path may be shorter than the pattern.
  func firstMismatch(_ path: PathBytes, ends: [Int]) -> Int? {
    var start = 0
    for level in 0..<min(depth, ends.count) {
      if let literal = levels[level], !path.bytes[start..<ends[level]].elementsEqual(literal) { return level }
      start = ends[level]
    }
    return nil
  }

  /// The key that a level must have, in binary form; nil for any.
  func literal(_ level: Int) -> [UInt8]? { levels[level] }

  /// Where the value is stored that a child is ordered by.
  func target(of child: PathBytes) -> PathBytes {
    switch order {
    case .key, .value: child
    case .priority: child.priority
    case .child(let path): path.keys.reduce(child) { $0.child($1) }
    }
  }

  /// What a child is ordered by, as the session has it; nil if there is no such child.
  func rank(of child: PathBytes, in namespace: NamespaceID, session: any CommitSession) throws(StorageError) -> IndexRank? {
    let target = target(of: child)
    // A leaf comes first, then the priority of the node, then what is below it.
    let rows = try session.leaves(in: namespace, under: target, limit: 2)
    if let first = rows.first, first.leaf.path == target { return IndexRank(first.leaf.scalar) }
    if rows.contains(where: { $0.leaf.path != target.priority }) { return .map }
    if !rows.isEmpty { return .null }
    let child = try session.leaves(in: namespace, under: child, limit: 1)
    return child.isEmpty ? nil : .null
  }
}
