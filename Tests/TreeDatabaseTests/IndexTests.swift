import AccessRules
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@Suite("Indexes")
struct IndexTests {
  /// A write below `path`, of the kinds that clients make.
  private func operation(_ random: inout RandomTree, below path: Path) -> WriteOperation {
    let child = path.child(random.key())
    switch Int.random(in: 0..<10, using: &random.random) {
    case 0: return .remove(child)
    case 1: return .set(child, WriteNode(.leaf(random.ranked(), priority: random.priority())))
    case 2: return .set(child.appending("a"), WriteNode(.leaf(random.ranked())))
    case 3: return .set(child.appending("b/c"), WriteNode(.leaf(random.ranked())))
    case 4: return .set(child.appending("b"), WriteNode(.leaf(random.ranked())))
    case 5: return .remove(child.appending(random.chance(2) ? "a" : "b"))
    case 6: return .set(child.appending("a/x"), WriteNode(.leaf(1)))
    case 7: return .set(child.appending("name"), WriteNode(.leaf(random.scalar())))
    case 8 where random.chance(20): return .remove(path)
    default: return .set(child, WriteNode(random.orderable()))
    }
  }

  private func randomPath(_ random: inout RandomTree) -> Path {
    switch Int.random(in: 0..<4, using: &random.random) {
    case 0: Path(keys: [Key(unchecked: "users"), random.key()])
    case 1: Path(keys: [Key(unchecked: "users"), random.key(), Key(unchecked: "items")])
    default: "list"
    }
  }

  /// Applies random writes, priorities among them; those that the pipeline refuses change nothing.
  private func write(_ count: Int, _ random: inout RandomTree, _ fixture: DatabaseFixture) async throws {
    for _ in 0..<count {
      let path = randomPath(&random)
      let one =
        random.chance(8)
        ? WriteOperation.setPriority(path.child(random.key()), priority: .scalar(random.priority()))
        : operation(&random, below: path)
      do throws(CommitError) {
        try await fixture.write(one)
      } catch {
        guard case .invalid = error.code else { throw error }
      }
    }
  }

