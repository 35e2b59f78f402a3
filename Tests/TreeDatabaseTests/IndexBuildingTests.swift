import AccessRules
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeModel

@testable import TreeDatabase

@Suite("Building indexes")
struct IndexBuildingTests {
  private static let rules = "{\"rules\":{\"list\":{\".indexOn\":\"a\"}}}"

  @Test(
    "Writes go on between the steps of building, queries are answered by a search until it is whole, and it comes out right")
  func interleaved() async throws {
    // One request a batch, and a writer that stops where the test says: between two stops there is one step.
    let gate = WriterGate()
    let base = try await DatabaseFixture(observers: [gate], limits: WriteLimits(batchMax: 1))
    defer { base.close() }
    let fixture = IndexFixture(base)
    var random = RandomTree(seed: 11)
    let entries = (0..<900).map { TreeMap.Entry(key: Key(unchecked: "k\($0)"), node: ["a": .leaf(random.ranked())]) }
    try await base.write(.set("list", .map(TreeMap(entries))))

    gate.close(base.database, in: base.namespace, round: 0)
    await gate.arrival()
    base.database.putRules(Self.rules, rules: try RuleSet(parsing: Self.rules), in: base.namespace) { _ in }
    var states: [IndexRecord] = []
    for round in 1...6 {
      for _ in 0..<12 {
        let child = Path(keys: [Key(unchecked: "list"), Key(unchecked: "k\(Int.random(in: 0..<1000, using: &random.random))")])
        let operation: WriteOperation = random.chance(3) ? .remove(child) : .set(child, random.orderable())
        base.database.submit(CommitRequest(namespace: base.namespace, actor: .admin("test"), operations: [operation])) { _ in }
      }
      gate.close(base.database, in: base.namespace, round: round)
      gate.open()
      await gate.arrival()
      states += try fixture.records()
      for _ in 0..<2 { try fixture.compare(random.query(.child("a")), at: "list", "round \(round)") }
    }
    gate.open()
    try await fixture.settle()

    #expect(states.map(\.state).prefix(4) == [.building, .building, .building, .building])
    #expect(states.last?.state == .ready)
    #expect(zip(states, states.dropFirst()).allSatisfy { $0.childCount <= $1.childCount })
    try fixture.checkIndexEntries()
    for _ in 0..<6 { try fixture.compare(random.query(.child("a")), at: "list", "ready") }
  }

