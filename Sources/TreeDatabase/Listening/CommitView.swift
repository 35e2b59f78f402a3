import StorageCore
import TreeModel

/// One commit as listeners see it: where it wrote, and what stands there now. Used on the hub's thread.
final class CommitView {
  /// A place relative to a listen, and what stands there now.
  struct Part {
    let path: String
    let node: TreeNode
  }

  let commit: CommittedRequest
  let reader: CommitReader
  private lazy var places = CommitPlaces(of: commit)
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
  func message(at point: PathBytes, changes range: Range<Int>, format: TreeFormat) throws(ListenFault) -> ListenMessage? {
    if format == .plain, onlyPriorities(range) { return nil }
    if let covered = try coveredNode(at: point) { return overwrite("", covered, format) }
    let isUpdate = updatePath != nil
    var base = point
    if let updatePath, point.contains(updatePath), updatePath != point,
      places.range(under: point) == places.range(under: updatePath),
      places.range(under: updatePath).allSatisfy({ places.places[$0].bytes != updatePath })
    {
      base = updatePath
    }
    let parts = try parts(under: base, after: base.bytes.count, format: format)
    guard let first = parts.first else { return nil }
    if !isUpdate, parts.count == 1 { return overwrite(first.path, first.node, format) }
    return merge(base.relativeText(after: point.bytes.count) ?? "", parts, format)
  }

  /// The node at a place, if the commit wrote it whole.
  func coveredNode(at place: PathBytes) throws(ListenFault) -> TreeNode? {
    guard let index = places.covering(place) else { return nil }
    let node = try node(of: index)
    let written = places.places[index].path.bytes.count
    if written == place.bytes.count { return node }
    guard let keys = place.keys(after: written) else { return nil }
    return node[Path(keys: keys)]
  }

  /// The node at a place, written or not.
  func node(at place: PathBytes) throws(ListenFault) -> TreeNode {
    if let covered = try coveredNode(at: place) { return covered }
    return try reader.node(at: place)
  }

  /// What was written below a place; the paths leave out the first `skipped` bytes.
  func parts(under place: PathBytes, after skipped: Int, format: TreeFormat) throws(ListenFault) -> [Part] {
    var parts: [Part] = []
    for index in places.range(under: place) {
      let written = places.places[index]
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
    return parts.count == 1 ? overwrite(first.path, first.node, format) : merge("", parts, format)
  }

  private func node(of index: Int) throws(ListenFault) -> TreeNode {
    let place = places.places[index]
    if let node = place.node { return node }
    let node = place.isPriority ? try reader.priority(at: place.path) : try reader.node(at: place.path)
    places.setNode(node, at: index)
    return node
  }

  private func overwrite(_ path: String, _ node: TreeNode, _ format: TreeFormat) -> ListenMessage {
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
