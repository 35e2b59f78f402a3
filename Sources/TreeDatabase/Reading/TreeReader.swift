public import StorageCore
public import TreeModel

/// Reads nodes and the windows of queries from snapshots: the one way for REST, sockets and listeners.
///
/// A window in key order is a range of the tree; one in an order that the rules declare as an index is a range of that
/// index, read from the same snapshot. Every other order is found by a search through the children, which holds little
/// more than the window in memory. All of it is bounded by ``ReadBounds``.
public struct TreeReader: Sendable {
  let catalog: IndexCatalog

  /// The node at a path, with its priority; absent if there is none.
  public func node(
    at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot, within bounds: ReadBounds = .standard
  ) throws(TreeReadError) -> TreeNode {
    let place = PathBytes(path)
    var meter = ReadMeter(bounds)
    var leaves: [Leaf] = []
    var lower = place
    var chunk = min(64, bounds.leavesMax) + 1
    while true {
      let rows = try reading { () throws(StorageError) in
        try snapshot.leaves(
          in: namespace, from: lower, to: place.subtreeEnd ?? .afterAll, limit: chunk, bytesMax: meter.bytesLeft)
      }
      try meter.visit(rows: rows.count, bytes: ChildScan.bytes(of: rows))
      leaves.append(contentsOf: rows.lazy.map(\.leaf))
      try meter.check(leaves: leaves.count)
      guard rows.count == chunk, let last = rows.last else { break }
      lower = PathBytes(bytes: last.leaf.path.bytes + [0])
      chunk = min(chunk * 4, 8192)
    }
    guard let node = TreeNode(leaves: leaves, at: place) else { throw .storage(.unreadablePath) }
    return node
  }

  /// The window of a query over the children of the node at a path; absent for a leaf and for an absent node.
  public func result(
    of query: Query, at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot,
    within bounds: ReadBounds = .standard
  ) throws(TreeReadError) -> QueryResult {
    let scan = ChildScan(snapshot: snapshot, namespace: namespace, parent: PathBytes(path))
    var meter = ReadMeter(bounds)
    let isIndexed = isIndexed(query.order, at: path, in: namespace)
    let node: TreeNode
    if query.order == .key {
      node = try keyWindow(query, scan, &meter)
    } else if !query.isUnfiltered, let index = try readyIndex(query.order, at: path, in: namespace, snapshot) {
      node = try indexedWindow(query, index, scan, &meter)
    } else {
      node = try searchedWindow(query, scan, &meter)
    }
    return QueryResult(node: node, isIndexed: isIndexed)
  }

  /// Whether an order at a path needs no index, or has one by the rules.
  public func isIndexed(_ order: NodeOrder, at path: Path, in namespace: NamespaceID) -> Bool {
    catalog.isIndexed(order, at: path, in: namespace)
  }

  /// The window by a search through all children.
  private func searchedWindow(_ query: Query, _ scan: ChildScan, _ meter: inout ReadMeter) throws(TreeReadError) -> TreeNode {
    var window = WindowCollector(query)
    let leavesMax = meter.leavesMax
    try scan.ascending(from: scan.parent.firstChild, to: scan.end, &meter) { (entry) throws(TreeReadError) in
      window.add(entry)
      if window.leafCount > leavesMax {
        window.trim()
        guard window.leafCount <= leavesMax else { throw .tooLarge }
      }
      return true
    }
    return window.result()
  }
}
