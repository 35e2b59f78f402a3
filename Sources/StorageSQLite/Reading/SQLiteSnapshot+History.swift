internal import StorageCore
internal import TreeModel

extension SQLiteSnapshot {
  /// The past: the leaves of now with the changes after `revision` undone (``HistoryMemory`` shows why none is missed).
  ///
  /// Goes through the subtree in chunks, so that a small limit does not undo a large tree. The revision of a leaf whose
  /// value was brought back is not known; it is given as `revision`, which it cannot be later than.
  func leaves(in namespace: NamespaceID, under path: PathBytes, asOf revision: Revision, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  {
    try leaves(in: namespace, within: PathRange(subtree: path), asOf: revision, limit: limit)
  }

  func leaves(in namespace: NamespaceID, after path: PathBytes?, asOf revision: Revision, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  {
    let lower = path.map { $0.bytes + [0] } ?? []
    return try leaves(in: namespace, within: PathRange(lower: lower, upper: PathRange.end), asOf: revision, limit: limit)
  }

  private func leaves(in namespace: NamespaceID, within whole: PathRange, asOf revision: Revision, limit: Int)
    throws(StorageError) -> [StoredLeaf]
  {
    var result: [StoredLeaf] = []
    var lower = whole.lower
    var undo: Undo?
    while result.count < limit {
      let chunkRows = min(max(limit - result.count, 64), 4096)
      // The first of these reads is what fixes the snapshot; the memory's copy has to be taken after it.
      let leaves = try db.leaves(namespace, in: PathRange(lower: lower, upper: whole.upper), limit: chunkRows)
      let isLast = leaves.count < chunkRows
      // A path with a zero byte added is the next one that there could be.
      let upper = isLast ? whole.upper : leaves[leaves.count - 1].leaf.path.bytes + [0]
      if undo == nil { undo = try Undo(namespace, after: revision, in: self) }
      let changes = try undo?.changes(in: PathRange(lower: lower, upper: upper)) ?? [:]
      try Self.merge(leaves, changes, revision, limit: limit, into: &result)
      if isLast { break }
      lower = upper
    }
    return result
  }

  /// Rows of one run of the history that are looked at for a stretch.
  private static let stretchRows = 4096

  func leaves(
    in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, asOf revision: Revision, limit: Int, bytesMax: Int
  ) throws(StorageError) -> LeafStretch {
    let chunkRows = min(max(limit, 64), Self.stretchRows)
    let stored = try leaves(in: namespace, from: lower, to: upper, limit: chunkRows, bytesMax: bytesMax)
    let bytes = stored.reduce(0) { $0 + $1.leaf.bytes }
    var end = upper.bytes
    if stored.count >= chunkRows || bytes > bytesMax, let last = stored.last { end = last.leaf.path.bytes + [0] }
    var undo = try Undo(namespace, after: revision, in: self)
    end = try undo.reach(in: PathRange(lower: lower.bytes, upper: end), rows: Self.stretchRows, bytes: bytesMax)
    let changes = try undo.changes(in: PathRange(lower: lower.bytes, upper: end))
    var result: [StoredLeaf] = []
    let reached = stored.prefix { $0.leaf.path.bytes.precedes(end) }
    try Self.merge(Array(reached), changes, revision, limit: limit, into: &result)
    if result.count >= limit, let last = result.last { end = last.leaf.path.bytes + [0] }
    return LeafStretch(leaves: result, end: PathBytes(bytes: end))
  }

  private static func merge(
    _ leaves: [StoredLeaf], _ changes: [PathBytes: Scalar?], _ revision: Revision, limit: Int,
    into result: inout [StoredLeaf]
  ) throws(StorageError) {
    let changed = changes.keys.sorted()
    var next = 0
    func addChanged(before path: PathBytes?) {
      while next < changed.count, result.count < limit, path.map({ changed[next] < $0 }) ?? true {
        let path = changed[next]
        if case .some(.some(let scalar)) = changes[path] {
          result.append(StoredLeaf(leaf: Leaf(path: path, scalar: scalar), revision: revision))
        }
        next += 1
      }
    }
    for leaf in leaves {
      addChanged(before: leaf.leaf.path)
      if result.count >= limit { return }
      // If it was changed, what stood there before comes with the others.
      if changes[leaf.leaf.path] != nil { continue }
      guard leaf.revision <= revision else {
        throw StorageError(
          .damaged, "The commit log does not have the change of a leaf in revision \(leaf.revision). Restore the last backup.")
      }
      result.append(leaf)
    }
    addChanged(before: nil)
  }
}

/// What has to be undone to see one namespace as it was after a revision.
private struct Undo {
  private let namespace: NamespaceID
  private let revision: Int64
  private let connection: SQLiteConnection
  private let recent: RecentChanges
  /// The last revision that the snapshot sees; nil while nobody needed to know.
  private var head: Int64?
  /// Up to where the snapshot's table is complete.
  private let watermark: Int64
  /// The runs of the table that hold later changes, oldest first.
  private var runs: [HistoryRun] = []

  init(_ namespace: NamespaceID, after revision: Revision, in snapshot: SQLiteSnapshot) throws(StorageError) {
    self.namespace = namespace
    self.revision = revision.rawValue
    connection = try snapshot.db
    recent = try snapshot.history.recent(namespace, reading: connection)
    let pruned = recent.pruned
    guard revision.rawValue >= pruned else {
      throw StorageError(
        .unreadable, "The log was pruned up to revision \(pruned); the tree as of \(revision) can no longer be read.")
    }
    // The usual case: everything after the revision is still in memory.
    guard revision.rawValue < recent.start else {
      watermark = recent.start
      return
    }
    head = try connection.lastRevision(namespace)
    watermark = try connection.watermark(namespace).history
    runs = try connection.historyRuns(namespace, after: revision.rawValue)
  }

  /// Up to where the changes of a range may be asked for at once, so that of each run only so many rows are read.
  func reach(in range: PathRange, rows: Int, bytes: Int) throws(StorageError) -> [UInt8] {
    var end = range.upper
    for run in runs {
      end = try connection.reach(
        namespace, of: run, in: PathRange(lower: range.lower, upper: end), rows: rows, bytes: bytes)
    }
    return end
  }

  /// What stood at each path of the range that was changed since.
  mutating func changes(in range: PathRange) throws(StorageError) -> [PathBytes: Scalar?] {
    /// The first change of each path that the memory has; if even that came after the head, none counts.
    var remembered: [PathBytes: (revision: Int64, before: Scalar?)] = [:]
    recent.forEachChange(after: revision, through: self.head ?? .max, in: range) { path, revision, before in
      if remembered[path] == nil { remembered[path] = (revision, before) }
    }
    // Mostly nothing there has changed since: then it does not matter how much of the memory the snapshot sees.
    if self.head == nil, remembered.isEmpty { return [:] }
    let head: Int64
    if let known = self.head { head = known } else { head = try connection.lastRevision(namespace) }
    self.head = head
    // Sources by age: the first change that is found is the earliest.
    var earliest: [PathBytes: Scalar?] = [:]
    if revision < head, revision < recent.start {
      for run in runs {
        try connection.forEachEarliest(namespace, in: run, after: revision, in: range) {
          path, before throws(StorageError) in
          guard earliest[path] == nil else { return }
          earliest.updateValue(try before(), forKey: path)
        }
      }
      if watermark < recent.start { try addGap(in: range, to: &earliest) }
    }
    for (path, change) in remembered where change.revision <= head && earliest[path] == nil {
      earliest.updateValue(change.before, forKey: path)
    }
    return earliest
  }

  /// The commits that left the memory after the snapshot was opened.
  private func addGap(in range: PathRange, to earliest: inout [PathBytes: Scalar?]) throws(StorageError) {
    for commit in try connection.commits(namespace, after: max(revision, watermark)) {
      guard commit.revision.rawValue <= recent.start else { return }
      guard let changes = commit.changes else {
        throw StorageError(.unreadable, "The changes of commit \(commit.revision) were forgotten.")
      }
      for change in changes where range.contains(change.path) && earliest[change.path] == nil {
        earliest.updateValue(change.before, forKey: change.path)
      }
    }
  }
}

/// Which commits touched a place: the history is sorted by path, so this costs one range of each run and no index of its own.
extension SQLiteSnapshot {
  /// Rows of the history that one call looks at.
  private static let rowsMax = 20_000
  /// Commits that one call looks at where a range holds more rows than that: then most commits touch it.
  private static let commitsMax = 5000

  func revision(in namespace: NamespaceID, at time: Int64) throws(StorageError) -> Revision {
    Revision(try db.revision(namespace, at: time))
  }

  func touches(in namespace: NamespaceID, under path: PathBytes, before revision: Revision?, limit: Int) throws(StorageError)
    -> PathTouches
  {
    let range = PathRange(subtree: path)
    // As for every read of the past, the snapshot first and the memory's copy after it (``HistoryMemory``).
    let connection = try db
    let head = try connection.lastRevision(namespace)
    let (watermark, pruned) = try connection.watermark(namespace)
    let recent = try history.recent(namespace, reading: connection)
    let last = min(revision.map(\.rawValue.predecessor) ?? head, head)
    var found: Set<Int64> = []
    recent.forEachChange(after: pruned, through: last, in: range) { _, revision, _ in found.insert(revision) }
    if watermark < recent.start {
      for commit in try connection.commits(namespace, after: max(watermark, pruned)) {
        guard commit.revision.rawValue <= min(recent.start, last) else { break }
        if commit.touches(range) { found.insert(commit.revision.rawValue) }
      }
    }
    var answer = Answer(found: found, scanned: min(watermark, last) + 1, pruned: pruned, limit: limit)
    var rows = Self.rowsMax
    for run in try connection.historyRuns(namespace, after: pruned).reversed() where run.after < last {
      if answer.isFull { break }
      if try connection.addTouches(namespace, in: run, through: last, in: range, rows: &rows, to: &answer.found) {
        answer.scanned = max(run.after, pruned) + 1
        continue
      }
      try lookThroughCommits(of: run, through: last, in: range, namespace: namespace, answer: &answer)
      break
    }
    return answer.touches
  }

  /// Looks at the commits themselves, newest first.
  private func lookThroughCommits(
    of run: HistoryRun, through last: Int64, in range: PathRange, namespace: NamespaceID, answer: inout Answer
  ) throws(StorageError) {
    var revision = min(run.last, last)
    // Of this run only what the rows before did not show in full.
    answer.found = answer.found.filter { $0 > revision }
    for _ in 0..<Self.commitsMax {
      guard revision > max(run.after, answer.pruned), !answer.isFull else { return }
      if try db.commit(namespace, at: Revision(revision))?.touches(range) == true { answer.found.insert(revision) }
      answer.scanned = revision
      revision -= 1
    }
  }

  /// What was found so far.
  private struct Answer {
    var found: Set<Int64>
    /// Every commit from here on was looked at.
    var scanned: Int64
    let pruned: Int64
    let limit: Int

    var isFull: Bool { found.count >= limit }

    var touches: PathTouches {
      let revisions = found.filter { $0 > pruned && $0 >= scanned }.sorted(by: >)
      let isCut = revisions.count > limit
      let scannedThrough = isCut ? revisions[limit - 1] : max(scanned, pruned + 1)
      return PathTouches(
        revisions: revisions.prefix(limit).map(Revision.init(rawValue:)), scannedThrough: Revision(scannedThrough),
        isComplete: !isCut && scanned <= pruned + 1, prunedThrough: Revision(pruned))
    }
  }
}

extension CommitRecord {
  /// Whether a change lies within a range; not known, and taken for no, once the changes are forgotten.
  fileprivate func touches(_ range: PathRange) -> Bool {
    guard let changes else { return false }
    let first = changes.lowerBound { $0.path.bytes.precedes(range.lower) }
    return first < changes.count && changes[first].path.bytes.precedes(range.upper)
  }
}

extension Int64 {
  fileprivate var predecessor: Int64 { self == .min ? .min : self - 1 }
}
