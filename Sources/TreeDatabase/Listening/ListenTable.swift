import StorageCore
import TreeModel

/// Who listens where: a trie of places for each namespace.
struct ListenTable {
  private var roots: [NamespaceID: ListenPoint] = [:]

  /// The group of a listen, made if there is none.
  mutating func group(for request: ListenRequest, limits: ListenLimits) -> ListenGroup {
    let root = roots[request.namespace] ?? ListenPoint()
    roots[request.namespace] = root
    var point = root
    for key in request.path.keys { point = point.child(key) }
    if let group = point.groups.first(where: { $0.query == request.query && $0.format == request.format }) { return group }
    let group = ListenGroup(request, at: point, limits: limits)
    point.groups.append(group)
    return group
  }

  /// Takes a group off that has nobody left, and what its place needed.
  mutating func remove(_ group: ListenGroup) {
    var point = group.point
    point.groups.removeAll { $0 === group }
    while point.isUseless {
      guard let parent = point.parent else {
        roots[group.namespace] = nil
        return
      }
      parent.remove(point)
      point = parent
    }
  }

  func forEachChanged(
    in namespace: NamespaceID, changes: [LeafChange], visit: (ListenPoint, Range<Int>) -> Void
  ) {
    roots[namespace]?.forEachChanged(changes, range: changes.indices, visit: visit)
  }

  func forEachGroup(in namespace: NamespaceID, body: (ListenGroup) -> Void) {
    roots[namespace]?.forEachGroup(body)
  }

  func forEachGroup(_ body: (ListenGroup) -> Void) {
    for root in roots.values { root.forEachGroup(body) }
  }
}

/// A node of the trie of places that someone listens to, or listens below.
final class ListenPoint {
  let pathBytes: PathBytes
  /// The bytes of the last key.
  let segment: [UInt8]
  unowned let parent: ListenPoint?
  private(set) var children: [[UInt8]: ListenPoint] = [:]
  var groups: [ListenGroup] = []

  init(pathBytes: PathBytes = .root, segment: [UInt8] = [], parent: ListenPoint? = nil) {
    self.pathBytes = pathBytes
    self.segment = segment
    self.parent = parent
  }

  var isUseless: Bool { groups.isEmpty && children.isEmpty }

  func child(_ key: Key) -> ListenPoint {
    let below = pathBytes.child(key)
    let segment = Array(below.bytes[pathBytes.bytes.count...])
    if let child = children[segment] { return child }
    let child = ListenPoint(pathBytes: below, segment: segment, parent: self)
    children[segment] = child
    return child
  }

  func remove(_ child: ListenPoint) { children[child.segment] = nil }

  /// Calls `visit` for each place with listens that has changed, with the changes there and below.
  ///
  /// A node has changed if and only if leaves at or below it have, so only the ancestors of changed leaves are looked at: a
  /// commit's cost does not depend on how many listen elsewhere.
  func forEachChanged(
    _ changes: [LeafChange], range: Range<Int>, visit: (ListenPoint, Range<Int>) -> Void
  ) {
    if !groups.isEmpty { visit(self, range) }
    if children.isEmpty { return }
    // A commit of many leaves below few listens is cut by search, any other is followed leaf by leaf.
    if children.count * 8 < range.count {
      for child in children.values {
        let part = changes.range(under: child.pathBytes, in: range)
        if !part.isEmpty { child.forEachChanged(changes, range: part, visit: visit) }
      }
      return
    }
    var at = range.lowerBound
    while at < range.upperBound {
      let path = changes[at].path
      guard let end = path.segmentEnd(at: pathBytes.bytes.count) else {
        at += 1
        continue
      }
      let segment = path.bytes[pathBytes.bytes.count..<end]
      var next = at + 1
      while next < range.upperBound, changes[next].path.bytes.dropFirst(pathBytes.bytes.count).starts(with: segment) {
        next += 1
      }
      if let child = children[Array(segment)] { child.forEachChanged(changes, range: at..<next, visit: visit) }
      at = next
    }
  }

  func forEachGroup(_ body: (ListenGroup) -> Void) {
    for group in groups { body(group) }
    for child in children.values { child.forEachGroup(body) }
  }
}

extension [LeafChange] {
  /// Which of the changes, in path order, lie at a place and below it.
  func range(under parent: PathBytes, in range: Range<Int>) -> Range<Int> {
    let lower = firstIndex(in: range) { !($0.path < parent) }
    return lower..<firstIndex(in: lower..<range.upperBound) { !parent.contains($0.path) }
  }

  private func firstIndex(in range: Range<Int>, where isBehind: (LeafChange) -> Bool) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
