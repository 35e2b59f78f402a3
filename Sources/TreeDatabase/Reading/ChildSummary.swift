package import StorageCore
package import TreeModel

/// A child as a listing shows it: what it is and how large, without what lies below.
package struct ChildSummary: Sendable {
  /// Its name.
  package let key: Key
  /// Its place.
  package let path: PathBytes
  /// A leaf's value; nil for a child with children.
  package let scalar: Scalar?
  package let priority: Scalar?
  /// How many children it has, counted up to ``countMax``; 0 for a leaf, nil where counting would have taken too long.
  package let childCount: Int?
  /// The newest revision of the leaves that were read.
  package let revision: Revision

  /// More children are not counted.
  package static let countMax = 100
}

extension ChildSummary {
  /// Of a child that is there as a whole.
  package init(_ entry: TreeMap.Entry, below parent: Path) {
    self.init(
      key: entry.key, path: PathBytes(parent.child(entry.key)), scalar: entry.node.scalar, priority: entry.node.priority,
      childCount: min(entry.node.children.count, Self.countMax), revision: .zero)
  }
}

/// Where a walk over children ended.
package enum ChildScanEnd: Sendable, Hashable {
  /// Behind the last child of the range, or before its first.
  case whole
  /// The reader wants no more children.
  case enough
  /// At this child, which was the last to be looked at: more would have cost too much at once.
  case spent(Key)
}

/// A child of which leaves are being read, in path order.
struct ChildDraft {
  /// What is read of one child before the rest of it is stepped over.
  private static let readMax = (leaves: 128, bytes: 64 << 10)

  let key: Key
  let path: PathBytes
  let end: PathBytes
  private(set) var leafCount = 0
  private(set) var scalar: Scalar?
  private(set) var priority: Scalar?
  private(set) var childCount = 0
  /// Behind the last of its children that was seen.
  private(set) var nextChild: PathBytes
  private(set) var lastChild: Key?
  private(set) var revision = Revision.zero
  private var bytes = 0
  private var lastEnd = 0

  /// The child of a parent in whose subtree a path lies; nil if that cannot be read.
  init?(of parent: PathBytes, at path: PathBytes) {
    guard let (key, next) = path.key(at: parent.bytes.count) else { return nil }
    self.key = key
    self.path = path.prefix(next)
    end = self.path.subtreeEnd ?? .afterAll
    nextChild = self.path.firstChild
  }

  /// Whether enough of it was read. Behind a value of its own there is at most its priority.
  var isLarge: Bool { scalar == nil && (leafCount >= Self.readMax.leaves || bytes >= Self.readMax.bytes) }

  /// Takes the next leaf; false if its path cannot be read.
  mutating func add(_ stored: StoredLeaf, last: PathBytes?) -> Bool {
    let leaf = stored.leaf
    leafCount += 1
    bytes += leaf.bytes
    revision = max(revision, stored.revision)
    if leaf.path.bytes.count == path.bytes.count {
      scalar = leaf.scalar
      return true
    }
    if leaf.path == path.priority {
      priority = leaf.scalar
      return true
    }
    if let last, lastEnd > 0, last.bytes.count >= lastEnd, leaf.path.bytes.count >= lastEnd,
      last.bytes[..<lastEnd] == leaf.path.bytes[..<lastEnd]
    {
      return true
    }
    guard let (key, next) = leaf.path.key(at: path.bytes.count) else { return false }
    (lastChild, lastEnd) = (key, next)
    nextChild = leaf.path.prefix(next).subtreeEnd ?? end
    childCount += 1
    return true
  }

  func summary(childCount: Int?) -> ChildSummary {
    ChildSummary(
      key: key, path: path, scalar: scalar, priority: priority,
      childCount: childCount.map { min($0, ChildSummary.countMax) }, revision: revision)
  }
}
