import AccessRules
import StorageCore
import TreeModel

/// The tree before and after one operation, as its rules look at it on the writer.
///
/// The operation is in the batch already. Before it, the tree is what the batch shows with the operation's changes undone.
/// Where the operation itself writes, both trees are known from its data and its changes, and no row is looked up.
final class JudgedTree: RuleTree {
  /// A place that the operation replaced, and what stands there now.
  private struct Written {
    let place: PathBytes
    let node: TreeNode
  }

  private struct Question: Hashable {
    let place: PathBytes
    let side: RuleSide
  }

  private static let fewChanges = 8

  private let session: any WriteSession
  private let namespace: NamespaceID
  /// In path order.
  private let changes: [LeafChange]
  /// In path order; no place lies in another.
  private let written: [Written]
  /// What was found by searching rows or changes.
  private var known: [Question: RuleGlance] = [:]

  /// - Parameters:
  ///   - changes: what the operation changed, in path order.
  ///   - writes: the places of the operation, in path order, if nothing was written twice; else none.
  init(_ session: any WriteSession, _ namespace: NamespaceID, changes: [LeafChange], writes: [RuleWrite]) {
    self.session = session
    self.namespace = namespace
    self.changes = changes
    written = writes.compactMap { write in
      guard case .node(let node) = write.value else { return nil }
      return Written(place: write.place, node: node)
    }
  }

  func glance(at place: PathBytes, _ side: RuleSide) throws(RuleTreeFault) -> RuleGlance {
    let node = writtenNode(at: place)
    if side == .after, let node { return RuleGlance(node) }
    let range = changes.range(under: place, in: changes.indices)
    if side == .before, !range.isEmpty, changes[range.lowerBound].path == place, let before = changes[range.lowerBound].before {
      return .leaf(before)
    }
    // A leaf that was written and is not among the changes was there before.
    if side == .before, let scalar = node?.scalar, range.isEmpty || changes[range.lowerBound].path != place {
      return .leaf(scalar)
    }
    if side == .before {
      // Mostly there are few, and it is seen at once.
      if changes[range].prefix(Self.fewChanges).contains(where: { $0.isChild(of: place) }) { return .map }
      if let node, node.isLeafOrAbsent, range.count <= Self.fewChanges { return .absent }
    }
    let question = Question(place: place, side: side)
    if let answer = known[question] { return answer }
    let answer: RuleGlance
    if side == .before, let node {
      answer = changes[range].contains { $0.isChild(of: place) } || hasOthers(node, range) ? .map : .absent
    } else {
      answer = try storedGlance(at: place, side, range)
    }
    known[question] = answer
    return answer
  }

  func priority(at place: PathBytes, _ side: RuleSide) throws(RuleTreeFault) -> Scalar? {
    let priority = place.priority
    if let change = changes.change(at: priority) { return side == .before ? change.before : change.after }
    if let node = writtenNode(at: place) { return node.priority }
    return try looking { () throws(StorageError) in try session.leaf(in: namespace, at: priority)?.leaf.scalar }
  }

  /// What the operation put at a place that it replaced, or below one.
  private func writtenNode(at place: PathBytes) -> TreeNode? {
    var low = 0
    var high = written.count
    while low < high {
      let middle = (low + high) / 2
      if place < written[middle].place { high = middle } else { low = middle + 1 }
    }
    guard low > 0, written[low - 1].place.contains(place) else { return nil }
    let above = written[low - 1]
    if above.place.bytes.count == place.bytes.count { return above.node }
    guard let keys = place.keys(after: above.place.bytes.count) else { return .absent }
    return above.node[Path(keys: keys)]
  }

  /// Whether a written node has leaves that are not among its changes: those were there before.
  private func hasOthers(_ node: TreeNode, _ range: Range<Int>) -> Bool {
    node.leafCount > changes[range].count { $0.after != nil && !$0.path.isPriority }
  }

  /// Looks the place up. Rows that the operation put are passed over if the tree before it is asked for.
  private func storedGlance(at place: PathBytes, _ side: RuleSide, _ range: Range<Int>) throws(RuleTreeFault) -> RuleGlance {
    if side == .before, changes[range].contains(where: { $0.isChild(of: place) }) { return .map }
    let added = side == .after ? 0 : range.count
    // The node's own value comes first, then its priority, then what lies below.
    let rows = try looking { () throws(StorageError) in
      try session.leaves(in: namespace, under: place, limit: added + 2)
    }
    for row in rows where side == .after || changes.change(at: row.leaf.path) == nil {
      if row.leaf.path == place { return .leaf(row.leaf.scalar) }
      if row.leaf.path != place.priority { return .map }
    }
    return .absent
  }

  private func looking<Result>(_ body: () throws(StorageError) -> Result) throws(RuleTreeFault) -> Result {
    do throws(StorageError) {
      return try body()
    } catch {
      throw RuleTreeFault(error.message)
    }
  }
}

extension TreeNode {
  /// Whether nothing lies below it.
  fileprivate var isLeafOrAbsent: Bool { if case .map = content { false } else { true } }
}

extension LeafChange {
  /// Whether it took or changed something below a place: something was there then.
  fileprivate func isChild(of place: PathBytes) -> Bool {
    before != nil && path.bytes.count > place.bytes.count && path != place.priority
  }
}

extension [LeafChange] {
  /// The change of exactly this leaf, in changes that are in path order.
  func change(at path: PathBytes) -> LeafChange? {
    let range = range(under: path, in: indices)
    guard !range.isEmpty, self[range.lowerBound].path == path else { return nil }
    return self[range.lowerBound]
  }
}

extension RuleGlance {
  init(_ node: TreeNode) {
    switch node.content {
    case .absent: self = .absent
    case .leaf(let scalar): self = .leaf(scalar)
    case .map: self = .map
    }
  }
}
