import StorageCore
import TreeModel

/// Puts nodes into the batch, leaf by leaf, and notes what changed.
struct TreeAssignment {
  let namespace: NamespaceID
  let revision: Revision
  let limits: WriteLimits
  let session: any CommitSession
  private(set) var changes = ChangeList()
  /// Nodes that lost a child in this step.
  private var bereft: Set<PathBytes> = []

  init(namespace: NamespaceID, revision: Revision, limits: WriteLimits, session: any CommitSession) {
    self.namespace = namespace
    self.revision = revision
    self.limits = limits
    self.session = session
  }

  /// Fills the server values of some assignments and applies them, as one step: what the last of them leaves without
  /// children vanishes then.
  ///
  /// - Returns: the nodes that stand there now; of a priority, the priority as a leaf.
  mutating func apply(_ assignments: [WriteOperation.Assignment], at time: Int64) throws(CommitError) -> [TreeNode] {
    var nodes: [TreeNode] = []
    nodes.reserveCapacity(assignments.count)
    for assignment in assignments {
      switch assignment.value {
      case .node(let write):
        let node = try resolved(write, at: assignment.path, time: time)
        try replace(assignment.pathBytes, depth: assignment.path.depth, with: node)
        nodes.append(node)
      case .priority(let value):
        nodes.append(try setPriority(value, of: PathBytes(assignment.path), time: time))
      }
    }
    try removeEmptyAncestors()
    return nodes
  }

  private func resolved(_ write: WriteNode, at path: Path, time: Int64) throws(CommitError) -> TreeNode {
    if write.slots.isEmpty { return write.node }
    // Each of them may be looked up.
    guard write.slots.count <= limits.leavesMax else { throw .tooLarge }
    return try write.resolved(now: time) { (slot) throws(CommitError) in
      let place = PathBytes(path.appending(slot.path))
      return try refusing { () throws(StorageError) in
        try session.leaf(in: namespace, at: slot.isPriority ? place.priority : place)?.leaf.scalar
      }
    }
  }

  /// Replaces the subtree at `path`: its value, its priority and everything below it.
  private mutating func replace(_ path: PathBytes, depth: Int, with node: TreeNode) throws(CommitError) {
    let new = node.leaves(at: path)
    if case .map = node.content, depth + node.height > Path.depthMax {
      throw CommitError(.invalid, PathError(.tooDeep, key: "").description)
    }
    let old = try refusing { () throws(StorageError) in
      try session.leaves(in: namespace, under: path, limit: limits.leavesMax + 1)
    }
    // Of a larger node only a part was read, whatever becomes of it.
    guard old.count <= limits.leavesMax else { throw .tooLarge }
    try checkSize(old.count + new.count)
    if old.isEmpty && !new.isEmpty { try removeLeaf(above: path) }
    var i = 0
    var j = 0
    while i < old.count || j < new.count {
      if j == new.count || (i < old.count && old[i].leaf.path < new[j].path) {
        change(old[i].leaf.path, from: old[i], to: nil)
        i += 1
      } else if i == old.count || new[j].path < old[i].leaf.path {
        change(new[j].path, from: nil, to: new[j].scalar)
        j += 1
      } else {
        if old[i].leaf.scalar != new[j].scalar { change(new[j].path, from: old[i], to: new[j].scalar) }
        i += 1
        j += 1
      }
    }
    if new.isEmpty && !old.isEmpty, let parent = path.parent { bereft.insert(parent) }
  }

  /// A child below a leaf replaces the leaf's value by a map; the leaf's priority stays.
  ///
  /// Between a leaf and a place below it only the leaf's own priority is stored, so at most two look-ups find it.
  private mutating func removeLeaf(above path: PathBytes) throws(CommitError) {
    // What is before the accounts is the tree, even where the tree is one leaf.
    if path.isAccounts { return }
    let found = try refusing { () throws(StorageError) in
      let last = try session.lastPath(in: namespace, before: path)
      let previous = try last.flatMap { (last) throws(StorageError) in
        last.isPriority ? try session.lastPath(in: namespace, before: last) : last
      }
      guard let previous, !previous.isPriority, previous != path, previous.contains(path) else { return nil as StoredLeaf? }
      return try session.leaf(in: namespace, at: previous)
    }
    if let found { change(found.leaf.path, from: found, to: nil) }
  }

  /// A parent left without children vanishes, with its priority; so does its parent, and so on.
  ///
  /// Looked at once for each parent when all children are gone: a look finds the first child that is left, and would
  /// otherwise step over all that were removed before it, once for each of them.
  private mutating func removeEmptyAncestors() throws(CommitError) {
    guard !bereft.isEmpty else { return }
    for parent in bereft.sorted().reversed() {
      for end in ([0] + parent.keyEnds).reversed() {
        let ancestor = PathBytes(bytes: Array(parent.bytes[..<end]))
        let last = try refusing { () throws(StorageError) in try lastPath(below: ancestor, before: ancestor.subtreeEnd) }
        guard let last else { continue }
        guard last == ancestor.priority else { break }
        let priority = try refusing { () throws(StorageError) in
          // A leaf keeps its priority.
          try lastPath(below: ancestor, before: last) == nil ? session.leaf(in: namespace, at: last) : nil
        }
        guard let priority else { break }
        change(last, from: priority, to: nil)
      }
    }
    bereft = []
  }

