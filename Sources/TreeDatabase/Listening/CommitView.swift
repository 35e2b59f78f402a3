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
  private lazy var paths = CommitPaths(of: commit, reader: reader)
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
