import AccessRules
import StorageCore
import TreeModel

/// The rules of a namespace, with the indexes that they declare.
final class NamespaceRules: Sendable {
  let record: RulesRecord
  let rules: RuleSet
  let indexes: [TreeIndex]

  /// - Parameter records: the indexes of the store; those that the rules do not declare are left out.
  init(record: RulesRecord, rules: RuleSet, records: [IndexRecord]) {
    self.record = record
    self.rules = rules
    indexes = rules.indexes.compactMap { declared in
      let found = records.first { record in record.state != .dropping && declared.isSame(as: record) }
      return found.map { TreeIndex(id: $0.id, pattern: declared.pattern, order: declared.order) }
    }
  }

  /// Whether the rules declare an index for the children of exactly this node.
  func declares(_ order: NodeOrder, at path: Path) -> Bool {
    rules.node(at: path)?.indexOn.contains(order) == true
  }

  /// The index for the children of exactly this node.
  func index(_ order: NodeOrder, at path: Path) -> TreeIndex? {
    guard let node = rules.node(at: path), node.indexOn.contains(order) else { return nil }
    return indexes.first { $0.order == order && $0.pattern == node.pattern }
  }
}

extension RuleSet.Index {
  /// Whether a stored index is this one: the name of a variable may have changed.
  func isSame(as record: IndexRecord) -> Bool {
    guard order.indexName.utf8.elementsEqual(record.order.utf8) else { return false }
    return pattern.shape.utf8.elementsEqual(Self.shape(of: record.pattern).utf8)
  }

  /// A stored pattern without the names of its variables. Keys never begin with `$`, nor hold a slash.
  private static func shape(of pattern: String) -> String {
    "/"
      + pattern.utf8.split(separator: UInt8(ascii: "/"))
      .map { $0.first == UInt8(ascii: "$") ? "$" : String(Substring($0)) }.joined(separator: "/")
  }
}
