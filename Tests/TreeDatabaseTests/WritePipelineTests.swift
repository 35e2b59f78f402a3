import StorageCore
import StorageSQLite
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// What a write does to the tree.
struct WritePipelineTests {
  @Test("A set replaces value and priority; an update leaves what it does not name")
  func setAndUpdate() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.write(.set("/a", prioritised(["x": 1, "y": 2], 3)))
    try await fixture.write(
      .update(
        "/a", [.init(path: "/a/x", value: .node(WriteNode(10))), .init(path: "/a/deep/er", value: .node(WriteNode("z")))]))
    #expect(try fixture.node("/a") == prioritised(["x": 10, "y": 2, "deep": ["er": "z"]], 3))
    try await fixture.write(.set("/a", ["y": 5]))
    #expect(try fixture.node() == ["a": ["y": 5]])
  }

  @Test("Null, an empty map and a map of nulls delete, and empty parents vanish with their priorities")
  func deletion() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.write(.set("/a/b", prioritised(["c": 1], "p")))
    try await fixture.write(.setPriority("/a", priority: .scalar(7)))
    try await fixture.write(.set("/a/b/c", TreeNode.absent))
    #expect(try fixture.node() == .absent)
    #expect(try fixture.head().revision == Revision(3))
  }

  @Test("A child under a leaf turns the leaf into a map and keeps its priority")
  func childUnderLeaf() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.write(.set("/a", .leaf("x", priority: 2)))
    try await fixture.write(.set("/a/b/c", 1))
    #expect(try fixture.node() == ["a": prioritised(["b": ["c": 1]], 2)])
  }

  @Test("A priority on an absent node is refused, and nothing changes")
  func priorityOnNothing() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    await #expect(throws: CommitError.self) { try await fixture.write(.setPriority("/a", priority: .scalar(1))) }
    #expect(try fixture.head().revision == .zero)
  }

  @Test(
    "What one request changes and changes back is as it was, for reads of the past too", arguments: [false, true])
  func changedBack(_ isAmongOthers: Bool) async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.write(.set("/a", ["x": "idle", "y": 1]))
    try await fixture.write(.set("/b", 2))
    var request = CommitRequest(
      namespace: fixture.namespace, actor: .anonymous,
      operations: [.set("/a/x", "busy"), .set("/a/x", "idle"), .remove("/a/y"), .set("/a/y", 1)])
    if isAmongOthers { request.operations.append(.set("/c", 3)) }
    let receipt = try await fixture.database.commit(request)
    #expect(receipt.changed == isAmongOthers)
    for revision in 1...(isAmongOthers ? 3 : 2) as ClosedRange<Int64> {
      let leaves = try fixture.engine.read { (snapshot) throws(StorageError) in
        try snapshot.leaves(in: fixture.namespace, under: PathBytes("/a" as Path), asOf: Revision(revision), limit: 9)
      }
      #expect(leaves.map(\.leaf.scalar) == [.string("idle"), .int(1)])
      #expect(leaves.map(\.revision) == [Revision(1), Revision(1)])
    }
  }

  @Test("What a write removes is bounded by its bytes, because its record holds them")
  func bytesRemoved() async throws {
    let fixture = try await DatabaseFixture(limits: WriteLimits(bytesMax: 1000))
    defer { fixture.close() }
    let text = TreeNode.leaf(.string(String(repeating: "x", count: 900)))
    for number in 0..<12 { try await fixture.write(.set(Path(parsing: "/many/k\(number)"), text)) }
    let refusal = await #expect(throws: CommitError.self) { try await fixture.write(.remove("/many")) }
    #expect(refusal.map { if case .tooLarge = $0.code { true } else { false } } == true)
    #expect(try fixture.node("/many").children.count == 12)
    for number in 0..<6 { try await fixture.write(.remove(Path(parsing: "/many/k\(number)"))) }
    try await fixture.write(.remove("/many"))
    #expect(try fixture.node() == .absent)
  }

  @Test("A write that changes nothing makes no commit; 5 and 5.0 are the same")
  func unchanged() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.write(.set("/a", 5))
    let receipt = try await fixture.write(.set("/a", 5.0))
    #expect(!receipt.changed)
    #expect(receipt.revision == Revision(1))
    #expect(try fixture.commits().count == 1)
  }

  @Test("One reading of the clock serves every timestamp of an operation")
  func timestamps() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    let operation = try WriteOperation.update(
      .root, [.init(path: "/a", value: .node(.timestamp)), .init(path: "/b", value: .node(.timestamp))])
    let receipt = try await fixture.write(operation)
    #expect(receipt.resolved == [.leaf(.int(DatabaseFixture.start)), .leaf(.int(DatabaseFixture.start))])
  }

  @Test("100 increments at once sum exactly")
  func increments() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { try await fixture.write(.set("/n", .increment(3))) } }
      try await group.waitForAll()
    }
    #expect(try fixture.node("/n") == 300)
  }

  @Test("A stale compare-and-set tells the current value and writes nothing; a fitting one writes")
  func compareAndSet() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.write(.compareAndSet("/a", expectedHash: "", node: WriteNode(1)))
    let refusal = await #expect(throws: CommitError.self) {
      try await fixture.write(.compareAndSet("/a", expectedHash: "", node: WriteNode(2)))
    }
    guard case .stale(let current) = try #require(refusal).code else {
      Issue.record("refused for another reason: \(String(describing: refusal))")
      return
    }
    #expect(current == 1)
    try await fixture.write(.compareAndSet("/a", expectedHash: current.dataHash, node: WriteNode(2)))
    #expect(try fixture.node("/a") == 2)
  }

  @Test("A refused operation leaves no trace of those before it in the same request")
  func atomicity() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    await #expect(throws: CommitError.self) {
      try await fixture.write(.set("/a", 1), .setPriority("/nothing", priority: .scalar(1)))
    }
    #expect(try fixture.node() == .absent)
    #expect(try fixture.commits().isEmpty)
  }

  @Test("A write over the limit is refused with the hosted service's words")
  func tooLarge() async throws {
    var limits = WriteLimits()
    limits.leavesMax = 3
    let fixture = try await DatabaseFixture(limits: limits)
    defer { fixture.close() }
    let refusal = await #expect(throws: CommitError.self) {
      try await fixture.write(.set("/a", ["a": 1, "b": 2, "c": 3, "d": 4]))
    }
    #expect(
      refusal?.message == "Data to write exceeds the maximum size that can be modified with a single request.")
    #expect(try fixture.head().revision == .zero)
  }

  @Test("A node of more leaves than one request may change is not replaced in part")
  func tooLargeToReplace() async throws {
    var limits = WriteLimits()
    limits.leavesMax = 3
    let fixture = try await DatabaseFixture(limits: limits)
    defer { fixture.close() }
    for key in ["a", "b", "c", "d", "e"] { try await fixture.write(.set(Path(parsing: "/n/\(key)"), 1)) }
    let before = try fixture.head().revision
    for node in [["a": 1], ["a": 2], .absent] as [TreeNode] {
      let refusal = await #expect(throws: CommitError.self) { try await fixture.write(.set("/n", WriteNode(node))) }
      guard case .tooLarge? = refusal?.code else {
        Issue.record("\(String(describing: refusal))")
        continue
      }
    }
    #expect(try fixture.head().revision == before)
    #expect(try fixture.node("/n") == ["a": 1, "b": 1, "c": 1, "d": 1, "e": 1])
  }

  @Test("Commit time never runs backwards, and each record is chained to the one before")
  func chain() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    for value in 1...5 {
      try await fixture.write(.set("/a", .leaf(.int(Int64(value)))))
      fixture.clock.advance(by: 10)
    }
    let commits = try fixture.commits()
    #expect(commits.map(\.revision.rawValue) == [1, 2, 3, 4, 5])
    #expect(commits.map(\.time) == commits.map(\.time).sorted())
    var previous = NamespaceHead.genesisHash
    for commit in commits {
      #expect(
        commit.hash
          == CommitRecord.chainHash(
            previous: previous, epoch: commit.epoch, revision: commit.revision, time: commit.time, actor: commit.actor,
            requestID: commit.requestID, cause: commit.cause, suppressesTriggers: commit.suppressesTriggers,
            digest: CommitRecord.digest(of: try #require(commit.changes))))
      previous = commit.hash
    }
  }
}

