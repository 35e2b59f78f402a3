import StorageCore
import TreeModel

/// Walks over the children of one node in key order, reading only what it walks over.
struct ChildScan {
  let snapshot: any Snapshot
  let namespace: NamespaceID
  let parent: PathBytes

  /// Rows that are fetched at once, at first and at most.
  private static let chunkRows = (first: 128, max: 4096)

  /// Behind the last child.
  var end: PathBytes { parent.subtreeEnd ?? .afterAll }

  /// Shows the children of a range, first to last, until `body` returns false.
  func ascending(
    from start: PathBytes, to end: PathBytes, _ meter: inout ReadMeter,
    _ body: (TreeMap.Entry) throws(TreeReadError) -> Bool
  ) throws(TreeReadError) {
    var lower = start
    var chunk = Self.chunkRows.first
    // The leaves of the child that is being read: it may go on in the next chunk.
    var leaves: [Leaf] = []
    var child = PathBytes.root
    while lower < end {
      let rows = try reading { () throws(StorageError) in
        try snapshot.leaves(in: namespace, from: lower, to: end, limit: chunk, bytesMax: meter.bytesLeft)
      }
      try meter.visit(rows: rows.count, bytes: Self.bytes(of: rows))
      for row in rows {
        if !leaves.isEmpty, !child.contains(row.leaf.path) {
          guard try body(entry(of: leaves, at: child)) else { return }
          leaves.removeAll(keepingCapacity: true)
        }
        if leaves.isEmpty { child = try self.child(row.leaf.path) }
        leaves.append(row.leaf)
        try meter.check(leaves: leaves.count)
      }
      guard rows.count == chunk, let last = rows.last else { break }
      // A path with a zero byte added is the next one that there could be.
      lower = PathBytes(bytes: last.leaf.path.bytes + [0])
      chunk = min(chunk * 4, Self.chunkRows.max)
    }
    if !leaves.isEmpty { _ = try body(entry(of: leaves, at: child)) }
  }

  /// Shows the children of a range, last to first, until `body` returns false; one seek and one read a child.
  func descending(
    from start: PathBytes, to end: PathBytes, _ meter: inout ReadMeter,
    _ body: (TreeMap.Entry) throws(TreeReadError) -> Bool
  ) throws(TreeReadError) {
    var upper = end
    while start < upper {
      let last = try reading { () throws(StorageError) in try snapshot.leaf(in: namespace, before: upper) }
      guard let last, !(last.leaf.path < start) else { return }
      upper = try child(last.leaf.path)
      guard let entry = try entry(at: upper, &meter), try body(entry) else { return }
    }
  }

  /// The child that stands at a path; nil if nothing does.
  func entry(at child: PathBytes, _ meter: inout ReadMeter) throws(TreeReadError) -> TreeMap.Entry? {
    let rows = try reading { () throws(StorageError) in
      try snapshot.leaves(
        in: namespace, from: child, to: child.subtreeEnd ?? .afterAll, limit: meter.leavesMax + 1, bytesMax: meter.bytesLeft)
    }
    try meter.visit(rows: rows.count, bytes: Self.bytes(of: rows))
    try meter.check(leaves: rows.count)
    return rows.isEmpty ? nil : try entry(of: rows.map(\.leaf), at: child)
  }

  /// The child in whose subtree a path lies.
  private func child(_ path: PathBytes) throws(TreeReadError) -> PathBytes {
    guard let (_, next) = path.key(at: parent.bytes.count) else { throw .storage(.unreadablePath) }
    return PathBytes(bytes: Array(path.bytes[..<next]))
  }

  private func entry(of leaves: [Leaf], at child: PathBytes) throws(TreeReadError) -> TreeMap.Entry {
    guard let key = child.key(at: parent.bytes.count)?.key, let node = TreeNode(leaves: leaves, at: child) else {
      throw .storage(.unreadablePath)
    }
    return TreeMap.Entry(key: key, node: node)
  }

  static func bytes(of rows: [StoredLeaf]) -> Int { rows.reduce(0) { $0 + $1.leaf.bytes } }
}

extension StorageError {
  static let unreadablePath = StorageError(
    .damaged, "A stored path cannot be read; run doubloon ledger verify, or restore a backup.")
}
