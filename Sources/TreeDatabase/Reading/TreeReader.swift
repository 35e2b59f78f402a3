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
    let parent = PathBytes(path)
    var meter = ReadMeter(bounds)
    var leaves: [Leaf] = []
    var lower = parent
    var chunk = min(64, bounds.leavesMax) + 1
    while true {
      let rows = try reading { () throws(StorageError) in
        try snapshot.leaves(
          in: namespace, from: lower, to: parent.subtreeEnd ?? .afterAll, limit: chunk, bytesMax: meter.bytesLeft)
      }
      try meter.visit(rows: rows.count, bytes: ChildScan.bytes(of: rows))
      leaves.append(contentsOf: rows.lazy.map(\.leaf))
      try meter.check(leaves: leaves.count)
      guard rows.count == chunk, let last = rows.last else { break }
      lower = PathBytes(bytes: last.leaf.path.bytes + [0])
      chunk = min(chunk * 4, 8192)
    }
    guard let node = TreeNode(leaves: leaves, at: parent) else { throw .storage(.unreadablePath) }
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
      node = try keyWindow(query, scan: scan, meter: &meter)
    } else if !query.isUnfiltered, let index = try readyIndex(query.order, at: path, in: namespace, snapshot: snapshot) {
      node = try indexedWindow(query, index: index, scan: scan, meter: &meter)
    } else {
      node = try searchedWindow(query, scan: scan, meter: &meter)
    }
    return QueryResult(node: node, isIndexed: isIndexed)
  }

  /// Whether an order at a path needs no index, or has one by the rules.
  public func isIndexed(_ order: NodeOrder, at path: Path, in namespace: NamespaceID) -> Bool {
    catalog.isIndexed(order, at: path, in: namespace)
  }

  /// The window by a search through all children.
  private func searchedWindow(_ query: Query, scan: ChildScan, meter: inout ReadMeter) throws(TreeReadError) -> TreeNode {
    var window = WindowCollector(query)
    let leavesMax = meter.leavesMax
    try scan.ascending(from: scan.parent.firstChild, to: scan.end, meter: &meter) { (entry) throws(TreeReadError) in
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

extension TreeReader {
  /// How many names are read between two looks at the bounds.
  private static let namesPerLook = 1024

  /// The names of a node's children, in key order, without what lies below them: one seek each.
  ///
  /// - `key`: the names behind this one; nil: from the first.
  /// - `limit`: how many at most; nil: all, of which there may be no more than the bounds allow leaves.
  public func childNames(
    at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot, after key: Key? = nil, limit: Int? = nil,
    within bounds: ReadBounds = .standard
  ) throws(TreeReadError) -> [Key] {
    let parent = PathBytes(path)
    var meter = ReadMeter(bounds)
    var names: [Key] = []
    var last = key
    while names.count < limit ?? .max {
      let wanted = min(Self.namesPerLook, (limit ?? .max) - names.count)
      let found = try reading { () throws(StorageError) in
        try snapshot.children(in: namespace, of: parent, after: last, limit: wanted)
      }
      try meter.visit(rows: found.count, bytes: found.reduce(0) { $0 + $1.text.utf8.count })
      names += found
      try meter.check(leaves: names.count)
      guard found.count == wanted else { break }
      last = found.last
    }
    return names
  }

  /// The value of the leaf at a path; nil if there is a map, or nothing.
  public func leaf(at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot) throws(TreeReadError) -> Scalar? {
    try reading { () throws(StorageError) in try snapshot.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar }
  }

  /// The priority of the node at a path.
  public func priority(at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot) throws(TreeReadError) -> Scalar? {
    try reading { () throws(StorageError) in try snapshot.leaf(in: namespace, at: PathBytes(path).priority)?.leaf.scalar }
  }
}

extension TreeReader {
  /// A window in key order: a range of the tree, read from the end that the limit counts from.
  func keyWindow(_ query: Query, scan: ChildScan, meter: inout ReadMeter) throws(TreeReadError) -> TreeNode {
    let start = Self.start(query.start, in: scan)
    let end = Self.end(query.end, in: scan)
    var window = WindowCollector(query)
    let leavesMax = meter.leavesMax
    func take(_ entry: TreeMap.Entry, until count: Int) throws(TreeReadError) -> Bool {
      window.add(entry)
      guard window.leafCount <= leavesMax else { throw .tooLarge }
      return window.count < count
    }
    switch query.limit {
    case .last(let count):
      guard count > 0 else { return .absent }
      try scan.descending(from: start, to: end, meter: &meter) { (entry) throws(TreeReadError) in try take(entry, until: count)
      }
    case .first(let count):
      guard count > 0 else { return .absent }
      try scan.ascending(from: start, to: end, meter: &meter) { (entry) throws(TreeReadError) in try take(entry, until: count) }
    case nil:
      try scan.ascending(from: start, to: end, meter: &meter) { (entry) throws(TreeReadError) in try take(entry, until: .max) }
    }
    return window.result()
  }

  /// Where the children begin that a bound admits. A key that no child can have says nothing about places; the window
  /// leaves out then what the range has too much.
  private static func start(_ bound: QueryBound?, in scan: ChildScan) -> PathBytes {
    guard let bound else { return scan.parent.firstChild }
    if bound.edge == .max { return scan.end }
    guard let key = bound.edge.storable else { return scan.parent.firstChild }
    let child = scan.parent.child(key)
    return bound.isInclusive ? child : child.subtreeEnd ?? scan.end
  }

  /// Behind the children that a bound admits.
  private static func end(_ bound: QueryBound?, in scan: ChildScan) -> PathBytes {
    guard let bound else { return scan.end }
    if bound.edge == .min { return scan.parent.firstChild }
    guard let key = bound.edge.storable else { return scan.end }
    let child = scan.parent.child(key)
    return bound.isInclusive ? child.subtreeEnd ?? scan.end : child
  }
}

extension TreeReader {
  /// The index of an order at a path, if the snapshot has it whole.
  func readyIndex(_ order: NodeOrder, at path: Path, in namespace: NamespaceID, snapshot: any Snapshot)
    throws(TreeReadError) -> IndexID?
  {
    guard let index = catalog.rules(of: namespace)?.index(order, at: path) else { return nil }
    let record = try reading { () throws(StorageError) in try snapshot.index(in: namespace, id: index.id) }
    return record?.state == .ready ? index.id : nil
  }

  /// A window from an index: entries from the end that the limit counts from, and their children.
  func indexedWindow(_ query: Query, index: IndexID, scan: ChildScan, meter: inout ReadMeter) throws(TreeReadError)
    -> TreeNode
  {
    var (lower, upper) = query.indexRange
    let (wanted, isDescending) =
      switch query.limit {
      case nil: (Int.max, false)
      case .first(let count): (count, false)
      case .last(let count): (count, true)
      }
    guard wanted > 0 else { return .absent }
    var window = WindowCollector(query)
    // Children of one shared rank come in the order of their keys: all are needed to find those with the first values.
    var sharedRank: IndexRank?
    let chunk = min(wanted, 512) + 1
    while lower < upper {
      let entries = try reading { () throws(StorageError) in
        try scan.snapshot.indexEntries(
          in: scan.namespace, of: index, below: scan.parent, from: lower, to: upper, isDescending: isDescending, limit: chunk)
      }
      try meter.visit(rows: entries.count, bytes: 0)
      for indexEntry in entries {
        guard let (rank, key) = indexEntry.parts else { throw .storage(.unreadableEntry) }
        if window.count >= wanted, rank != sharedRank { return window.result() }
        guard let entry = try scan.entry(at: scan.parent.child(key), meter: &meter) else { throw .storage(.unreadableEntry) }
        window.add(entry)
        if window.leafCount > meter.leavesMax { window.trim() }
        try meter.check(leaves: window.leafCount)
        sharedRank = rank.isShared ? rank : nil
      }
      guard entries.count == chunk, let last = entries.last else { break }
      if isDescending { upper = last } else { lower = IndexEntry(bytes: last.bytes + [0]) }
    }
    return window.result()
  }
}

extension StorageError {
  static let unreadableEntry = StorageError(
    .damaged,
    "An index is not what the tree is: upload the rules without its .indexOn, then with it, and it is built again.")
}

/// A query's window, and whether the rules know the order that it asks for.
public struct QueryResult: Sendable {
  /// The children in the window, without the node's priority; absent if there are none (`Query.result(of:)`).
  public let node: TreeNode
  /// Whether the order needs no index, or has one by the rules. Where it has none, REST and `get` refuse, and a listen
  /// warns with `no_index` and answers.
  public let isIndexed: Bool

  public init(node: TreeNode, isIndexed: Bool) {
    self.node = node
    self.isIndexed = isIndexed
  }
}
