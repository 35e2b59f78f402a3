import AccessRules
import StorageCore
import TreeModel

/// The tree before one operation, and as it would be after it: what its rules look at on the writer.
///
/// Nothing of the operation is in the batch yet. Where it writes, its own data tell what the value would be, server values filled
/// in when they are looked at; above, that and what would be left of the rows; elsewhere, and before, the rows. So judging costs
/// what the rules look at, however much is written.
final class ProposedTree: RuleTree {
  private struct Question: Hashable {
    let pathBytes: PathBytes
    let side: RuleSide
  }

  /// A place in a written node that the server fills.
  private struct Filling: Hashable {
    let path: Path
    let isPriority: Bool
  }

  /// Rows of a written place that are fetched at once when the rules look there more than now and then.
  private static let rowsMax = 256

  private let session: any CommitSession
  private let namespace: NamespaceID
  private let time: Int64
  /// In path order; no place lies in another.
  private let assignments: [WriteOperation.Assignment]
  /// What was found by searching rows.
  private var known: [Question: RuleRead] = [:]
  /// By assignment: the places that the server fills, once one was looked at.
  private var fillings: [Int: [Filling: ServerValue]] = [:]
  /// By assignment: how often the rows of its place were looked at, and all of them where they are few.
  private var looks: [Int: Int] = [:]
  private var rows: [Int: [StoredLeaf]] = [:]

  init(_ session: any CommitSession, _ namespace: NamespaceID, _ operation: WriteOperation, at time: Int64) {
    self.session = session
    self.namespace = namespace
    self.time = time
    assignments = operation.assignments
  }

  func read(at pathBytes: PathBytes, side: RuleSide) throws(RuleTreeError) -> RuleRead {
    let above = assignment(above: pathBytes)
    if side == .after, let above { return try writtenRead(at: pathBytes, in: above) }
    let question = Question(pathBytes: pathBytes, side: side)
    if let answer = known[question] { return answer }
    let answer =
      if side == .after { try remainingRead(at: pathBytes) } else { try storedRead(at: pathBytes, below: above) }
    known[question] = answer
    return answer
  }

  func priority(at pathBytes: PathBytes, side: RuleSide) throws(RuleTreeError) -> Scalar? {
    guard side == .after else { return try stored(pathBytes.priority) }
    if let index = assignment(above: pathBytes) {
      guard case .node(let write) = assignments[index].value, let path = path(of: pathBytes, in: index) else { return nil }
      let node = write.node[path]
      guard node.priority == .int(0), let value = filling(index, write: write, pathBytes: Filling(path: path, isPriority: true))
      else {
        return node.priority
      }
      return try filled(value, at: pathBytes.priority)
    }
    // What vanishes takes its priority along.
    guard try read(at: pathBytes, side: .after) != .absent else { return nil }
    let index = firstIndex(from: pathBytes.priority)
    guard index < assignments.count, assignments[index].pathBytes == pathBytes.priority,
      case .priority(let value) = assignments[index].value
    else { return try stored(pathBytes.priority) }
    switch value {
    case .scalar(let scalar): return scalar
    case .server(let server): return try filled(server, at: pathBytes.priority)
    }
  }
}

// MARK: - What is written

