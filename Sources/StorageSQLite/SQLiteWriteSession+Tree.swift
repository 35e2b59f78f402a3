internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  func setLeaf(_ scalar: Scalar?, at path: PathBytes, revision: Revision, in namespace: NamespaceID) {
    batch.setLeaf(scalar, at: path, revision: revision, in: namespace)
  }

  func leaf(in namespace: NamespaceID, at path: PathBytes) throws(StorageError) -> StoredLeaf? {
    let overlay = batch.overlays[namespace]
    if let pending = overlay?.nodes[path], pending.isLive { return pending.leaf(at: path) }
    return overlay?.hidesStored == true ? nil : try db.leaf(namespace, at: path)
  }

  func leaves(in namespace: NamespaceID, under path: PathBytes, limit: Int) throws(StorageError) -> [StoredLeaf] {
    try leaves(in: namespace, from: path, to: path.subtreeEnd ?? .afterAll, limit: limit)
  }

  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  {
    let range = PathRange(lower: lower.bytes, upper: upper.bytes)
    return try look(in: namespace, range, horizon: upper, limit: limit).leaves
  }

  func node(in namespace: NamespaceID, at path: PathBytes, limit: Int) throws(StorageError)
    -> (leaves: [StoredLeaf], isFollowed: Bool)
  {
    let range = PathRange(subtree: path)
    // What stands behind the accounts' own node is no child of the root.
    let parentEnd = path.parent.map { PathRange(subtree: $0).upper } ?? range.upper
    let horizon = parentEnd.precedes(range.upper) ? range.upper : parentEnd
    return try look(in: namespace, range, horizon: PathBytes(bytes: horizon), limit: limit)
  }

  /// The leaves within a range; and whether one that stays is the next behind it, before the horizon.
  private func look(in namespace: NamespaceID, _ range: PathRange, horizon: PathBytes, limit: Int) throws(StorageError)
    -> (leaves: [StoredLeaf], isFollowed: Bool)
  {
    let overlay = batch.overlays[namespace]
    let paths = overlay?.paths() ?? []
    var index = paths.lowerBound { $0.bytes.precedes(range.lower) }
    let end = paths.lowerBound { $0.bytes.precedes(range.upper) }
    var result: [StoredLeaf] = []
    /// Adds the batch's leaves up to `stored`; says whether the batch has that path itself.
    func addPending(through stored: PathBytes?) -> Bool {
      while index < end, result.count < limit, stored.map({ paths[index] <= $0 }) ?? true {
        let path = paths[index]
        index += 1
        guard let pending = overlay?.nodes[path], pending.isLive else { continue }
        if let leaf = pending.leaf(at: path) { result.append(leaf) }
        if path == stored { return true }
      }
      return false
    }
    /// Whether the batch itself puts something there.
    func puts(_ path: PathBytes) -> Bool? {
      overlay?.nodes[path].flatMap { $0.isLive ? $0.scalar != nil : nil }
    }
    var isFollowed = end < paths.count && paths[end] < horizon && puts(paths[end]) == true
    if overlay?.hidesStored != true {
      let rows = try db.statement(.leavesAscending)
      defer { rows.reset() }
      rows.bind(namespace.rawValue).bind(range.lower).bind(horizon.bytes)
      while result.count < limit, try rows.step() {
        if !range.upper.withUnsafeBytes({ rows.raw(0).precedes($0) }) {
          isFollowed = isFollowed || puts(PathBytes(bytes: rows.bytes(0))) ?? true
          break
        }
        let leaf = try SQLiteConnection.leaf(rows)
        let isPending = addPending(through: leaf.leaf.path)
        if !isPending, result.count < limit { result.append(leaf) }
      }
    }
    _ = addPending(through: nil)
    return (result, isFollowed)
  }

  func leaf(in namespace: NamespaceID, before path: PathBytes) throws(StorageError) -> StoredLeaf? {
    guard let overlay = batch.overlays[namespace], !overlay.nodes.isEmpty || overlay.hidesStored else {
      return try db.leaf(namespace, before: path)
    }
    let pending = Self.lastPending(in: overlay, before: path)
    if overlay.hidesStored { return pending }
    // Stored rows from the last down, until one counts that the batch did not replace or remove.
    let rows = try db.statement(.leavesDescending)
    defer { rows.reset() }
    rows.bind(namespace.rawValue).bind(path.bytes)
    while try rows.step() {
      let stored = try SQLiteConnection.leaf(rows)
      if let pending, stored.leaf.path < pending.leaf.path { return pending }
      if overlay.nodes[stored.leaf.path]?.isLive == true { continue }
      return stored
    }
    return pending
  }

  /// The last leaf before `path` that the batch itself has put.
  private static func lastPending(in overlay: BatchOverlay, before path: PathBytes) -> StoredLeaf? {
    let paths = overlay.paths()
    var index = paths.lowerBound { $0 < path }
    while index > 0 {
      index -= 1
      if let pending = overlay.nodes[paths[index]], pending.isLive, let leaf = pending.leaf(at: paths[index]) { return leaf }
    }
    return nil
  }
}

extension BatchOverlay.PendingLeaf {
  func leaf(at path: PathBytes) -> StoredLeaf? {
    scalar.map { StoredLeaf(leaf: Leaf(path: path, scalar: $0), revision: revision) }
  }
}
