import StorageCore
import TreeModel

/// Where a commit wrote, as its author said it: few places, none inside another, in path order.
///
/// The request says more than the list of changed leaves: a set of one place is to arrive as one set, with the whole value.
/// What the request does not say (a balance that a transfer moved) is taken from the changes.
struct CommitPaths {
  struct Entry {
    /// The node; of a priority, the node that has it.
    let path: PathBytes
    let isPriority: Bool
    /// The value there now; nil if it has to be read.
    var node: TreeNode?

    /// The place itself.
    var bytes: PathBytes { isPriority ? path.priority : path }
  }

  private(set) var entries: [Entry] = []

  /// - `reader`: the tree after the commit.
  init(of commit: CommittedRequest, reader: CommitReader) {
    let request = commit.request
    // With several operations, or with transfers, what an operation wrote may have been overwritten since.
    let isFinal = request.operations.count == 1 && request.ledger.transfers.isEmpty
    var index = 0
    for operation in request.operations {
      for assignment in operation.assignments {
        let isPriority = if case .priority = assignment.value { true } else { false }
        let node = isFinal && index < commit.receipt.resolved.count ? commit.receipt.resolved[index] : nil
        entries.append(Entry(path: PathBytes(assignment.path), isPriority: isPriority, node: node))
        index += 1
      }
    }
    if entries.count > 1 { makeDisjoint() }
    let changes = commit.changes
    entries.removeAll { changes.range(under: $0.bytes, in: changes.indices).isEmpty }
    addOthers(changes)
    if entries.count > 1 { joinRenewed(changes, reader) }
  }

  /// The place at `path` or above it, if its whole node was written.
  func covering(_ path: PathBytes) -> Int? {
    // Everything between an ancestor and the path in path order lies below the ancestor, and no place lies in another.
    let index = lowerBound(path, isAfter: true) - 1
    guard index >= 0, !entries[index].isPriority, entries[index].path.contains(path) else { return nil }
    return index
  }

  /// The places at `path` and below it.
  func range(under path: PathBytes) -> Range<Int> {
    let lower = lowerBound(path)
    guard let end = path.subtreeEnd else { return lower..<entries.count }
    return lower..<max(lower, lowerBound(end))
  }

  mutating func setNode(_ node: TreeNode, at index: Int) { entries[index].node = node }

  private func lowerBound(_ path: PathBytes, isAfter: Bool = false) -> Int {
    entries.lowerBound { isAfter ? !(path < $0.bytes) : $0.bytes < path }
  }

  private mutating func makeDisjoint() {
    entries.sort { $0.bytes < $1.bytes }
    var kept: [Entry] = []
    for entry in entries {
      if let last = kept.last, last.bytes.contains(entry.bytes) { continue }
      kept.append(entry)
    }
    entries = kept
  }

  /// Adds the changed leaves that no operation named.
  private mutating func addOthers(_ changes: [LeafChange]) {
    var others: [Entry] = []
    var next = 0
    for (index, change) in changes.enumerated() {
      while next < entries.count, entries[next].bytes < change.path, !entries[next].bytes.contains(change.path) { next += 1 }
      if next < entries.count, entries[next].bytes.contains(change.path) { continue }
      let node = change.path.node
      // What vanished because of a write below it (a leaf that became a map, the priority of a map that became empty)
      // vanishes at the client by itself.
      if change.after == nil, isAbove(node, change: index, in: changes) { continue }
      others.append(
        Entry(path: node, isPriority: change.path.isPriority, node: change.after.map { .leaf($0) } ?? .absent))
    }
    guard !others.isEmpty else { return }
    entries += others
    makeDisjoint()
  }

  /// Makes one place of those below a node with a priority of which nothing old is left.
  ///
  /// A client applies a merge one place after the other, in the order of their paths, and a node that is empty at first or in
  /// between has no priority then; the server applied them in the order of the request, and may have kept it or lost it. The
  /// whole node leaves nothing to the order.
  private mutating func joinRenewed(_ changes: [LeafChange], _ reader: CommitReader) {
    guard changes.contains(where: \.isAddition), changes.contains(where: { $0.after == nil || $0.path.isPriority }) else {
      return
    }
    var looked: Set<PathBytes> = []
    var joined: [Entry] = []
    var index = 0
    while index < entries.count {
      var entry = entries[index]
      var end = index + 1
      var above = entry.isPriority ? entry.path : entry.path.parent
      // From the deepest node up. One that was not looked at before has nothing before `index`.
      while let node = above, looked.insert(node).inserted {
        let below = range(under: node)
        // A read that fails is left to the one that makes the message.
        if below.upperBound > end, (try? isRenewed(node, by: changes, reader)) == true {
          entry = Entry(path: node, isPriority: false, node: nil)
          end = below.upperBound
        }
        above = node.parent
      }
      joined.append(entry)
      index = end
    }
    entries = joined
  }

  /// Whether a node that has a priority, or lost it, has only values that the commit added.
  private func isRenewed(_ node: PathBytes, by changes: [LeafChange], _ reader: CommitReader) throws(ListenError) -> Bool {
    let changed = changes[changes.range(under: node, in: changes.indices)]
    guard changed.contains(where: \.isAddition) else { return false }
    if !changed.contains(where: { $0.path == node.priority }), try !reader.priority(at: node).exists { return false }
    return try reader.holds(under: node, nothingBut: changed)
  }

  /// Whether something below the node was written.
  private func isAbove(_ node: PathBytes, change: Int, in changes: [LeafChange]) -> Bool {
    if range(under: node).contains(where: { entries[$0].path != node }) { return true }
    return changes[(change + 1)...].prefix { node.contains($0.path) }.contains { $0.path.node != node }
  }
}

extension LeafChange {
  /// Whether a value is there that was not.
  var isAddition: Bool { before == nil && after != nil && !path.isPriority }
}

extension Array {
  /// The first index whose element does not satisfy the predicate, which holds for a prefix.
  fileprivate func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
