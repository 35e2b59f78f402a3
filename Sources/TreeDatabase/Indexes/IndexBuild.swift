import StorageCore
import TreeModel

/// Builds one index for what is in the tree already, a bounded step at a time, on the writer.
///
/// The walk goes through the tree in path order and jumps over what the pattern does not match. It is safe to be repeated
/// and to meet children that commits have placed since: a place is always that of the child as the batch has it.
struct IndexBuild {
  let index: TreeIndex
  let namespace: NamespaceID
  let session: any WriteSession

  /// Children that one step places, and seeks that it may need to find them.
  static let childrenMax = 256
  static let seeksMax = 1024

  /// Goes on where the record stands.
  ///
  /// - Returns: the record after the step.
  func step(_ record: IndexRecord) throws(StorageError) -> IndexRecord {
    var record = record
    var at = record.cursor ?? index.trunk
    let end = index.trunk.subtreeEnd ?? .afterAll
    var placed = 0
    var seeks = 0
    while placed < Self.childrenMax, seeks < Self.seeksMax {
      seeks += 1
      guard let found = try session.leaves(in: namespace, from: at, to: end, limit: 1).first else {
        record.state = .ready
        break
      }
      let path = found.leaf.path
      let ends = path.keyEnds
      if let level = index.firstMismatch(path, ends: ends) {
        at = jump(from: path, ends: ends, level: level)
      } else if ends.count <= index.depth {
        // A leaf or priority at or above a parent: its children, if it has any, come behind it.
        at = PathBytes(bytes: path.bytes + [0])
      } else {
        let child = PathBytes(bytes: Array(path.bytes[..<ends[index.depth]]))
        try place(child, parentBytes: index.depth == 0 ? 0 : ends[index.depth - 1])
        placed += 1
        guard let next = child.subtreeEnd else { break }
        at = next
      }
    }
    record.cursor = at
    record.childCount += Int64(placed)
    return record
  }

  /// Where the pattern can match again after a path that fails it at a level with a key of its own.
  private func jump(from path: PathBytes, ends: [Int], level: Int) -> PathBytes {
    let parent = PathBytes(bytes: Array(path.bytes[..<(level == 0 ? 0 : ends[level - 1])]))
    let wanted = PathBytes(bytes: parent.bytes + (index.literal(level) ?? []))
    return path < wanted ? wanted : parent.subtreeEnd ?? .afterAll
  }

  private func place(_ child: PathBytes, parentBytes: Int) throws(StorageError) {
    guard let key = child.key(at: parentBytes)?.key else { throw .unreadablePath }
    guard let rank = try index.rank(of: child, in: namespace, session) else { return }
    let parent = PathBytes(bytes: Array(child.bytes[..<parentBytes]))
    session.setPlace(IndexPlace(rank, key), isTaken: true, below: parent, of: index.id, in: namespace)
  }
}