extension ProposedTree {
  /// The first assignment at a place or behind it.
  private func firstIndex(from pathBytes: PathBytes) -> Int {
    var low = 0
    var high = assignments.count
    while low < high {
      let middle = (low + high) / 2
      if assignments[middle].pathBytes < pathBytes { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The assignment that replaces a place, or a node above it.
  private func assignment(above pathBytes: PathBytes) -> Int? {
    let next = firstIndex(from: pathBytes)
    for index in [next, next - 1] where assignments.indices.contains(index) {
      guard assignments[index].pathBytes.contains(pathBytes), case .node = assignments[index].value else { continue }
      return index
    }
    return nil
  }

  /// A place as a path below that of an assignment.
  private func path(of pathBytes: PathBytes, in index: Int) -> Path? {
    pathBytes.keys(after: assignments[index].pathBytes.bytes.count).map { Path(keys: $0) }
  }

  private func writtenRead(at pathBytes: PathBytes, in index: Int) throws(RuleTreeError) -> RuleRead {
    guard case .node(let write) = assignments[index].value, let path = path(of: pathBytes, in: index) else { return .absent }
    let node = write.node[path]
    // Where the server fills something in, a 0 stands.
    guard node.scalar == .int(0), let value = filling(index, write: write, pathBytes: Filling(path: path, isPriority: false))
    else {
      return RuleRead(node)
    }
    return .leaf(try filled(value, at: pathBytes))
  }

  private func filling(_ index: Int, write: WriteNode, pathBytes: Filling) -> ServerValue? {
    if write.slots.isEmpty { return nil }
    if let fillings = fillings[index] { return fillings[pathBytes] }
    let found = Dictionary(write.slots.map { (Filling(path: $0.path, isPriority: $0.isPriority), $0.value) }) { $1 }
    fillings[index] = found
    return found[pathBytes]
  }

  private func filled(_ value: ServerValue, at pathBytes: PathBytes) throws(RuleTreeError) -> Scalar {
    guard case .increment = value else { return value.resolved(now: time, current: nil) }
    return value.resolved(now: time, current: try stored(pathBytes))
  }
}

// MARK: - What is stored

extension ProposedTree {
  /// What would stand at a place that nothing is written at or above, but perhaps below.
  private func remainingRead(at pathBytes: PathBytes) throws(RuleTreeError) -> RuleRead {
    var index = firstIndex(from: pathBytes)
    let first = index
    while index < assignments.count, pathBytes.contains(assignments[index].pathBytes) {
      if case .node(let write) = assignments[index].value, write.node.exists { return .map }
      index += 1
    }
    let before = try read(at: pathBytes, side: .before)
    guard case .map = before, index > first else { return before }
    // Below is only removed. What is left is looked for around the places that go.
    var from = pathBytes.firstChild
    let end = pathBytes.subtreeEnd ?? .afterAll
    while from < end, let row = try firstRow(from: from, to: end) {
      guard let gone = assignment(above: row.leaf.path) else {
        // A priority goes with its node, of which more may come behind it.
        guard row.leaf.path.isPriority else { return .map }
        from = PathBytes(bytes: row.leaf.path.bytes.dropLast()).firstChild
        continue
      }
      guard let next = assignments[gone].pathBytes.subtreeEnd else { break }
      from = next
    }
    return .absent
  }

  private func firstRow(from lower: PathBytes, to upper: PathBytes) throws(RuleTreeError) -> StoredLeaf? {
    try looking { () throws(StorageError) in try session.leaves(in: namespace, from: lower, to: upper, limit: 1).first }
  }

  /// - `index`: the assignment that replaces the place.
  private func storedRead(at pathBytes: PathBytes, below index: Int?) throws(RuleTreeError) -> RuleRead {
    let rows: ArraySlice<StoredLeaf>
    if let index, let all = try fewRows(of: index) {
      rows = all[all.firstIndex(from: pathBytes)...].prefix(2)
    } else {
      rows = try looking { () throws(StorageError) in try session.leaves(in: namespace, under: pathBytes, limit: 2) }[...]
    }
    // The node's own value comes first, then its priority, then what lies below.
    for row in rows where pathBytes.contains(row.leaf.path) {
      if row.leaf.path == pathBytes { return .leaf(row.leaf.scalar) }
      if row.leaf.path != pathBytes.priority { return .map }
    }
    return .absent
  }

  /// All rows of the place of an assignment, if the rules look there often enough and they are few.
  private func fewRows(of index: Int) throws(RuleTreeError) -> [StoredLeaf]? {
    if let rows = rows[index] { return rows.count < Self.rowsMax ? rows : nil }
    looks[index, default: 0] += 1
    guard looks[index] == 3 else { return nil }
    let found = try looking { () throws(StorageError) in
      try session.leaves(in: namespace, under: assignments[index].pathBytes, limit: Self.rowsMax)
    }
    rows[index] = found
    return found.count < Self.rowsMax ? found : nil
  }

  private func stored(_ pathBytes: PathBytes) throws(RuleTreeError) -> Scalar? {
    try looking { () throws(StorageError) in try session.leaf(in: namespace, at: pathBytes)?.leaf.scalar }
  }

  private func looking<Result>(_ body: () throws(StorageError) -> Result) throws(RuleTreeError) -> Result {
    do throws(StorageError) {
      return try body()
    } catch {
      throw RuleTreeError(error.message)
    }
  }
}

extension [StoredLeaf] {
  /// The first row at a place or behind it, in rows that are in path order.
  fileprivate func firstIndex(from pathBytes: PathBytes) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].leaf.path < pathBytes { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension RuleRead {
  init(_ node: TreeNode) {
    switch node.content {
    case .absent: self = .absent
    case .leaf(let scalar): self = .leaf(scalar)
    case .map: self = .map
    }
  }
}
