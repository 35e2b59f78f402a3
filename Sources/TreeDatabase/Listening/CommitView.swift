import StorageCore
import TreeModel

/// One commit as listeners see it: where it wrote, and what is there now. Used on the hub's thread.
final class CommitView {
  /// A place relative to a listen, and what is there now.
  struct Part {
    let path: String
    let node: TreeNode
  }

  let commit: CommittedRequest
  let reader: CommitReader
  private lazy var paths = CommitPaths(of: commit)
  private lazy var updatePath: PathBytes? = {
    let operations = commit.request.operations
    guard operations.count == 1, operations[0].kind == .update else { return nil }
    return PathBytes(operations[0].path)
  }()

  var revision: Revision { reader.revision }
  var changes: [LeafChange] { commit.changes }

  init(_ commit: CommittedRequest, reader: CommitReader) {
    self.commit = commit
    self.reader = reader
  }

  /// What the commit means to those who listen to a whole node; nil if they cannot see it.
  func message(at point: PathBytes, changes range: Range<Int>, format: TreeFormat) throws(ListenError) -> ListenMessage? {
    if format == .plain, onlyPriorities(range) { return nil }
    if let covered = try coveredNode(at: point) { return overwrite("", node: covered, format: format) }
    let isUpdate = updatePath != nil
    var base = point
    if let updatePath, point.contains(updatePath), updatePath != point,
      paths.range(under: point) == paths.range(under: updatePath),
      paths.range(under: updatePath).allSatisfy({ paths.entries[$0].bytes != updatePath })
    {
      base = updatePath
    }
    let parts = try parts(under: base, after: base.bytes.count, format: format)
    guard let first = parts.first else { return nil }
    if !isUpdate, parts.count == 1 { return overwrite(first.path, node: first.node, format: format) }
    return merge(base.relativeText(after: point.bytes.count) ?? "", parts, format)
  }

  /// The node at a place, if the commit wrote it whole.
  func coveredNode(at path: PathBytes) throws(ListenError) -> TreeNode? {
    guard let index = paths.covering(path) else { return nil }
    let node = try node(of: index)
    let written = paths.entries[index].path.bytes.count
    if written == path.bytes.count { return node }
    guard let keys = path.keys(after: written) else { return nil }
    return node[Path(keys: keys)]
  }

  /// The node at a place, written or not.
  func node(at path: PathBytes) throws(ListenError) -> TreeNode {
    if let covered = try coveredNode(at: path) { return covered }
    return try reader.node(at: path)
  }

  /// What was written below a place; the paths leave out the first `skipped` bytes.
  func parts(under path: PathBytes, after skipped: Int, format: TreeFormat) throws(ListenError) -> [Part] {
    var parts: [Part] = []
    for index in paths.range(under: path) {
      let written = paths.entries[index]
      if format == .plain, written.isPriority { continue }
      guard let text = written.bytes.relativeText(after: skipped) else { continue }
      parts.append(Part(path: text, node: try node(of: index)))
    }
    return parts
  }

  /// Whether clients that see no priorities see nothing of these changes.
  func onlyPriorities(_ range: Range<Int>) -> Bool {
    changes[range].allSatisfy(\.path.isPriority)
  }

  /// One message from several parts: an overwrite if there is one, else a merge.
  func message(_ parts: [Part], format: TreeFormat) -> ListenMessage? {
    guard let first = parts.first else { return nil }
    return parts.count == 1 ? overwrite(first.path, node: first.node, format: format) : merge("", parts, format)
  }

  private func node(of index: Int) throws(ListenError) -> TreeNode {
    let entry = paths.entries[index]
    if let node = entry.node { return node }
    let node = entry.isPriority ? try reader.priority(at: entry.path) : try reader.node(at: entry.path)
    paths.setNode(node, at: index)
    return node
  }

  private func overwrite(_ path: String, node: TreeNode, format: TreeFormat) -> ListenMessage {
    ListenMessage(revision: revision, kind: .overwrite, path: path, body: node.json(format))
  }

