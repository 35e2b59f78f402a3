import AccessRules
import StorageCore
import StorageSQLite
import TreeDatabase
import TreeModel

/// One node with many children, an index on one of their members, and queries of all kinds.
struct QueryBenchmark {
  let engine: SQLiteEngine
  let children: Int

  private static let limit = 100
  private static let queries = 2_000

  func run() async throws {
    let database = try Database(engine: engine, participants: [], clock: SystemClock())
    defer { database.shutDown() }
    let namespace = try await database.openNamespace(named: "bench")
    var watch = Stopwatch()
    try await fill(database, namespace)
    print("\(children) children of 3 leaves, written in \(watch.lap()) s")
    let rules = "{\"rules\":{\"players\":{\".indexOn\":\"score\"}}}"
    try await database.putRules(rules, rules: try RuleSet(parsing: rules), in: namespace)
    try await settle(database, namespace)
    print("index built behind writes in \(watch.lap()) s")
    try measureAll(database, namespace)
    try await measureWrites(database, namespace)
  }

  private func measureAll(_ database: Database, _ namespace: NamespaceID) throws {
    var draw = Draw(seed: 7)
    let score = NodeOrder.child("score")
    try measure("last 100 by index", Self.queries, database, namespace) { Query(order: score, limit: .last(Self.limit)) }
    try measure("100 from a random score, by index", Self.queries, database, namespace) {
      Query(order: score, start: .start(.int(Int64(draw.next(below: 1_000_000)))), limit: .first(Self.limit))
    }
    try measure("100 up to a random score, by index", Self.queries, database, namespace) {
      Query(order: score, end: .end(.int(Int64(draw.next(below: 1_000_000)))), limit: .last(Self.limit))
    }
    try measure("100 from a random key", Self.queries, database, namespace) {
      Query(order: .key, start: .key(Self.key(draw.next(below: children))), limit: .first(Self.limit))
    }
    try measure("last 100 by key", Self.queries, database, namespace) { Query(order: .key, limit: .last(Self.limit)) }
    try measure("last 100 by a member without index: a search", 3, database, namespace) {
      Query(order: .child("zone"), limit: .last(Self.limit))
    }
  }

  private func measure(
    _ name: String, _ count: Int, _ database: Database, _ namespace: NamespaceID, _ next: () -> Query
  ) throws {
    var times: [Double] = []
    for _ in 0..<count {
      let query = next()
      var watch = Stopwatch()
      let result = try engine.read { (snapshot) throws(TreeReadError) in
        try database.reader.result(of: query, at: "players", in: namespace, of: snapshot, within: .generous)
      }
      times.append(watch.seconds())
      guard result.node.children.count <= Self.limit, result.node.exists || query.start != nil || query.end != nil else {
        throw BenchmarkError("\(name): a window of \(result.node.children.count) children")
      }
    }
    times.sort()
    func at(_ share: Double) -> String { milliseconds(times[min(times.count - 1, Int(Double(times.count) * share))]) }
    print("\(name): median \(at(0.5)) ms, 99 of 100 within \(at(0.99)) ms")
  }

  /// What an index costs the writes that it follows.
  private func measureWrites(_ database: Database, _ namespace: NamespaceID) async throws {
    var draw = Draw(seed: 9)
    for (name, member) in [("not indexed", "zone"), ("indexed", "score")] {
      var watch = Stopwatch()
      let count = 50
      for _ in 0..<count {
        let assignments = (0..<100).map { _ in
          WriteOperation.Assignment(
            path: Path(keys: [Key(unchecked: "players"), Self.key(draw.next(below: children)), Key(unchecked: member)]),
            value: .node(WriteNode(.leaf(.int(Int64(draw.next(below: 1_000_000)))))))
        }
        // Two of the same child would be refused.
        let unique = Dictionary(assignments.map { ($0.path, $0) }) { $1 }
        _ = try await database.commit(
          CommitRequest(
            namespace: namespace, actor: .admin("bench"), operations: [try .update(.root, Array(unique.values))]))
      }
      print("100 members written in one commit, \(name): \(milliseconds(watch.seconds() / Double(count))) ms")
    }
  }

  private static func key(_ number: Int) -> Key { Key(unchecked: "p\(number)") }

  private func fill(_ database: Database, _ namespace: NamespaceID) async throws {
    var draw = Draw(seed: 1)
    for start in stride(from: 0, to: children, by: 5_000) {
      let assignments = (start..<min(start + 5_000, children)).map { number in
        let player: TreeNode = [
          "name": .leaf(.string("player \(number)")), "score": .leaf(.int(Int64(draw.next(below: 1_000_000)))),
          "zone": .leaf(.int(Int64(number % 50))),
        ]
        return WriteOperation.Assignment(
          path: Path(keys: [Key(unchecked: "players"), Self.key(number)]), value: .node(WriteNode(player)))
      }
      _ = try await database.commit(
        CommitRequest(namespace: namespace, actor: .admin("bench"), operations: [try .update(.root, assignments)]))
    }
  }

  /// Waits until the index is ready; each look takes its place in the writer's queue beside a step of building.
  private func settle(_ database: Database, _ namespace: NamespaceID) async throws {
    var round: Int64 = 0
    while try !engine.read({ (snapshot) throws(StorageError) in try snapshot.indexes(in: namespace) }).allSatisfy({
      $0.state == .ready
    }) {
      round += 1
      _ = try await database.commit(
        CommitRequest(namespace: namespace, actor: .admin("bench"), operations: [.set("tick", .leaf(.int(round)))]))
    }
  }
}
