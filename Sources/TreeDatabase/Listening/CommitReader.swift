import StorageCore
import TreeModel

/// The tree as it was after one commit, for looking up what the commit itself does not say.
struct CommitReader {
  let snapshot: any Snapshot
  let namespace: NamespaceID
  let revision: Revision
  let leavesMax: Int

  /// The node at a place.
  func node(at place: PathBytes) throws(ListenFault) -> TreeNode {
    let leaves = try leaves(under: place, limit: leavesMax + 1)
    guard leaves.count <= leavesMax else { throw .tooLarge }
    return try Self.node(leaves, at: place)
  }

  /// What a priority's place holds, as a leaf.
  func priority(at place: PathBytes) throws(ListenFault) -> TreeNode {
    try leaves(under: place.priority, limit: 1).first.map { .leaf($0.leaf.scalar) } ?? .absent
  }

  /// Enough of the node to know whether it is absent, a leaf, or a map.
  func outline(at place: PathBytes) throws(ListenFault) -> TreeNode {
    // Before the first leaf come the priorities of the maps around it, at most one on each level.
    let leaves = try leaves(under: place, limit: Path.depthMax + 1)
    return try Self.node(leaves, at: place)
  }

  private func leaves(under place: PathBytes, limit: Int) throws(ListenFault) -> [StoredLeaf] {
    do throws(StorageError) {
      return try snapshot.leaves(in: namespace, under: place, asOf: revision, limit: limit)
    } catch {
      throw ListenFault(error)
    }
  }

  static func node(_ leaves: [StoredLeaf], at place: PathBytes) throws(ListenFault) -> TreeNode {
    guard let node = TreeNode(leaves: leaves.lazy.map(\.leaf), at: place) else {
      throw ListenFault(end: .failed("A stored path cannot be read; verify the data, or restore a backup."))
    }
    return node
  }
}
