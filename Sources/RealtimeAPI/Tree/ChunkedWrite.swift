import StorageCore
import TreeDatabase
import TreeModel

/// A PUT that is too large for one commit, written in several: an administrator's `writeSizeLimit=unlimited`, as the
/// emulator's import sends it (firebase-tools, `src/database`).
///
/// The present value is removed first. Other writers and readers come in between and see a part; after a failure a part is
/// there, and the same request may simply be sent again.
struct ChunkedWrite: Sendable {
  /// How much one commit takes of it: other writes wait for a commit, and so it is well below what one may have.
  private struct Portion {
    var leavesMax: Int
    var bytesMax: Int

    /// A commit makes 1,000 events at most, and a leaf may make several.
    static func of(_ request: CommitRequest, limits: WriteLimits) -> Portion {
      let leaves = request.triggers.areSuppressed ? 10_000 : 200
      return Portion(leavesMax: min(leaves, limits.leavesMax), bytesMax: min(4 << 20, limits.bytesMax / 2))
    }
  }

  let database: Database
  /// What all commits have in common; without operations.
  let request: CommitRequest

  /// Whether a node is more than one commit takes, whatever the present value.
  static func isNeeded(for node: TreeNode, at path: Path, limits: WriteLimits) -> Bool {
    let weight = Weight(node, at: path)
    return weight.leaves > limits.leavesMax || weight.bytes > limits.bytesMax
  }

  /// Replaces the node at a path.
  ///
  /// - Returns: the last commit's receipt.
  func replace(_ path: Path, by node: TreeNode) async throws(CommitError) -> CommitReceipt {
    // Everything that can be wrong with the data is found before something is removed.
    guard path.depth + Weight(node, at: path).height <= Path.depthMax else {
      throw CommitError(.invalid, PathError(.tooDeep, key: "").description)
    }
    try await remove(path)
    let portion = Portion.of(request, limits: database.limits)
    var operations: [WriteOperation] = []
    var weight = Weight()
    var parts = Parts(path, node, portion.leavesMax, portion.bytesMax)
    var receipt: CommitReceipt?
    while let (part, added) = parts.next() {
      if weight.leaves + added.leaves > portion.leavesMax || weight.bytes + added.bytes > portion.bytesMax, !operations.isEmpty
      {
        receipt = try await commit(operations)
        operations = []
        weight = Weight()
      }
      operations.append(part)
      weight.leaves += added.leaves
      weight.bytes += added.bytes
    }
    if !operations.isEmpty { receipt = try await commit(operations) }
    if let receipt { return receipt }
    return try await commit([.remove(path)])
  }

  /// Removes the value at a path, its last leaves first: as long as the first is there, it is seen at once that the parents are
  /// not empty.
  private func remove(_ path: Path) async throws(CommitError) {
    let top = PathBytes(path)
    var portion = min(Portion.of(request, limits: database.limits).leavesMax, 2000)
    while true {
      let paths = try lastLeaves(under: top, limit: portion)
      if paths.isEmpty { return }
      do throws(CommitError) {
        _ = try await commit(paths.map { .remove($0) })
      } catch {
        // The priorities that go with the leaves count too.
        guard case .tooLarge = error.code, portion > 1 else { throw error }
        portion /= 2
      }
    }
  }

  /// The paths of the last leaves of a subtree, the last one first.
  private func lastLeaves(under path: PathBytes, limit: Int) throws(CommitError) -> [Path] {
    do throws(StorageError) {
      return try database.engine.read { (snapshot) throws(StorageError) in
        var paths: [Path] = []
        var upper = path.subtreeEnd ?? .afterAll
        while paths.count < limit, let found = try snapshot.lastPath(in: request.namespace, before: upper),
          path.contains(found)
        {
          upper = found
          // A priority goes with its node.
          if !upper.isPriority, let path = upper.path { paths.append(path) }
        }
        return paths
      }
    } catch {
      throw CommitError(error)
    }
  }

  private func commit(_ operations: [WriteOperation]) async throws(CommitError) -> CommitReceipt {
    var request = request
    request.operations = operations
    return try await database.commit(request)
  }
}

/// How much of a commit something takes.
private struct Weight {
  var leaves = 0
  var bytes = 0

  /// How many levels lie below the node.
  var height = 0

  init() {}

  init(_ node: TreeNode, at path: Path) {
    add(node, pathBytes: path.keys.reduce(0) { $0 + $1.text.utf8.count + 8 }, level: 0)
  }

  private mutating func add(_ node: TreeNode, pathBytes: Int, level: Int) {
    height = max(height, level)
    if let priority = node.priority { add(priority, pathBytes + 1) }
    switch node.content {
    case .absent: return
    case .leaf(let scalar): add(scalar, pathBytes)
    case .map(let map):
      for entry in map { add(entry.node, pathBytes: pathBytes + entry.key.text.utf8.count + 8, level: level + 1) }
    }
  }

  private mutating func add(_ scalar: Scalar, _ pathBytes: Int) {
    leaves += 1
    bytes += pathBytes + (scalar.stringValue?.utf8.count ?? 8)
  }
}

/// Cuts a node into subtrees that fit into a commit; the priority of a node that is cut comes behind its children.
private struct Parts {
  private enum Step {
    case node(Path, TreeNode)
    case priority(Path, Scalar)
  }

  private var steps: [Step]
  private let leavesMax: Int
  private let bytesMax: Int

  init(_ path: Path, _ node: TreeNode, _ leavesMax: Int, _ bytesMax: Int) {
    steps = [.node(path, node)]
    self.leavesMax = leavesMax
    self.bytesMax = bytesMax
  }

  mutating func next() -> (WriteOperation, Weight)? {
    while let step = steps.popLast() {
      switch step {
      case .priority(let path, let priority):
        return (.setPriority(path, priority: .scalar(priority)), Weight(.leaf(priority), at: path))
      case .node(let path, let node):
        let weight = Weight(node, at: path)
        if node.children.isEmpty || (weight.leaves <= leavesMax && weight.bytes <= bytesMax) {
          if node.exists { return (.set(path, node), weight) }
          continue
        }
        if let priority = node.priority { steps.append(.priority(path, priority)) }
        for entry in node.children.reversed() { steps.append(.node(path.child(entry.key), entry.node)) }
      }
    }
    return nil
  }
}