  @Test("A full queue does not end the building")
  func fullQueue() async throws {
    let gate = WriterGate()
    let base = try await DatabaseFixture(observers: [gate], limits: WriteLimits(queueMax: 4, batchMax: 1))
    defer { base.close() }
    let entries = (0..<600).map { TreeMap.Entry(key: Key(unchecked: "k\($0)"), node: ["a": .leaf(.int(Int64($0)))]) }
    try await base.write(.set("list", .map(TreeMap(entries))))
    gate.close(base.database, in: base.namespace, round: 0)
    await gate.arrival()
    let (answers, answered) = AsyncStream<Bool>.makeStream()
    base.database.putRules(Self.rules, rules: try RuleSet(parsing: Self.rules), in: base.namespace) { result in
      answered.yield((try? result.get()) != nil)
      answered.finish()
    }
    for number in 0..<20 {
      let operation = WriteOperation.set("n", .leaf(.int(Int64(number))))
      base.database.submit(CommitRequest(namespace: base.namespace, actor: .admin("test"), operations: [operation])) { _ in }
    }
    gate.open()
    for await isPut in answers { #expect(isPut) }
    let fixture = IndexFixture(base)
    try await fixture.settle()
    #expect(try fixture.records().map(\.childCount) == [600])
    try fixture.checkIndexEntries()
  }

  @Test("New rules that meet a step of the rules before in one batch are built too")
  func rulesBesideStep() async throws {
    let gate = WriterGate()
    let base = try await DatabaseFixture(observers: [gate], limits: WriteLimits(batchMax: 2))
    defer { base.close() }
    try await base.write(.set("list", ["x": ["a": 1, "b": 2], "y": ["a": 2]]))
    func write() {
      let request = CommitRequest(namespace: base.namespace, actor: .admin("test"), operations: [.set("n", .leaf(1))])
      base.database.submit(request) { _ in }
    }
    gate.close(base.database, in: base.namespace, round: 0)
    await gate.arrival()
    // Two to a batch: the step that the first rules queue comes behind the second rules.
    base.database.putRules(Self.rules, rules: try RuleSet(parsing: Self.rules), in: base.namespace) { _ in }
    write()
    gate.close(base.database, in: base.namespace, round: 1)
    write()
    let both = "{\"rules\":{\"list\":{\".indexOn\":[\"a\",\"b\"]}}}"
    let (answers, answered) = AsyncStream<Void>.makeStream()
    base.database.putRules(both, rules: try RuleSet(parsing: both), in: base.namespace) { _ in answered.finish() }
    gate.open()
    await gate.arrival()
    gate.open()
    for await _ in answers {}
    let fixture = IndexFixture(base)
    try await fixture.settle()
    #expect(try fixture.records().map(\.childCount) == [2, 2])
    try fixture.checkIndexEntries()
  }

  @Test("Indexes that come and go among writes leave no places behind, and those that stay are right")
  func comingAndGoing() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    let versions = [Self.rules, "{\"rules\":{\"list\":{\".indexOn\":[\"b/c\"]}}}", "{\"rules\":{}}", IndexFixture.rules]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          var random = RandomTree(seed: 60 + UInt64(writer))
          for _ in 0..<50 {
            let child = Path(keys: [Key(unchecked: "list"), random.key()])
            try await base.write(random.chance(3) ? .remove(child) : .set(child, random.orderable()))
          }
        }
      }
      group.addTask {
        for version in versions + versions { try await fixture.putRules(version) }
      }
      try await group.waitForAll()
    }
    try await fixture.settle()
    try fixture.checkIndexEntries()
    let kept = Set(try fixture.records().map(\.id))
    let last = try #require(kept.max()).rawValue
    for number in 1...last where !kept.contains(IndexID(rawValue: number)) {
      #expect(try fixture.pathCount(of: IndexID(rawValue: number), below: ["list"]) == 0)
    }
  }

  @Test("Patterns with variables and without children are walked through")
  func patterns() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    // Leaves where the pattern wants nodes, keys around the literal ones, priorities, and parents at many places.
    try await base.write(
      .set(
        "users", ["a": 5, "b": ["items": 7], "c": ["item": ["x": 1], "items": ["x": ["a": 1], "y": 2], "itemz": ["x": 1]]]),
      .set("users/d", ["items": ["10": ["a": 1], "9": ["a": "s"], "z": ["a": ["deep": 1]]]]), .set("userz/e/items/x", ["a": 1]),
      .set("list", 4), .setPriority("users/c/items", priority: .scalar(3)), .setPriority("users/d", priority: .scalar("p")))
    try await fixture.putRules()
    try await fixture.settle()
    try fixture.checkIndexEntries()
    let counts = try fixture.records().map { "\($0.pattern) \($0.order) \($0.childCount)" }
    #expect(counts.contains("/users/$uid/items a 5"))
    #expect(counts.contains("/users/$uid .value 5"))
    #expect(counts.contains("/list a 0"))
  }

  @Test("An index of the root's children")
  func root() async throws {
    let base = try await DatabaseFixture()
    defer { base.close() }
    let fixture = IndexFixture(base)
    try await base.write(.set("x", ["a": 3]), .set("y", ["a": 1]), .setPriority(.root, priority: .scalar(1)))
    try await fixture.putRules("{\"rules\":{\".indexOn\":\"a\"}}")
    try await fixture.settle()
    try await base.write(.set("z", ["a": 2]), .remove("x"))
    for limit in [Query.Limit.first(1), .last(1), .first(5)] {
      try fixture.compare(Query(order: .child("a"), limit: limit), at: .root, "\(limit)")
    }
    #expect(try fixture.records().map(\.state) == [.ready])
  }
}