/// The node with a priority.
private func prioritised(_ node: TreeNode, _ priority: Scalar) -> TreeNode {
  TreeNode(node.content, priority: priority)
}

@Suite struct BatchTests {
  /// How many commits each batch had.
  private final class Sizes: CommitObserver {
    let all = Mutex<[Int]>([])

    func didCommit(_ batch: [CommittedRequest]) {
      all.withLock { $0.append(batch.count) }
    }
  }

  @Test("a batch takes requests until it has many of them, or they touched many leaves", .timeLimit(.minutes(5)))
  func ends() async throws {
    for (limits, left, largest) in [
      (WriteLimits(), 0, 6), (WriteLimits(batchMax: 4), 2, 4), (WriteLimits(batchLeavesMax: 5), 4, 2),
    ] {
      let (gate, sizes) = (WriterGate(), Sizes())
      let base = try await DatabaseFixture(observers: [sizes, gate], limits: limits)
      gate.close(base.database, in: base.namespace, round: 1)
      await gate.arrival()
      // The batch before is held up: nothing is written, and the writer judges as many as a batch takes.
      for place in ["/a", "/b", "/c", "/d", "/e", "/f"] as [Path] {
        let operation = WriteOperation.set(place, ["x": 1, "y": 2, "z": 3])
        base.database.submit(CommitRequest(namespace: base.namespace, actor: .admin("test"), operations: [operation])) { _ in }
      }
      while base.database.queueDepth > left { await Task.yield() }
      gate.open()
      // Ends when everything is written and told.
      base.close()
      let found = sizes.all.withLock(\.self)
      #expect(found.first == 1 && found.dropFirst().first == largest && found.max() == largest && found.reduce(0, +) == 7)
    }
  }
}
