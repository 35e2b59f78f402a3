import AccessRules
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// A database whose rules declare indexes, and a naive reading of what they should hold.
struct IndexFixture {
  let base: DatabaseFixture

  static let rules = """
    { "rules": {
      "list": { ".indexOn": ["a", "b/c", ".value", ".priority"] },
      "users": { "$uid": { "items": { ".indexOn": "a" }, ".indexOn": ".value" } }
    } }
    """
  static let orders: [NodeOrder] = [.child("a"), .child("b/c"), .value, .priority, .key]

  init(_ base: DatabaseFixture) {
    self.base = base
  }

  func putRules(_ source: String = Self.rules) async throws {
    try await base.database.putRules(source, rules: try RuleSet(parsing: source), in: base.namespace)
  }

  func records() throws -> [IndexRecord] {
    try base.engine.read { (snapshot) throws(StorageError) in try snapshot.indexes(in: base.namespace) }
  }

  /// Waits until nothing is built or removed any more. A look goes through the writer's queue, in which the steps wait too.
  func settle() async throws {
    for _ in 0..<2000 {
      if try records().allSatisfy({ $0.state == .ready }) { return }
      // Refused where the queue is full: then others wait in it.
      _ = try? await base.write(.set("tick", 1))
      _ = try? await base.write(.set("tick", 2))
    }
    Issue.record("The indexes were not ready in time: \(try records())")
  }

  /// Both answers, from one snapshot.
  func compare(_ query: Query, at path: Path, _ comment: String) throws {
    let (answer, node) = try base.engine.read { snapshot in
      (
        try base.database.reader.result(of: query, at: path, in: base.namespace, of: snapshot),
        try base.database.reader.node(at: path, in: base.namespace, of: snapshot)
      )
    }
    #expect(answer.node == query.result(of: node), "\(comment): \(query)")
  }

  /// Whether every index has exactly the places that the tree asks for.
  func checkIndexEntries() throws {
    let (stored, root) = try base.engine.read { snapshot in
      let root = try base.database.reader.node(at: .root, in: base.namespace, of: snapshot)
      var stored: [(order: NodeOrder, parent: Path, entries: [IndexEntry])] = []
      for record in try snapshot.indexes(in: base.namespace) {
        let order = try #require(NodeOrder(indexName: record.order))
        for parent in Self.parents(of: record.pattern, in: root) {
          let entries = try snapshot.indexEntries(
            in: base.namespace, of: record.id, below: PathBytes(parent), from: IndexEntry(bytes: []),
            to: IndexEntry(bytes: PathBytes.afterAll.bytes), isDescending: false, limit: .max)
          stored.append((order, parent, entries))
        }
      }
      return (stored, root)
    }
    for (order, parent, entries) in stored {
      let wanted = root[parent].children.map { IndexEntry(Self.rank(of: $0.node, order), $0.key) }.sorted()
      #expect(entries == wanted, "\(order) \(parent)")
    }
  }

  /// How many places the whole store has, by a look at every parent there could be.
  func pathCount(of id: IndexID, below parents: [Path]) throws -> Int {
    try base.engine.read { (snapshot) throws(StorageError) in
      var count = 0
      for parent in parents {
        count += try snapshot.indexEntries(
          in: base.namespace, of: id, below: PathBytes(parent), from: IndexEntry(bytes: []),
          to: IndexEntry(bytes: PathBytes.afterAll.bytes), isDescending: true, limit: .max
        ).count
      }
      return count
    }
  }

  private static func parents(of pattern: String, in root: TreeNode) -> [Path] {
    switch pattern {
    case "/list": ["list"]
    case "/users/$uid": root["users"].children.map { Path(keys: [Key(unchecked: "users"), $0.key]) }
    default:
      root["users"].children.map { Path(keys: [Key(unchecked: "users"), $0.key, Key(unchecked: "items")]) }
    }
  }

  private static func rank(of node: TreeNode, _ order: NodeOrder) -> IndexRank {
    switch order {
    case .key: .null
    case .priority: IndexRank(node.priority)
    case .value: rank(of: node)
    case .child(let path): rank(of: node[path])
    }
  }

  private static func rank(of node: TreeNode) -> IndexRank {
    if case .map = node.content { .map } else { IndexRank(node.scalar) }
  }
}
