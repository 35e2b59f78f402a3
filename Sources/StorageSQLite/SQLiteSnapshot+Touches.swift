internal import StorageCore
internal import TreeModel

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
      try lookThroughCommits(of: run, through: last, in: range, namespace, &answer)
      break
    }
    return answer.touches
  }

  /// Looks at the commits themselves, newest first.
  private func lookThroughCommits(
    of run: HistoryRun, through last: Int64, in range: PathRange, _ namespace: NamespaceID, _ answer: inout Answer
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
