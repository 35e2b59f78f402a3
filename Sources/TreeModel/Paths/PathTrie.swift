/// Many ``PathPattern``s, arranged so that those which match a path or a prefix of it are found in one walk.
///
/// A walk follows the segments of a place's binary form and costs in proportion to the patterns that still fit, not to those
/// stored; it allocates nothing. A pattern stands for a position, a number that the caller gave it.
public struct PathTrie: Sendable {
  private struct Node: Sendable {
    /// The nodes behind segments that take one key, by the key's binary form; sorted.
    var literals: [(segment: [UInt8], next: Int)] = []
    /// The node behind a segment that takes any one key.
    var single: Int?
    /// The node behind a segment that takes one or more keys.
    var multi: Int?
    /// The positions of the patterns that end here.
    var positions: [Int] = []

    func literal(_ segment: UnsafeRawBufferPointer) -> Int? {
      let index = index(of: segment)
      guard index < literals.count, literals[index].segment.withUnsafeBytes({ $0.isSame(as: segment) }) else { return nil }
      return literals[index].next
    }

    mutating func addLiteral(_ segment: [UInt8], next: Int) {
      literals.insert((segment, next), at: segment.withUnsafeBytes(index(of:)))
    }

    /// Where a segment is, or would stand, among the literals.
    private func index(of segment: UnsafeRawBufferPointer) -> Int {
      var low = 0
      var high = literals.count
      while low < high {
        let middle = (low + high) / 2
        if literals[middle].segment.withUnsafeBytes({ $0.precedes(segment) }) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// All nodes, the root first; they refer to each other by position.
  private var nodes = [Node()]

  /// A trie without patterns.
  public init() {}

  /// Whether no pattern is stored.
  public var isEmpty: Bool { nodes.count == 1 && nodes[0].positions.isEmpty }

  /// Stores a position under a pattern. Positions of equal patterns stand side by side.
  public mutating func insert(_ pattern: PathPattern, _ position: Int) {
    var at = 0
    for segment in pattern.segments { at = step(from: at, over: segment) }
    nodes[at].positions.append(position)
  }

  /// The node behind a segment, made if there is none.
  private mutating func step(from at: Int, over segment: PathPattern.Segment) -> Int {
    let next = nodes.count
    switch segment {
    case .literal(let key):
      let bytes = PathBytes.root.child(key).bytes
      if let found = bytes.withUnsafeBytes({ nodes[at].literal($0) }) { return found }
      nodes[at].addLiteral(bytes, next: next)
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

  /// Finds the patterns that match the place or one above it.
  ///
  /// A pattern that ends in a multi-segment is reported for the place itself only; one with a multi-segment further up for
  /// every prefix that fits.
  ///
  /// - Parameters:
  ///   - path: where a value is; of a priority's place, the node's own is looked for.
  ///   - body: called for each pattern and each prefix that it matches, with the number of bytes of the prefix and the
  ///     pattern's position; in no particular order.
  public func forEachPrefixMatch(of path: PathBytes, body: (_ end: Int, _ position: Int) -> Void) {
    path.bytes.withUnsafeBytes { bytes in
      let node = path.isPriority ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes
      // Accounts are no part of the tree: only a pattern that names their place is meant.
      guard path.isAccounts else { return visit(0, bytes: node, from: 0, body: body) }
      guard let end = PathBytes.segmentEnd(in: node, at: 0), let next = nodes[0].literal(.init(rebasing: node[..<end])) else {
        return
      }
      visit(next, bytes: node, from: end, body: body)
    }
  }

  private func visit(_ at: Int, bytes: UnsafeRawBufferPointer, from start: Int, body: (Int, Int) -> Void) {
    for position in nodes[at].positions { body(start, position) }
    descend(from: at, bytes: bytes, start: start, body: body)
  }

  private func descend(from at: Int, bytes: UnsafeRawBufferPointer, start: Int, body: (Int, Int) -> Void) {
    guard let end = PathBytes.segmentEnd(in: bytes, at: start) else { return }
    if let next = nodes[at].literal(.init(rebasing: bytes[start..<end])) { visit(next, bytes: bytes, from: end, body: body) }
    if let next = nodes[at].single { visit(next, bytes: bytes, from: end, body: body) }
    guard let next = nodes[at].multi else { return }
    for position in nodes[next].positions { body(bytes.count, position) }
    // The multi-segment may end at any of the keys that follow.
    var later = end
    while let after = PathBytes.segmentEnd(in: bytes, at: later) {
      descend(from: next, bytes: bytes, start: later, body: body)
      later = after
    }
  }
}
