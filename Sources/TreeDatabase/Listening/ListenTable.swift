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
    in namespace: NamespaceID, _ changes: [LeafChange], _ visit: (ListenPoint, Range<Int>) -> Void
  ) {
    roots[namespace]?.forEachChanged(changes, changes.indices, visit)
  }

  func forEachGroup(in namespace: NamespaceID, _ body: (ListenGroup) -> Void) {
    roots[namespace]?.forEachGroup(body)
  }

  func forEachGroup(_ body: (ListenGroup) -> Void) {
    for root in roots.values { root.forEachGroup(body) }
  }
}
