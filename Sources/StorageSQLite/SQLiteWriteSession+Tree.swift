internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  var pendingLeaves: Int { batch.pendingLeaves }

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
    guard let overlay = batch.overlays[namespace], !overlay.nodes.isEmpty || overlay.hidesStored else {
      return try db.leaves(namespace, in: range, limit: limit)
    }
    let paths = overlay.paths()
    var index = paths.lowerBound { $0.bytes.precedes(range.lower) }
    let end = paths.lowerBound { $0 < upper }
    if index >= end, !overlay.hidesStored { return try db.leaves(namespace, in: range, limit: limit) }

    var result: [StoredLeaf] = []
    /// Adds the batch's leaves up to `stored`; says whether the batch has that path itself.
    func addPending(through stored: PathBytes?) -> Bool {
      while index < end, result.count < limit, stored.map({ paths[index] <= $0 }) ?? true {
        let path = paths[index]
        index += 1
        guard let pending = overlay.nodes[path], pending.isLive else { continue }
        if let leaf = pending.leaf(at: path) { result.append(leaf) }
        if path == stored { return true }
      }
      return false
    }
    if !overlay.hidesStored {
      let rows = try db.statement(.leavesAscending)
      defer { rows.reset() }
      rows.bind(namespace.rawValue).bind(range.lower).bind(range.upper)
      while result.count < limit, try rows.step() {
        let leaf = try SQLiteConnection.leaf(rows)
        let isPending = addPending(through: leaf.leaf.path)
        if !isPending, result.count < limit { result.append(leaf) }
      }
    }
    _ = addPending(through: nil)
    return result
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