  private func merge(_ path: String, _ parts: [Part], _ format: TreeFormat) -> ListenMessage {
    var writer = JSONWriter()
    writer.beginObject()
    for part in parts {
      writer.key(part.path)
      part.node.write(to: &writer, format: format)
    }
    writer.endObject()
    return ListenMessage(revision: revision, kind: .merge, path: path, body: writer.bytes)
  }
}

/// Where a commit wrote, as its author said it: few places, none inside another, in path order.
///
/// The request says more than the list of changed leaves: a set of one place is to arrive as one set, with the whole value.
/// What the request does not say (a balance that a transfer moved) is taken from the changes.
struct CommitPaths {
  struct Entry {
    /// The node; of a priority, the node that has it.
    let path: PathBytes
    let isPriority: Bool
    /// The value there now; nil if it has to be read.
    var node: TreeNode?

    /// The place itself.
    var bytes: PathBytes { isPriority ? path.priority : path }
  }

  private(set) var entries: [Entry] = []

  init(of commit: CommittedRequest) {
    let request = commit.request
    // With several operations, or with transfers, what an operation wrote may have been overwritten since.
    let isFinal = request.operations.count == 1 && request.ledger.transfers.isEmpty
    var index = 0
    for operation in request.operations {
      for assignment in operation.assignments {
        let isPriority = if case .priority = assignment.value { true } else { false }
        let node = isFinal && index < commit.receipt.resolved.count ? commit.receipt.resolved[index] : nil
        entries.append(Entry(path: PathBytes(assignment.path), isPriority: isPriority, node: node))
        index += 1
      }
    }
    if entries.count > 1 { makeDisjoint() }
    let changes = commit.changes
    entries.removeAll { changes.range(under: $0.bytes, in: changes.indices).isEmpty }
    addOthers(changes)
  }

  /// The place at `path` or above it, if its whole node was written.
  func covering(_ path: PathBytes) -> Int? {
    // Everything between an ancestor and the path in path order lies below the ancestor, and no place lies in another.
    let index = lowerBound(path, isAfter: true) - 1
    guard index >= 0, !entries[index].isPriority, entries[index].path.contains(path) else { return nil }
    return index
  }

  /// The places at `path` and below it.
  func range(under path: PathBytes) -> Range<Int> {
    let lower = lowerBound(path)
    guard let end = path.subtreeEnd else { return lower..<entries.count }
    return lower..<max(lower, lowerBound(end))
  }

  mutating func setNode(_ node: TreeNode, at index: Int) { entries[index].node = node }

  private func lowerBound(_ path: PathBytes, isAfter: Bool = false) -> Int {
    entries.lowerBound { isAfter ? !(path < $0.bytes) : $0.bytes < path }
  }

  private mutating func makeDisjoint() {
    entries.sort { $0.bytes < $1.bytes }
    var kept: [Entry] = []
    for entry in entries {
      if let last = kept.last, last.bytes.contains(entry.bytes) { continue }
      kept.append(entry)
    }
    entries = kept
  }

  /// Adds the changed leaves that no operation named.
  private mutating func addOthers(_ changes: [LeafChange]) {
    var others: [Entry] = []
    var next = 0
    for (index, change) in changes.enumerated() {
      while next < entries.count, entries[next].bytes < change.path, !entries[next].bytes.contains(change.path) { next += 1 }
      if next < entries.count, entries[next].bytes.contains(change.path) { continue }
      let node = change.path.node
      // What vanished because of a write below it (a leaf that became a map, the priority of a map that became empty)
      // vanishes at the client by itself.
      if change.after == nil, isAbove(node, change: index, in: changes) { continue }
      others.append(
        Entry(path: node, isPriority: change.path.isPriority, node: change.after.map { .leaf($0) } ?? .absent))
    }
    guard !others.isEmpty else { return }
    entries += others
    makeDisjoint()
  }

  /// Whether something below the node was written.
  private func isAbove(_ node: PathBytes, change: Int, in changes: [LeafChange]) -> Bool {
    if range(under: node).contains(where: { entries[$0].path != node }) { return true }
    return changes[(change + 1)...].prefix { node.contains($0.path) }.contains { $0.path.node != node }
  }
}

extension Array {
  /// The first index whose element does not satisfy the predicate, which holds for a prefix.
  fileprivate func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
