import AccessRules
import StorageCore
import StorageSQLite
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import TreeDatabase

/// What rules see on the writer, and what they decide there.
struct ProposedTreeTests {
  /// Compares, before an operation is applied, what rules would see at many places with the trees before and after.
  final class Looking: CommitParticipant {
    struct Trees: Sendable {
      let operation: WriteOperation
      let before: TreeNode
      let after: TreeNode
      let paths: [Path]
    }

    let trees = Mutex<Trees?>(nil)
    let looked = Atomic<Int>(0)

    /// Asked in a request without operations: nothing is staged.
    func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) -> [WriteOperation.Assignment] {
      guard request.operations.isEmpty, let trees = trees.withLock({ $0 }) else { return [] }
      let proposed = ProposedTree(session, request.namespace, trees.operation, at: time)
      do {
        for path in trees.paths {
          for (side, tree) in [(RuleSide.before, trees.before), (.after, trees.after)] {
            let node = tree[path]
            let found = try proposed.read(at: PathBytes(path), side: side)
            #expect(found == RuleRead(node), "\(path) \(side) \(trees.operation)")
            #expect(
              try proposed.priority(at: PathBytes(path), side: side) == node.priority, "\(path) \(side) \(trees.operation)")
          }
        }
      } catch {
        Issue.record("\(error)")
      }
      looked.add(1, ordering: .relaxed)
      return []
    }

    func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {}
  }

  @Test("Rules see the trees before and after an operation, at every place", arguments: [1, 2] as [UInt64])
  func sides(seed: UInt64) async throws {
    let looking = Looking()
    let fixture = try await DatabaseFixture(participants: [looking])
    defer { fixture.close() }
    var random = RandomTree(seed: seed)
    // Few keys, so that places meet.
    let keys = ["a", "b", "1"].map { Key(unchecked: $0) }
    func path(_ depthMax: Int) -> Path {
      Path(keys: (0..<Int.random(in: 0...depthMax, using: &random.random)).map { _ in random.pick(keys) })
    }
    func node(_ depth: Int) -> TreeNode {
      if depth == 0 || random.chance(3) {
        return random.chance(4) ? .absent : .leaf(random.scalar(), priority: random.priority())
      }
      return .map(
        TreeMap(keys.compactMap { random.chance(2) ? nil : TreeMap.Entry(key: $0, node: node(depth - 1)) }),
        priority: random.priority())
    }
    let paths = keys.reduce(into: [Path.root, "c"]) { found, first in
      found.append(Path(keys: [first]))
      for second in keys { for third in keys { found += [Path(keys: [first, second]), Path(keys: [first, second, third])] } }
    }
    var model = NaiveTree()
    for _ in 0..<150 {
      var next = model
      let operation: WriteOperation
      switch Int.random(in: 0..<6, using: &random.random) {
      case 0:
        let place = path(3)
        let priority = random.priority()
        guard next.setPriority(place, to: priority) else { continue }
        operation = .setPriority(place, priority: .scalar(priority))
      case 1:
        let depth = random.chance(2) ? 2 : 0
        let first = random.pick(keys)
        let parts = keys.dropLast(random.chance(2) ? 1 : 0).map { key in
          (Path(keys: depth == 0 ? [first, key] : [key]), random.chance(2) ? TreeNode.absent : node(depth))
        }
        for (place, node) in parts { next.set(place, to: node) }
        operation = try .update(.root, parts.map { .init(path: $0.0, value: .node(WriteNode($0.1))) })
      default:
        let place = path(3)
        let written = random.chance(4) ? .absent : node(3 - place.depth)
        next.set(place, to: written)
        operation = .set(place, written)
      }
      looking.trees.withLock {
        $0 = Looking.Trees(operation: operation, before: model.root, after: next.root, paths: paths)
      }
      try await fixture.write()
      try await fixture.write(operation)
      model = next
      #expect(try fixture.node() == model.root)
    }
    #expect(looking.looked.load(ordering: .relaxed) > 60)
  }

  @Test("Server values are filled in where rules look at them")
  func serverValues() async throws {
    let looking = Looking()
    let fixture = try await DatabaseFixture(participants: [looking])
    defer { fixture.close() }
    try await fixture.write(.set("n", ["a": 5, "b": .leaf(1, priority: 7)]))
    let json: JSON = [
      "a": [".sv": ["increment": 2]], "b": [".value": 0, ".priority": [".sv": ["increment": 1]]], "c": [".sv": "timestamp"],
    ]
    let operation = try WriteOperation.set(PathTarget(path: "n"), json: json)
    let after: TreeNode = ["n": ["a": 7, "b": .leaf(0, priority: 8), "c": .leaf(.int(DatabaseFixture.start))]]
    looking.trees.withLock {
      $0 = Looking.Trees(
        operation: operation, before: ["n": ["a": 5, "b": .leaf(1, priority: 7)]], after: after,
        paths: ["n", "n/a", "n/b", "n/c"])
    }
    try await fixture.write()
    try await fixture.write(operation)
    #expect(try fixture.node() == after)
    #expect(looking.looked.load(ordering: .relaxed) == 1)
  }

  @Test("A refused write puts nothing into the batch, however much it brings")
  func nothingStaged() async throws {
    let pending = Pending()
    let fixture = try await DatabaseFixture(participants: [pending])
    defer { fixture.close() }
    try await fixture.database.putRules(Self.rules, rules: try RuleSet(parsing: Self.rules), in: fixture.namespace)
    let many = TreeNode.map(TreeMap((0..<5000).map { TreeMap.Entry(key: Key(unchecked: String($0)), node: 1) }))
    let paths = try (0..<5000).map {
      WriteOperation.Assignment(path: try Path(parsing: "users/eve/\($0)"), value: .node(.increment(1)))
    }
    for operation in [.set("users/eve", many), try .update(.root, paths)] as [WriteOperation] {
      let requests = [
        Self.request(fixture, "bob", operation),
        CommitRequest(namespace: fixture.namespace, actor: .admin("test"), operations: [.set("x", 1)]),
      ]
      // Tried one after the other in one batch: the second sees what the first has left there.
      let results = await withCheckedContinuation { continuation in
        fixture.database.rehearse(requests) { continuation.resume(returning: $0) }
      }
      #expect(results.map { (try? $0.get()) != nil } == [false, true])
    }
    #expect(pending.most.load(ordering: .relaxed) < 10)
  }

  /// Notes how much a batch holds.
  private final class Pending: CommitParticipant {
    let most = Atomic<Int>(0)

    func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) -> [WriteOperation.Assignment] {
      most.max(session.pendingLeaves, ordering: .relaxed)
      return []
    }

    func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {}
  }

  private static let rules = """
    {"rules": {"users": {"$uid": {
      ".write": "auth.uid === $uid",
      "level": {".validate": "newData.val() === (data.exists() ? data.val() + 1 : 1)"},
      "seen": {".validate": "newData.val() === now"}
    }}}}
    """

  private static func request(_ fixture: DatabaseFixture, _ uid: String?, _ operation: WriteOperation) -> CommitRequest {
    let user = uid.map { AuthVariable(json: ["uid": .string($0)]) }
    var request = CommitRequest(namespace: fixture.namespace, actor: user?.actor ?? .anonymous, operations: [operation])
    request.access.auth = user
    return request
  }

  @Test("Writes of clients are judged on the state that they are applied to; those of others are not judged")
  func writer() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.database.putRules(Self.rules, rules: try RuleSet(parsing: Self.rules), in: fixture.namespace)
    // Sent together, they share a batch: each sees the ones before it.
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 {
        group.addTask { (try? await fixture.database.commit(Self.request(fixture, "bob", .set("users/bob/level", 1)))) != nil }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(outcomes == 1)
    for (uid, operation, isAllowed) in [
      ("bob", .set("users/bob/level", 2), true), ("bob", .set("users/bob/level", 4), false),
      (nil, .set("users/bob/level", 3), false),
      ("eve", .set("users/bob/level", 3), false), ("bob", .set("users/bob/seen", .timestamp), true),
      ("bob", .remove("users/bob"), true),
      ("bob", .set("users", ["bob": ["level": 1]]), false),
    ] as [(String?, WriteOperation, Bool)] {
      let result = try? await fixture.database.commit(Self.request(fixture, uid, operation))
      #expect((result != nil) == isAllowed, "\(uid ?? "nobody") \(operation)")
    }
    try await fixture.write(.set("users/bob/level", 9))
    for actor in [Actor.function("f"), .system("import")] {
      _ = try await fixture.database.commit(
        CommitRequest(namespace: fixture.namespace, actor: actor, operations: [.set("users/bob/level", 100)]))
    }
  }

  @Test("What a client's request expects is looked at also where it writes nothing to the tree")
  func expectationsAlone() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.database.putRules(Self.rules, rules: try RuleSet(parsing: Self.rules), in: fixture.namespace)
    try await fixture.write(.set("users/bob/level", 1))
    for (expected, isMet) in [(1, true), (2, false)] as [(TreeNode, Bool)] {
      var request = CommitRequest(namespace: fixture.namespace, actor: .user(uid: "bob"))
      request.preconditions.expectations = [CommitRequest.Expectation(path: "users/bob/level", node: expected)]
      #expect(((try? await fixture.database.commit(request)) != nil) == isMet)
    }
  }

  @Test("A note gets the reasons of a denial, and those of what is allowed only if they are wanted")
  func notes() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.database.putRules(Self.rules, rules: try RuleSet(parsing: Self.rules), in: fixture.namespace)
    for (uid, isAlwaysWanted, isNoted) in [("bob", false, false), ("bob", true, true), ("eve", false, true)] {
      var request = Self.request(fixture, uid, .set("users/bob/name", "x"))
      let note = RuleDecisionNote(isAlwaysWanted: isAlwaysWanted)
      request.access.note = note
      _ = try? await fixture.database.commit(request)
      #expect((note.judgement != nil) == isNoted && note.judgement?.isAllowed ?? true == (uid == "bob"))
    }
  }

  @Test("A watch tells of commits at its places and below, and of no others, until it is let go")
  func watch() async throws {
    let hub = ListenerHub(engine: try SQLiteEngine.inMemory())
    defer { hub.stop() }
    let told = Atomic<Int>(0)
    let fixture = try await DatabaseFixture(observers: [hub])
    defer { fixture.close() }
    var watching: PathWatching? = hub.watch.watch([PathBytes("a/b"), PathBytes("c").priority], in: fixture.namespace) {
      told.add(1, ordering: .relaxed)
    }
    for (operation, count) in [
      (.set("a/b", 1), 1), (.set("a/b/c/d", 1), 2), (.set("a/x", 1), 2), (.set("a", ["x": 2]), 3), (.set("c", 1), 3),
      (.setPriority("c", priority: .scalar(5)), 4), (.remove(.root), 5),
    ] as [(WriteOperation, Int)] {
      try await fixture.write(operation)
      #expect(told.load(ordering: .relaxed) == count, "\(operation)")
    }
    #expect(watching != nil)
    watching = nil
    try await fixture.write(.set("a/b", 1))
    #expect(told.load(ordering: .relaxed) == 5)
  }
}
