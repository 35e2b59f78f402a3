import AccessRules
import StorageCore
import TreeModel

/// A snapshot's tree, as the rules of a read look at it. Remembers where they looked: a later commit there may change the
/// verdict.
final class SnapshotTree: RuleTree {
  private let snapshot: any Snapshot
  private let namespace: NamespaceID
  private(set) var places: Set<PathBytes> = []

  init(_ snapshot: any Snapshot, _ namespace: NamespaceID) {
    self.snapshot = snapshot
    self.namespace = namespace
  }

  func glance(at place: PathBytes, _ side: RuleSide) throws(RuleTreeFault) -> RuleGlance {
    places.insert(place)
    do throws(StorageError) {
      for row in try snapshot.leaves(in: namespace, under: place, limit: 2) {
        if row.leaf.path == place { return .leaf(row.leaf.scalar) }
        if row.leaf.path != place.priority { return .map }
      }
      return .absent
    } catch {
      throw RuleTreeFault(error.message)
    }
  }

  func priority(at place: PathBytes, _ side: RuleSide) throws(RuleTreeFault) -> Scalar? {
    places.insert(place.priority)
    do throws(StorageError) {
      return try snapshot.leaf(in: namespace, at: place.priority)?.leaf.scalar
    } catch {
      throw RuleTreeFault(error.message)
    }
  }
}