  @Test("A window by an index is the window of the whole tree, whatever is written", arguments: [1, 2, 3] as [UInt64])
  func windows(seed: UInt64) async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    var random = RandomTree(seed: seed)
    try await write(60, &random, base)
    try await fixture.putRules()
    try await fixture.settle()
    for round in 0..<9 {
      try await write(8, &random, base)
      for order in IndexFixture.orders {
        for _ in 0..<3 { try fixture.compare(random.query(order), at: "list", "round \(round)") }
      }
      let items = Path(keys: [Key(unchecked: "users"), random.key(), Key(unchecked: "items")])
      try fixture.compare(random.query(.child("a")), at: items, "round \(round)")
      try fixture.checkIndexEntries()
    }
    #expect(try fixture.records().count == 6)
  }

  @Test("Several requests of one batch keep the indexes as one after the other would")
  func batches() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    try await fixture.putRules()
    try await fixture.settle()
    var random = RandomTree(seed: 7)
    for _ in 0..<6 {
      var operations: [WriteOperation] = []
      for _ in 0..<40 { operations.append(operation(&random, below: randomPath(&random))) }
      // All at once: they wait together, and are one batch.
      await withTaskGroup(of: Void.self) { group in
        for operation in operations { group.addTask { _ = try? await base.write(operation) } }
      }
      try fixture.checkIndexEntries()
    }
  }

  @Test("Readers beside the writer see an index and a tree of the same moment")
  func concurrency() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    var random = RandomTree(seed: 31)
    try await write(60, &random, base)
    try await fixture.putRules()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<3 {
        group.addTask {
          var random = RandomTree(seed: 100 + UInt64(reader))
          for round in 0..<40 {
            try fixture.compare(random.query(random.pick(IndexFixture.orders)), at: "list", "reader \(reader), round \(round)")
          }
        }
      }
      group.addTask {
        var random = RandomTree(seed: 32)
        try await write(150, &random, base)
      }
      try await group.waitForAll()
    }
    try await fixture.settle()
    try fixture.checkIndexEntries()
  }

  @Test("Building goes on after a restart where it was")
  func restart() async throws {
    let folder = TemporaryFolder()
    let first = try await DatabaseFixture(folder: folder)
    let entries = (0..<900).map { TreeMap.Entry(key: Key(unchecked: "k\($0)"), node: ["a": .leaf(.int(Int64($0 % 7)))]) }
    try await first.write(.set("list", WriteNode(.map(TreeMap(entries)))))
    try await IndexFixture(first).putRules()
    // At most what is queued is still done.
    first.close()
    let second = try await DatabaseFixture(folder: folder)
    defer { second.close() }
    let fixture = IndexFixture(second)
    try await fixture.settle()
    try fixture.checkIndexEntries()
    let children = try fixture.records().first { $0.pattern == "/list" && $0.order == "a" }?.childCount
    #expect(children == 900, "none is placed twice")
    #expect(second.database.catalog.isIndexed(.child("a"), at: "list", in: second.namespace))
  }

  @Test("What the rules declare no more is removed; what they still declare stays, whatever its variable is called")
  func dropping() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    var random = RandomTree(seed: 5)
    try await write(50, &random, base)
    try await base.write(.set("users/bob/items/x", ["a": 1]))
    try await fixture.putRules()
    try await fixture.settle()
    let before = try fixture.records()
    let dropped = try #require(before.first { $0.pattern == "/list" && $0.order == "a" })
    #expect(try fixture.pathCount(of: dropped.id, below: ["list"]) > 0)

    try await fixture.putRules("{\"rules\":{\"users\":{\"$player\":{\"items\":{\".indexOn\":[\"a\"]}}}}}")
    try await fixture.settle()
    let after = try fixture.records()
    #expect(after.map(\.id) == before.filter { $0.pattern == "/users/$uid/items" }.map(\.id))
    #expect(try fixture.pathCount(of: dropped.id, below: ["list"]) == 0)
    #expect(base.database.catalog.isIndexed(.child("a"), at: "users/bob/items", in: base.namespace))
    #expect(!base.database.catalog.isIndexed(.child("a"), at: "list", in: base.namespace))
    let answer = try base.engine.read { snapshot in
      try base.database.reader.result(
        of: Query(order: .child("a"), limit: .first(1)), at: "list", in: base.namespace, of: snapshot)
    }
    #expect(!answer.isIndexed)

    try await fixture.putRules()
    try await fixture.settle()
    let again = try fixture.records()
    #expect(again.count == before.count)
    #expect(again.filter { $0.pattern == "/list" }.allSatisfy { $0.id > before.map(\.id).max()! }, "no number is given twice")
    try fixture.checkIndexEntries()
  }

  @Test("A namespace that is forgotten takes its rules and indexes with it")
  func forgetting() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    try await base.write(.set("list/x", ["a": 1]))
    try await fixture.putRules()
    try await base.database.forgetNamespace(named: "game")
    #expect(base.database.catalog.source(of: base.namespace) == nil)
    #expect(try fixture.records().isEmpty)
    let fresh = try await base.database.openNamespace(named: "game")
    #expect(base.database.catalog.source(of: fresh) == nil)
  }

  @Test("A window of a few children by an index reads little of a large node")
  func cost() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    let entries = (0..<3000).map { TreeMap.Entry(key: Key(unchecked: "k\($0)"), node: ["a": .leaf(.int(Int64($0)))]) }
    try await base.write(.set("list", WriteNode(.map(TreeMap(entries)))))
    try await fixture.putRules()
    try await fixture.settle()
    let bounds = ReadBounds(leavesMax: 100, bytesMax: 10_000, visitsMax: 100)
    let queries = [
      Query(order: .child("a"), limit: .last(10)), Query(order: .child("a"), start: .start(1500), limit: .first(10)),
      Query(order: .child("a"), start: .start(70), end: .end(75)), Query(order: .priority, limit: .first(10)),
      Query(order: .key, limit: .last(10)),
      Query(order: .key, start: .key(Key(unchecked: "k7"), isInclusive: false), limit: .last(3)),
    ]
    for query in queries {
      let node = try base.engine.read { snapshot in
        try base.database.reader.result(of: query, at: "list", in: base.namespace, of: snapshot, within: bounds).node
      }
      #expect(node == query.result(of: .map(TreeMap(entries))))
    }
    // By a search the same is too much.
    #expect(throws: TreeReadError.self) {
      try base.engine.read { snapshot in
        try base.database.reader.result(
          of: Query(order: .child("z"), limit: .last(1)), at: "list", in: base.namespace, of: snapshot, within: bounds)
      }
    }
  }
}
