import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// A part of a document beside the stretch of the tree that it is for.
struct ImportComparison {
  private let part: ImportPart
  private let namespace: NamespaceID
  private let snapshot: any Snapshot
  private let old: ValueStretch
  /// Behind what was read of the tree; nil where that is the whole stretch.
  private let horizon: PathBytes?
  /// Values below which children come: they go by themselves, and leave their priorities.
  private var opened: [PathBytes] = []
  private var through: PathBytes?
  private var plan: ImportPlan

  /// Reads what stands there, as far as is needed.
  init(_ part: ImportPart, in namespace: NamespaceID, valuesMax: Int, plan: ImportPlan, snapshot: any Snapshot) throws {
    self.part = part
    self.namespace = namespace
    self.snapshot = snapshot
    self.plan = plan
    (old, horizon) = try Self.stored(part, in: namespace, limit: valuesMax * 2 + 64, snapshot: snapshot)
  }

  /// What is to be done, of at most so many values.
  mutating func made(valuesMax: Int) throws -> ImportPlan {
    let isWhole = try compare(valuesMax: valuesMax)
    try comparePriorities()
    plan.answer.priorities = Int64(plan.priorities.count)
    plan.answer.through = through?.path?.description
    plan.answer.complete = isWhole && part.isLast
    return plan
  }

  /// Bytes of the tree that are read at once, more or less.
  private static let bytesMax = 32 << 20

  private static func stored(
    _ part: ImportPart, in namespace: NamespaceID, limit: Int, snapshot: any Snapshot
  ) throws -> (ValueStretch, horizon: PathBytes?) {
    let leaves = try snapshot.leaves(in: namespace, from: part.lower, to: part.upper, limit: limit, bytesMax: bytesMax)
      .map(\.leaf)
    var stretch = ValueStretch(leaves)
    // More than that may have been left out: what there is may end with a value whose priority was not read.
    guard leaves.count >= limit || leaves.reduce(0, { $0 + $1.bytes }) >= bytesMax / 2 else { return (stretch, nil) }
    guard let last = stretch.values.indices.last else {
      throw APIError(.badRequest, "too_large", "The priorities there are too large; remove them first (doubloon data remove).")
    }
    let path = stretch.values[last].path
    stretch.values[last].priority = try snapshot.leaf(in: namespace, at: path.priority)?.leaf.scalar
    return (stretch, path.subtreeEnd)
  }

  /// Walks through both in the order of the tree.
  ///
  /// - Returns: whether nothing of the stretch is left.
  private mutating func compare(valuesMax: Int) throws -> Bool {
    let (was, new) = (old.values, part.sent.values)
    var (i, j) = (0, 0)
    var cover: PathBytes?
    while plan.steps < valuesMax {
      let next = j < new.count && horizon.map({ new[j].path < $0 }) ?? true ? new[j] : nil
      guard let stored = i < was.count ? was[i] : nil, next.map({ stored.path <= $0.path }) ?? true else {
        guard let next else { break }
        try add(next)
        plan.answer.added += 1
        (cover, j) = (next.path, j + 1)
        continue
      }
      i += 1
      if let next, stored.path == next.path {
        let isSame = stored.scalar == next.scalar && stored.priority == next.priority
        if isSame { pass(next.path) } else { try add(next) }
        if isSame { plan.answer.same += 1 } else { plan.answer.changed += 1 }
        plan.answer.taken += isSame ? 1 : 0
        j += 1
        continue
      }
      plan.answer.removed += 1
      // What is replaced by a value takes those below it along; what gets children gives way to them.
      if let cover, cover.contains(stored.path) { continue }
      if let next, stored.path.contains(next.path) {
        if stored.priority != nil { opened.append(stored.path) }
        continue
      }
      plan.values.append(try assignment(stored.path, .absent))
      pass(stored.path)
    }
    return i == was.count && j == new.count && horizon == nil
  }

  private mutating func add(_ value: ValueStretch.Value) throws {
    plan.values.append(try assignment(value.path, WriteNode(.leaf(value.scalar, priority: value.priority))))
    plan.answer.taken += 1
    pass(value.path)
  }

  private mutating func pass(_ path: PathBytes) {
    plan.steps += 1
    through = path
  }

  /// The priorities of nodes of which the part has brought a value, and those that nothing accounts for any more.
  private mutating func comparePriorities() throws {
    let taken = Int(plan.answer.taken)
    func isBrought(_ node: PathBytes) -> Bool {
      let first = part.sent.firstValue(from: node)
      return first < taken && node.contains(part.sent.values[first].path)
    }
    var named: Set<PathBytes> = []
    for node in part.sent.nodes {
      named.insert(node.path)
      guard isBrought(node.path) else { continue }
      let stored = try snapshot.leaf(in: namespace, at: node.path.priority)?.leaf.scalar
      if stored != node.priority { plan.priorities.append(try priority(of: node.path, node.priority)) }
    }
    let end = through?.subtreeEnd ?? part.upper
    for path in old.nodes.map(\.path) + opened where !named.contains(path) && path < end {
      // A value that was brought there, or above, has replaced it.
      let at = part.sent.firstValue(from: path)
      if part.sent.values[..<taken].dropFirst(max(at - 1, 0)).prefix(2).contains(where: { $0.path.contains(path) }) { continue }
      if try isBrought(path) || isLeft(of: path, from: end) { plan.priorities.append(try priority(of: path, nil)) }
    }
  }

  /// Whether a node has values behind what is compared.
  private func isLeft(of node: PathBytes, from end: PathBytes) throws -> Bool {
    let upper = node.subtreeEnd ?? .afterAll
    return try end < upper
      && !snapshot.leaves(in: namespace, from: end, to: upper, limit: 1, bytesMax: 1).isEmpty
  }

  private func assignment(_ path: PathBytes, _ node: WriteNode) throws -> WriteOperation.Assignment {
    WriteOperation.Assignment(path: try known(path), value: .node(node))
  }

  private func priority(of path: PathBytes, _ scalar: Scalar?) throws -> WriteOperation.Assignment {
    WriteOperation.Assignment(path: try known(path), value: .priority(.scalar(scalar)))
  }

  private func known(_ path: PathBytes) throws -> Path {
    guard let found = path.path else {
      throw StorageError(.damaged, "A stored path cannot be read; verify the data, or restore a backup.")
    }
    return found
  }
}
