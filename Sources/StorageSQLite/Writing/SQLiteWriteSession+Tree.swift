internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  var pendingLeaves: Int { batch.pendingLeaves }

  func setLeaf(_ scalar: Scalar?, at path: PathBytes, revision: Revision, in namespace: NamespaceID) {
    batch.setLeaf(scalar, at: path, revision: revision, in: namespace)
  }

  func leaf(in namespace: NamespaceID, at path: PathBytes) throws(StorageError) -> StoredLeaf? {
    let overlay = batch.overlays[namespace]
    if let pending = overlay?.rows.leaves[path] { return pending.leaf(at: path) }
    return overlay?.rows.hidesStored == true ? nil : try db.leaf(namespace, at: path)
  }

  func leaves(in namespace: NamespaceID, under path: PathBytes, limit: Int) throws(StorageError) -> [StoredLeaf] {
    try leaves(in: namespace, from: path, to: path.subtreeEnd ?? .afterAll, limit: limit)
  }

  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  {
    let range = PathRange(lower: lower.bytes, upper: upper.bytes)
    guard let overlay = batch.overlays[namespace], !overlay.rows.leaves.isEmpty || overlay.rows.hidesStored else {
      return try db.leaves(namespace, in: range, limit: limit)
    }
    let paths = overlay.rows.leaves.paths()
    var index = paths.lowerBound { $0.bytes.precedes(range.lower) }
    let end = paths.lowerBound { $0 < upper }
    if index >= end, !overlay.rows.hidesStored { return try db.leaves(namespace, in: range, limit: limit) }

    var result: [StoredLeaf] = []
    /// Adds the batch's leaves up to `stored`; says whether the batch has that path itself.
    func addPending(through stored: PathBytes?) -> Bool {
      while index < end, result.count < limit, stored.map({ paths[index] <= $0 }) ?? true {
        let path = paths[index]
        index += 1
        guard let pending = overlay.rows.leaves[path] else { continue }
        if let leaf = pending.leaf(at: path) { result.append(leaf) }
        if path == stored { return true }
      }
      return false
    }
    if !overlay.rows.hidesStored {
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

  func lastPath(in namespace: NamespaceID, before path: PathBytes) throws(StorageError) -> PathBytes? {
    guard let overlay = batch.overlays[namespace], !overlay.rows.leaves.isEmpty || overlay.rows.hidesStored else {
      return try db.lastPath(namespace, before: path)
    }
    let pending = Self.lastPending(in: overlay, before: path)
    if overlay.rows.hidesStored { return pending }
    // Stored rows from the last down, until one counts that the batch did not replace or remove.
    let rows = try db.statement(.pathsDescending)
    defer { rows.reset() }
    rows.bind(namespace.rawValue).bind(path.bytes)
    while try rows.step() {
      let stored = PathBytes(bytes: rows.bytes(0))
      if let pending, stored < pending { return pending }
      if overlay.rows.leaves[stored] != nil { continue }
      return stored
    }
    return pending
  }

  /// Where the last leaf before `path` stands that the batch itself has put.
  private static func lastPending(in overlay: BatchOverlay, before path: PathBytes) -> PathBytes? {
    let paths = overlay.rows.leaves.paths()
    var index = paths.lowerBound { $0 < path }
    while index > 0 {
      index -= 1
      if overlay.rows.leaves[paths[index]]?.scalar != nil { return paths[index] }
    }
    return nil
  }
}

extension SQLiteWriteSession {
  func rules(of namespace: NamespaceID) throws(StorageError) -> RulesRecord? {
    let overlay = batch.overlays[namespace]
    if let pending = overlay?.rows.rules.rows.last { return pending }
    return overlay?.rows.hidesStored == true ? nil : try db.rules(namespace)
  }

  func put(_ record: RulesRecord, in namespace: NamespaceID) {
    batch.stage(namespace) { $0.rules.append(record, step: $1) }
  }

  func indexes(in namespace: NamespaceID) throws(StorageError) -> [IndexRecord] {
    let overlay = batch.overlays[namespace]
    let stored = overlay?.rows.hidesStored == true ? [] : try db.indexes(namespace)
    guard let pending = overlay?.rows.indexes.rows, !pending.isEmpty else { return stored }
    var records: [IndexID: IndexRecord] = [:]
    for record in stored { records[record.id] = record }
    for (id, record) in pending { records[id] = record }
    return records.values.sorted { $0.id < $1.id }
  }

  func put(_ record: IndexRecord, in namespace: NamespaceID) {
    batch.stage(namespace) { $0.indexes.put(record, at: record.id, step: $1) }
  }

  func removeIndex(_ id: IndexID, in namespace: NamespaceID) {
    batch.stage(namespace) { $0.indexes.put(nil, at: id, step: $1) }
  }

  func setIndexEntry(_ place: IndexEntry, isTaken: Bool, below parent: PathBytes, of index: IndexID, in namespace: NamespaceID)
  {
    let key = IndexEntryKey(index: index, parent: parent, place: place)
    batch.stage(namespace) { $0.indexEntries.put(isTaken, at: key, step: $1) }
  }

  func removeIndexEntries(of index: IndexID, in namespace: NamespaceID, limit: Int) {
    batch.stage(namespace) { $0.removedIndexEntries.append((index, limit), step: $1) }
  }

  func hasIndexEntries(of index: IndexID, in namespace: NamespaceID) throws(StorageError) -> Bool {
    if let overlay = batch.overlays[namespace] {
      if overlay.rows.hidesStored { return false }
      // Removals of a batch come before what it puts.
      if overlay.rows.indexEntries.rows.contains(where: { $0.key.index == index && $0.value }) { return true }
    }
    return try db.hasIndexEntries(namespace, of: index)
  }

  /// Writes what a batch has put into rules and indexes.
  func writeIndexes(of overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    if let rules = overlay.rows.rules.rows.last {
      try connection.statement(.putRules).bind(ns.rawValue).bind(rules.source).bind(rules.updatedAt).bind(rules.lastIndex).run()
    }
    for (id, record) in overlay.rows.indexes.sorted() {
      guard let record else {
        try connection.statement(.removeIndex).bind(ns.rawValue).bind(id.rawValue).run()
        continue
      }
      try connection.statement(.putIndex).bind(ns.rawValue).bind(id.rawValue).bind(record.pattern).bind(record.order)
        .bind(record.state.rawValue).bind(record.cursor?.bytes).bind(record.childCount).run()
    }
    for (index, limit) in overlay.rows.removedIndexEntries.rows {
      try connection.statement(.removeIndexEntries).bind(ns.rawValue).bind(index.rawValue).bind(Int64(limit)).run()
    }
    guard !overlay.rows.indexEntries.isEmpty else { return }
    for (key, isTaken) in overlay.rows.indexEntries.sorted() {
      try connection.statement(isTaken ? .putIndexEntry : .removeIndexEntry).bind(ns.rawValue).bind(key.index.rawValue)
        .bind(key.parent.bytes).bind(key.place.bytes).run()
    }
  }
}
