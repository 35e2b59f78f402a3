/// Many ``PathPattern``s, arranged so that those which match a path or a prefix of it are found in one walk.
///
/// A walk follows the path's keys and costs in proportion to the patterns that still fit, not to those stored; it
/// allocates nothing.
public struct PathTrie<Value: Sendable>: Sendable {
  private struct Node: Sendable {
    var literals: [Key: Int] = [:]
    /// The node behind a segment that takes any one key.
    var single: Int?
    /// The node behind a segment that takes one or more keys.
    var multi: Int?
    /// The values of the patterns that end here.
    var values: [Value] = []
  }

  /// All nodes, the root first; they refer to each other by position.
  private var nodes = [Node()]

  /// A trie without patterns.
  public init() {}

  /// Whether no pattern is stored.
  public var isEmpty: Bool { nodes.count == 1 && nodes[0].values.isEmpty }

  /// Stores a value under a pattern. Values of equal patterns stand side by side.
  public mutating func insert(_ pattern: PathPattern, _ value: Value) {
    var at = 0
    for segment in pattern.segments { at = step(from: at, over: segment) }
    nodes[at].values.append(value)
  }

  /// The node behind a segment, made if there is none.
  private mutating func step(from at: Int, over segment: PathPattern.Segment) -> Int {
    let next = nodes.count
    switch segment {
    case .literal(let key):
      if let found = nodes[at].literals[key] { return found }
      nodes[at].literals[key] = next
    case .single:
      if let found = nodes[at].single { return found }
      nodes[at].single = next
    case .multi:
      if let found = nodes[at].multi { return found }
      nodes[at].multi = next
    }
    nodes.append(Node())
    return next
  }

  /// Finds the patterns that match the path or a location above it.
  ///
  /// A pattern that ends in a multi-segment is reported for the path itself only; one with a multi-segment further up for
  /// every prefix that fits.
  ///
  /// - Parameter body: called for each pattern and each prefix that it matches, with the prefix's length and the
  ///   pattern's value; in no particular order.
  public func forEachPrefixMatch(of path: Path, _ body: (_ depth: Int, _ value: Value) -> Void) {
    // Accounts are no part of the tree: only a pattern that names their place is meant.
    guard let first = path.keys.first, first == .accounts else { return visit(0, path.keys, depth: 0, body) }
    if let next = nodes[0].literals[first] { visit(next, path.keys, depth: 1, body) }
  }

  private func visit(_ at: Int, _ keys: [Key], depth: Int, _ body: (Int, Value) -> Void) {
    for value in nodes[at].values { body(depth, value) }
    descend(from: at, keys, depth: depth, body)
  }

  private func descend(from at: Int, _ keys: [Key], depth: Int, _ body: (Int, Value) -> Void) {
    guard depth < keys.count else { return }
    if !nodes[at].literals.isEmpty, let next = nodes[at].literals[keys[depth]] {
      visit(next, keys, depth: depth + 1, body)
    }
    if let next = nodes[at].single { visit(next, keys, depth: depth + 1, body) }
    guard let next = nodes[at].multi else { return }
    for value in nodes[next].values { body(keys.count, value) }
    // The multi-segment may end at any of the keys that follow.
    for end in depth + 1..<max(keys.count, depth + 1) { descend(from: next, keys, depth: end, body) }
  }
}
