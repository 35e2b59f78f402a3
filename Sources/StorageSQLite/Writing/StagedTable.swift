internal import StorageCore
internal import TreeModel

/// The rows of one table that a batch has put and not written yet, by key; steps can be taken back.
///
/// A value of optional type stands for rows that may also be removed: nil is a removal.
struct StagedTable<Key: Hashable, Row> {
  private(set) var rows: [Key: Row] = [:]
  /// What stood in ``rows`` before each step, in order.
  private var undo: [(step: Int, key: Key, before: Row?)] = []

  var isEmpty: Bool { rows.isEmpty }

  /// What the batch has put under a key; nil if the store's row counts.
  subscript(key: Key) -> Row? { rows[key] }

  /// Stages a row in a step of the batch.
  mutating func put(_ row: Row, at key: Key, step: Int) {
    undo.append((step, key, rows.updateValue(row, forKey: key)))
  }

  /// Takes back what was put in this step and after it.
  mutating func rollback(to step: Int) {
    while let last = undo.last, last.step >= step {
      undo.removeLast()
      if let before = last.before {
        rows.updateValue(before, forKey: last.key)
      } else {
        rows.removeValue(forKey: last.key)
      }
    }
  }

  /// Drops rows that nobody will ask for again; the batch must have been recorded whole.
  mutating func removeAll(where isOver: (Row) -> Bool) {
    rows = rows.filter { !isOver($0.value) }
  }
}

extension StagedTable where Key: Comparable {
  /// The rows in the order of their keys: written so, a page of the table is touched once.
  func sorted() -> [(key: Key, value: Row)] { rows.sorted { $0.key < $1.key } }
}

/// Rows that a batch appends to one table, in order; steps can be taken back.
struct StagedLog<Row> {
  private(set) var rows: [Row] = []
  private var steps: [Int] = []

  var isEmpty: Bool { rows.isEmpty }

  mutating func append(_ row: Row, step: Int) {
    rows.append(row)
    steps.append(step)
  }

  /// Takes back what was appended in this step and after it.
  mutating func rollback(to step: Int) {
    while removeLast(since: step) != nil {}
  }

  /// Takes back the last row, if it was appended in this step or after it.
  mutating func removeLast(since step: Int) -> Row? {
    guard let last = steps.last, last >= step else { return nil }
    steps.removeLast()
    return rows.removeLast()
  }
}

/// The leaves that a batch has set, with their paths in order.
struct StagedLeaves {
  struct PendingLeaf {
    /// nil removes the leaf.
    var scalar: Scalar?
    var revision: Revision
    /// False once the put was taken back: the file's row counts again.
    var isLive = true

    func leaf(at path: PathBytes) -> StoredLeaf? {
      scalar.map { StoredLeaf(leaf: Leaf(path: path, scalar: $0), revision: revision) }
    }
  }

  private var leaves: [PathBytes: PendingLeaf] = [:]
  private var sortedPaths: [PathBytes] = []
  private var unsortedPaths: [PathBytes] = []
  private var undo: [(step: Int, path: PathBytes, before: PendingLeaf?)] = []

  var isEmpty: Bool { leaves.isEmpty }

  /// What the batch has put there; nil if the store's leaf counts.
  subscript(path: PathBytes) -> PendingLeaf? {
    guard let pending = leaves[path], pending.isLive else { return nil }
    return pending
  }

  /// Stages a leaf in a step of the batch.
  ///
  /// - Returns: whether the path is new in the batch.
  mutating func put(_ pending: PendingLeaf, at path: PathBytes, step: Int) -> Bool {
    let before = leaves.updateValue(pending, forKey: path)
    undo.append((step, path, before))
    if before == nil { addPath(path) }
    return before == nil
  }

  /// Takes back what was put in this step and after it.
  mutating func rollback(to step: Int) {
    while let last = undo.last, last.step >= step {
      undo.removeLast()
      // The path stays in the order of paths, without its value: a row that is not live is passed over.
      leaves[last.path] = last.before ?? PendingLeaf(scalar: nil, revision: .zero, isLive: false)
    }
  }

  /// Every path that the batch touched, in order; some may have been taken back.
  mutating func paths() -> [PathBytes] {
    guard !unsortedPaths.isEmpty else { return sortedPaths }
    if unsortedPaths.count <= 16 {
      for path in unsortedPaths { sortedPaths.insert(path, at: sortedPaths.lowerBound { $0 < path }) }
    } else {
      sortedPaths.append(contentsOf: unsortedPaths)
      sortedPaths.sort()
    }
    unsortedPaths.removeAll(keepingCapacity: true)
    return sortedPaths
  }

  private mutating func addPath(_ path: PathBytes) {
    // An operation's leaves come in order, so they mostly go to the end.
    if unsortedPaths.isEmpty, sortedPaths.last.map({ $0 < path }) ?? true {
      sortedPaths.append(path)
    } else {
      unsortedPaths.append(path)
    }
  }
}
