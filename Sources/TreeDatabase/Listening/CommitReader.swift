import StorageCore
import Synchronization
import TreeModel

/// The tree as it was after one commit, for looking up what the commit itself does not say.
struct CommitReader {
  let snapshot: any Snapshot
  let namespace: NamespaceID
  let revision: Revision
  let leavesMax: Int
  let search: WindowSearch

  /// The node at a place.
  func node(at path: PathBytes) throws(ListenError) -> TreeNode {
    let leaves = try leaves(under: path, limit: leavesMax + 1)
    guard leaves.count <= leavesMax else { throw .tooLarge }
    return try Self.node(leaves, at: path)
  }

  /// The node, or at least its first children in a query's direction.
  ///
  /// As of the last revision an index finds them; as of an earlier one all children are read.
  func children(of path: PathBytes, first count: Int, in query: Query) throws(ListenError) -> TreeNode {
    guard let reader = search.reader, let parent = path.path, try isLatest else { return try node(at: path) }
    var wanted = query
    switch query.limit {
    case nil: break
    case .first: wanted.limit = .first(count)
    case .last: wanted.limit = .last(count)
    }
    var bounds = ReadBounds.standard
    bounds.leavesMax = leavesMax
    do throws(TreeReadError) {
      return try reader.result(of: wanted, at: parent, in: namespace, of: snapshot, within: bounds).node
    } catch {
      switch error {
      case .storage(let error): throw ListenError(error)
      case .tooLarge, .stopped: throw .tooLarge
      }
    }
  }

  private var isLatest: Bool {
    get throws(ListenError) {
      do throws(StorageError) {
        return try snapshot.head(of: namespace).revision == revision
      } catch {
        throw ListenError(error)
      }
    }
  }

  /// What a priority's place holds, as a leaf.
  func priority(at path: PathBytes) throws(ListenError) -> TreeNode {
    try leaves(under: path.priority, limit: 1).first.map { .leaf($0.leaf.scalar) } ?? .absent
  }

  /// Enough of the node to know whether it is absent, a leaf, or a map.
  func outline(at path: PathBytes) throws(ListenError) -> TreeNode {
    // Before the first leaf come the priorities of the maps around it, at most one on each level.
    let leaves = try leaves(under: path, limit: Path.depthMax + 1)
    return try Self.node(leaves, at: path)
  }

  /// Whether all values at a place and below it were added by these changes.
  func holds(under path: PathBytes, nothingBut changes: ArraySlice<LeafChange>) throws(ListenError) -> Bool {
    let added = Set(changes.lazy.filter(\.isAddition).map(\.path))
    // Before an old value come the priorities around it, at most one on each level.
    let leaves = try leaves(under: path, limit: changes.count + Path.depthMax + 1)
    return leaves.allSatisfy { $0.leaf.path.isPriority || added.contains($0.leaf.path) }
  }

  private func leaves(under path: PathBytes, limit: Int) throws(ListenError) -> [StoredLeaf] {
    do throws(StorageError) {
      return try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: limit)
    } catch {
      throw ListenError(error)
    }
  }

  static func node(_ leaves: [StoredLeaf], at path: PathBytes) throws(ListenError) -> TreeNode {
    guard let node = TreeNode(leaves: leaves.lazy.map(\.leaf), at: path) else {
      throw ListenError(end: .failed("A stored path cannot be read; verify the data, or restore a backup."))
    }
    return node
  }
}

/// By what windows are searched: by the indexes, once the hub was told of them.
final class WindowSearch: Sendable {
  private let stored = Mutex<TreeReader?>(nil)

  var reader: TreeReader? {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}
