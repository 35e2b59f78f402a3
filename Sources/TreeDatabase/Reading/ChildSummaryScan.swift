package import StorageCore
package import TreeModel

/// Walks over the children of one node without reading what lies below them: of a large child the beginning, the rest is
/// stepped over. Now, or as of a revision, forward and backward.
///
/// However the tree looks, a child costs a bounded number of rows, and all that one scan reads is bounded together: then it
/// ends early and says where.
package struct ChildSummaryScan {
  /// Bytes that are read by one scan, more or less.
  private static let bytesMax = 32 << 20
  /// Bytes of one stretch.
  private static let stretchBytes = 64 << 10
  /// Leaves of one stretch, at first and at most.
  private static let stretchLeaves = (first: 256, max: 4096)
  /// Stretches of the past that are read, and those for counting children, at most. One that has as many rows as it may counts
  /// as several of those that are a whole child.
  private static let looksMax = (stretches: 1200, counts: 300)
  private static let fullStretch = 12

  package let parent: PathBytes
  private let snapshot: any Snapshot
  private let namespace: NamespaceID
  /// Nil for the tree as it is.
  private let revision: Revision?
  private var bytes = 0
  private var looks = 0
  private var counts = 0

  /// - `revision`: as of which; nil for the tree as it is in the snapshot.
  package init(of path: Path, in namespace: NamespaceID, asOf revision: Revision?, snapshot: any Snapshot) {
    parent = PathBytes(path)
    self.snapshot = snapshot
    self.namespace = namespace
    self.revision = revision
  }

  /// Where the children begin.
  package var start: PathBytes { parent.firstChild }
  /// Behind the last child.
  package var end: PathBytes { parent.subtreeEnd ?? .afterAll }

  /// The value of the node itself, if it is a leaf, and its priority.
  package mutating func own() throws(TreeReadError) -> (scalar: Scalar?, priority: Scalar?) {
    let leaves = try stretch(from: parent, to: parent.firstChild, limit: 2).leaves.map(\.leaf)
    return (leaves.first { $0.path == parent }?.scalar, leaves.first { $0.path == parent.priority }?.scalar)
  }

  /// Whether there is a child in a range.
  package mutating func hasChild(from lower: PathBytes, to upper: PathBytes) throws(TreeReadError) -> Bool {
    var isFound = false
    let ending = try ascending(from: lower, to: upper) { _ in
      isFound = true
      return false
    }
    // What was not looked through may hold one.
    if case .spent = ending { return true }
    return isFound
  }

  /// Whether there is a child before a place; looks back from there.
  package mutating func hasChild(before upper: PathBytes) throws(TreeReadError) -> Bool {
    var isFound = false
    let ending = try descending(from: upper) { _ in
      isFound = true
      return false
    }
    if case .spent = ending { return true }
    return isFound
  }

  /// Shows the children of a range, first to last, until `body` returns false.
  package mutating func ascending(
    from start: PathBytes, to end: PathBytes, body: (ChildSummary) throws(TreeReadError) -> Bool
  ) throws(TreeReadError) -> ChildScanEnd {
    var (lower, upper) = (start, end)
    var limit = Self.stretchLeaves.first
    var draft: ChildDraft?
    var last: PathBytes?
    var ending = ChildScanEnd.whole
    while lower < upper {
      let stretch = try stretch(from: lower, to: upper, limit: limit)
      limit = stretch.leaves.isEmpty ? min(limit * 4, Self.stretchLeaves.max) : Self.stretchLeaves.first
      for stored in stretch.leaves {
        if let whole = draft, !whole.path.contains(stored.leaf.path) {
          guard try body(whole.summary(childCount: whole.childCount)) else { return .enough }
          draft = nil
        }
        if draft == nil { draft = ChildDraft(of: parent, at: stored.leaf.path) }
        guard draft?.add(stored, last: last) == true else { throw .storage(.unreadablePath) }
        last = stored.leaf.path
      }
      lower = stretch.end
      if let large = draft, lower < large.end, large.isLarge {
        guard try body(large.summary(childCount: try count(large))) else { return .enough }
        (lower, draft) = (large.end, nil)
        if isSpent, lower < upper { return .spent(large.key) }
      } else if isSpent, ending == .whole, lower < upper {
        // The child that it is in is read to its end, so that the next scan begins behind it.
        guard let child = draft ?? ChildDraft(of: parent, at: lower) else { throw .storage(.unreadablePath) }
        upper = min(upper, child.end)
        ending = .spent(child.key)
      }
      guard looks < Self.looksMax.stretches * 2 else { throw .tooLarge }
    }
    if let draft, try !body(draft.summary(childCount: draft.childCount)) { return .enough }
    return ending
  }

  /// Shows the children before a place, last to first, until `body` returns false.
  package mutating func descending(
    from end: PathBytes, body: (ChildSummary) throws(TreeReadError) -> Bool
  ) throws(TreeReadError) -> ChildScanEnd {
    var upper = end
    while start < upper {
      let found = try reading { () throws(StorageError) in
        try snapshot.lastPath(in: namespace, before: upper, since: revision ?? Revision(.max))
      }
      guard let found, !(found < start) else { return .whole }
      guard let place = ChildDraft(of: parent, at: found) else { throw .storage(.unreadablePath) }
      var child: ChildSummary?
      _ = try ascending(from: place.path, to: place.end) { summary in
        child = summary
        return true
      }
      if let child, try !body(child) { return .enough }
      upper = place.path
      if isSpent { return start < upper ? .spent(place.key) : .whole }
    }
    return .whole
  }

  /// All leaves of the node as it was, at most so many; nil if there are more.
  package mutating func leaves(max: Int) throws(TreeReadError) -> [Leaf]? {
    var leaves: [Leaf] = []
    var lower = parent
    while lower < end {
      let stretch = try stretch(from: lower, to: end, limit: Self.stretchLeaves.max)
      leaves += stretch.leaves.lazy.map(\.leaf)
      lower = stretch.end
      guard leaves.count <= max, !isSpent else { return nil }
    }
    return leaves
  }

  private var isSpent: Bool { bytes > Self.bytesMax || looks >= Self.looksMax.stretches }

  /// The leaves of a piece of a range.
  private mutating func stretch(from lower: PathBytes, to upper: PathBytes, limit: Int) throws(TreeReadError) -> LeafStretch {
    let (snapshot, namespace) = (snapshot, namespace)
    if let revision {
      let stretch = try reading { () throws(StorageError) in
        try snapshot.leaves(
          in: namespace, from: lower, to: upper, asOf: revision, limit: limit, bytesMax: Self.stretchBytes)
      }
      looks += stretch.end < upper ? Self.fullStretch : 1
      bytes += ChildScan.bytes(of: stretch.leaves)
      return stretch
    }
    let leaves = try reading { () throws(StorageError) in
      try snapshot.leaves(in: namespace, from: lower, to: upper, limit: limit, bytesMax: Self.stretchBytes)
    }
    let read = ChildScan.bytes(of: leaves)
    bytes += read
    guard let last = leaves.last, leaves.count == limit || read > Self.stretchBytes else {
      return LeafStretch(leaves: leaves, end: upper)
    }
    // A path with a zero byte added is the next one that there could be.
    return LeafStretch(leaves: leaves, end: PathBytes(bytes: last.leaf.path.bytes + [0]))
  }

  /// How many children a child has of which only a part was read; nil if that takes too long.
  private mutating func count(_ child: ChildDraft) throws(TreeReadError) -> Int? {
    let missing = ChildSummary.countMax - child.childCount
    guard missing > 0 else { return ChildSummary.countMax }
    guard let revision else {
      return child.childCount
        + (try reading { () throws(StorageError) in
          try snapshot.children(in: namespace, of: child.path, after: child.lastChild, limit: missing)
        }.count)
    }
    var (lower, found) = (child.nextChild, child.childCount)
    while lower < child.end, found < ChildSummary.countMax {
      guard counts < Self.looksMax.counts else { return nil }
      counts += 1
      let stretch = try reading { () throws(StorageError) in
        try snapshot.leaves(
          in: namespace, from: lower, to: child.end, asOf: revision, limit: 1, bytesMax: Self.stretchBytes)
      }
      lower = stretch.end
      if let leaf = stretch.leaves.first?.leaf {
        guard let (_, next) = leaf.path.key(at: child.path.bytes.count) else { throw .storage(.unreadablePath) }
        found += 1
        lower = leaf.path.prefix(next).subtreeEnd ?? child.end
      }
    }
    return found
  }
}
