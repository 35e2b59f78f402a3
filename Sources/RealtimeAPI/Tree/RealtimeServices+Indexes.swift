import APISupport
import StorageCore
import TreeDatabase
import TreeModel

extension RealtimeServices {
  /// The refusal of a query that has no index, with what holds where no rules are set.
  func missingIndex(_ order: NodeOrder, at path: Path, in namespace: NamespaceID?) -> MissingIndex {
    let hasRules = namespace.flatMap { database.catalog.ruleSet(of: $0) } != nil
    return MissingIndex(order: order, path: path, unruled: hasRules ? nil : access.isDevelopment ? .open : .closed)
  }
}
