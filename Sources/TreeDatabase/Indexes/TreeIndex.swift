import AccessRules
import StorageCore
import TreeModel

/// An index that the rules of a namespace declare, prepared for comparing paths.
final class TreeIndex: Sendable {
  let id: IndexID
  let pattern: RulePattern
  let order: NodeOrder
  /// Each level of the pattern in binary form; nil takes any key.
  private let levels: [[UInt8]?]
  /// The keys before the first variable: every parent lies in this subtree.
  let trunk: PathBytes

  init(id: IndexID, pattern: RulePattern, order: NodeOrder) {
    self.id = id
    self.pattern = pattern
    self.order = order
    levels = pattern.segments.map { segment in
      if case .literal(let key) = segment { PathBytes.root.child(key).bytes } else { nil }
    }
    trunk = PathBytes(bytes: levels.prefix { $0 != nil }.reduce(into: []) { $0 += $1 ?? [] })
  }

  /// How many keys the path of a parent has.
  var depth: Int { levels.count }

  /// Whether a path lies below a node that the pattern matches.
  ///
  /// - Parameter ends: where each of the path's keys ends.
  func covers(_ path: PathBytes, ends: [Int]) -> Bool {
    guard ends.count > depth else { return false }
    return firstMismatch(path, ends: ends) == nil
  }

  /// The first level at which a path is not the pattern's; a path may be shorter than the pattern.
  func firstMismatch(_ path: PathBytes, ends: [Int]) -> Int? {
    var start = 0
    for level in 0..<min(depth, ends.count) {
      if let literal = levels[level], !path.bytes[start..<ends[level]].elementsEqual(literal) { return level }
      start = ends[level]
    }
    return nil
  }

  /// The key that a level must have, in binary form; nil for any.
  func literal(_ level: Int) -> [UInt8]? { levels[level] }

  /// Where the value is stored that a child is ordered by.
  func target(of child: PathBytes) -> PathBytes {
    switch order {
    case .key, .value: child
    case .priority: child.priority
    case .child(let path): path.keys.reduce(child) { $0.child($1) }
    }
  }

  /// What a child is ordered by, as the session has it; nil if there is no such child.
  func rank(of child: PathBytes, in namespace: NamespaceID, _ session: any WriteSession) throws(StorageError) -> IndexRank? {
    let target = target(of: child)
    // A leaf comes first, then the priority of the node, then what is below it.
    let rows = try session.leaves(in: namespace, under: target, limit: 2)
    if let first = rows.first, first.leaf.path == target { return IndexRank(first.leaf.scalar) }
    if rows.contains(where: { $0.leaf.path != target.priority }) { return .map }
    if !rows.isEmpty { return .null }
    let child = try session.leaves(in: namespace, under: child, limit: 1)
    return child.isEmpty ? nil : .null
  }
}