  /// The last place of a subtree before another (nil: the last of all). No value is read: a sibling's may be long.
  private func lastPath(below path: PathBytes, before end: PathBytes?) throws(StorageError) -> PathBytes? {
    let last = try session.lastPath(in: namespace, before: end ?? .afterAll)
    return last.flatMap { path.contains($0) ? $0 : nil }
  }

  private mutating func setPriority(_ value: WriteOperation.PriorityValue, of path: PathBytes, time: Int64)
    throws(CommitError) -> TreeNode
  {
    let found = try refusing { () throws(StorageError) in try session.leaves(in: namespace, under: path, limit: 2) }
    guard found.contains(where: { $0.leaf.path != path.priority }) else {
      throw CommitError(
        .invalid, "A priority needs a node: \(path.path?.description ?? "") does not exist. Write its value first.")
    }
    let stored = try refusing { () throws(StorageError) in try session.leaf(in: namespace, at: path.priority) }
    let old = stored?.leaf.scalar
    let new: Scalar? =
      switch value {
      case .scalar(let scalar): scalar
      case .server(let server): server.resolved(now: time, current: old)
      }
    if old != new { change(path.priority, from: stored, to: new) }
    return new.map { .leaf($0) } ?? .absent
  }

  private mutating func change(_ path: PathBytes, from before: StoredLeaf?, to after: Scalar?) {
    session.setLeaf(after, at: path, revision: revision, in: namespace)
    changes.append(LeafChange(path: path, before: before?.leaf.scalar, after: after), origin: before?.revision)
  }

  /// Ends the request's changes: what came back to where it was is of the commit that it was of, for no other tells of it.
  ///
  /// - Returns: the changes, in path order.
  func finish() -> [LeafChange] {
    for leaf in changes.returned() { session.setLeaf(leaf.scalar, at: leaf.path, revision: leaf.origin, in: namespace) }
    return changes.finished()
  }

  private func checkSize(_ added: Int) throws(CommitError) {
    guard changes.count + added <= limits.leavesMax * 2 else { throw .tooLarge }
    try checkBytes()
  }

  /// What a commit replaces or removes is in its record, too; but it was stored before, so it may be more.
  private func checkBytes() throws(CommitError) {
    guard changes.bytes <= limits.bytesMax, changes.bytesBefore / 8 <= limits.bytesMax else { throw .tooLarge }
  }

  /// Checked once more when all changes are known.
  func checkSize(of changes: [LeafChange]) throws(CommitError) {
    guard changes.count <= limits.leavesMax else { throw .tooLarge }
    try checkBytes()
  }
}

extension CommitError {
  /// The hosted service's own words (Firebase REST reference, `writeSizeLimit`).
  static let tooLarge = CommitError(
    .tooLarge, "Data to write exceeds the maximum size that can be modified with a single request.")
}

extension TreeNode {
  /// How many levels lie below the node.
  var height: Int {
    guard case .map(let map) = content else { return 0 }
    return 1 + (map.map(\.node.height).max() ?? 0)
  }
}

/// Turns a fault of the store into a refusal of the request that met it.
func refusing<Result>(_ body: () throws(StorageError) -> Result) throws(CommitError) -> Result {
  do throws(StorageError) {
    return try body()
  } catch {
    throw CommitError(error)
  }
}

/// The changes of one request: of several changes of one leaf the first `before` and the last `after` count.
struct ChangeList {
  private var changes: [LeafChange] = []
  /// Where each path stands; nil as long as changes came in path order, as those of a single write do.
  private var positions: [PathBytes: Int]?
  /// Of which commit what was there first was; nil where nothing did.
  private var origins: [Revision?] = []
  private(set) var bytes = 0
  /// Bytes of what is replaced or removed: a commit's record holds that, too.
  private(set) var bytesBefore = 0

  var count: Int { changes.count }

  /// - `origin`: the commit of what was there.
  mutating func append(_ change: LeafChange, origin: Revision?) {
    bytes += change.path.bytes.count + (change.after?.stringValue?.utf8.count ?? 8)
    bytesBefore += change.before?.stringValue?.utf8.count ?? 8
    if positions == nil {
      guard let last = changes.last, !(last.path < change.path) else {
        changes.append(change)
        origins.append(origin)
        return
      }
      positions = Dictionary(uniqueKeysWithValues: changes.enumerated().map { ($1.path, $0) })
    }
    if let position = positions?[change.path] {
      changes[position] = LeafChange(path: change.path, before: changes[position].before, after: change.after)
    } else {
      positions?[change.path] = changes.count
      changes.append(change)
      origins.append(origin)
    }
  }

  /// What came back to where it was, and of which commit that is.
  func returned() -> [(path: PathBytes, scalar: Scalar, origin: Revision)] {
    guard positions != nil else { return [] }
    return zip(changes, origins).compactMap { change, origin in
      guard change.before == change.after, let scalar = change.before, let origin else { return nil }
      return (change.path, scalar, origin)
    }
  }

  /// The changes in path order, without those that came back to where they were.
  func finished() -> [LeafChange] {
    guard positions != nil else { return changes }
    return changes.filter { $0.before != $0.after }.sorted { $0.path < $1.path }
  }
}
