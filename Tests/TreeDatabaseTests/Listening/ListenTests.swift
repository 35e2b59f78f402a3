import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// What listens of whole nodes are told.
struct ListenTests {
  private func told(
    at path: Path, by operations: [WriteOperation], from tree: TreeNode = .absent, format: TreeFormat = .export
  ) async throws -> [String] {
    var found: [String] = []
    try await ListenFixture.run { fixture in
      try await fixture.write(.set("/", tree))
      let sink = fixture.connect()
      _ = try fixture.listen(sink, path, format: format)
      _ = await fixture.settled(sink) { _ in }
      for operation in operations { try await fixture.write(operation) }
      found = await fixture.settled(sink) { $0.log }
    }
    return found
  }

  @Test("First the node; then sets at and below it as they were made, and nothing of what happens elsewhere")
  func sets() async throws {
    let told = try await told(
      at: "/a",
      by: [.set("/a/b", ["c": 1, "d": 2]), .set("/x", 1), .set("/a/b", ["c": 1, "d": 3]), .remove("/a/b/c"), .set("/a", 5)],
      from: ["a": ["z": 0]])
    #expect(
      told == [
        #"snapshot {"z":0}"#, #"overwrite b {"c":1,"d":2}"#, #"overwrite b {"c":1,"d":3}"#, "overwrite b/c null",
        "overwrite / 5",
      ])
  }

  @Test("A write above gives the new value; one that leaves it as it was gives nothing")
  func above() async throws {
    let told = try await told(
      at: "/a/b", by: [.set("/", ["a": ["b": 1, "c": 1]]), .set("/a", ["b": 1, "c": 2]), .remove("/a")], from: ["a": ["b": 0]])
    #expect(told == ["snapshot 0", "overwrite / 1", "overwrite / null"])
  }

  @Test("A multi-path update is one merge, at the place that was updated or at the listen")
  func updates() async throws {
    let update = try WriteOperation.update(
      "/a", [.init(path: "/a/b", value: .node(WriteNode(1))), .init(path: "/a/c/d", value: .node(.timestamp))])
    let operations = [update, .remove("/a")]
    let at = DatabaseFixture.start
    #expect(
      try await told(at: "/", by: operations) == ["snapshot null", #"merge a {"b":1,"c/d":\#(at)}"#, "overwrite a null"])
    #expect(
      try await told(at: "/a", by: operations) == ["snapshot null", #"merge / {"b":1,"c/d":\#(at)}"#, "overwrite / null"])
    #expect(try await told(at: "/a/c", by: operations) == ["snapshot null", #"merge / {"d":\#(at)}"#, "overwrite / null"])
    #expect(try await told(at: "/a/b", by: operations) == ["snapshot null", "overwrite / 1", "overwrite / null"])
  }

  @Test("Priorities are shown to those who see them")
  func priorities() async throws {
    let operations: [WriteOperation] = [.setPriority("/a", priority: .scalar(3)), .setPriority("/a/b", priority: .scalar("x"))]
    #expect(
      try await told(at: "/a", by: operations, from: ["a": ["b": 1]])
        == [#"snapshot {"b":1}"#, "overwrite .priority 3", #"overwrite b/.priority "x""#])
    #expect(try await told(at: "/a", by: operations, from: ["a": ["b": 1]], format: .plain) == [#"snapshot {"b":1}"#])
  }

  @Test("A merge that leaves nothing old in a node with a priority comes as the whole node, in whichever order it was written")
  func renewed() async throws {
    let old = WriteOperation.Assignment(path: "/a/x", value: .node(.absent))
    let new = WriteOperation.Assignment(path: "/a/y", value: .node(WriteNode(2)))
    let tree: TreeNode = ["a": TreeNode((["x": 1] as TreeNode).content, priority: 7)]
    let kept = try await told(at: "/", by: [.update("/", [new, old])], from: tree)
    #expect(kept.last == #"merge / {"a":{"y":2,".priority":7}}"#)
    let untouched: TreeNode = ["a": TreeNode((["w": 0, "x": 1] as TreeNode).content, priority: 7)]
    let merged = try await told(at: "/", by: [.update("/", [new, old])], from: untouched)
    #expect(merged.last == #"merge / {"a/x":null,"a/y":2}"#)
  }

  @Test("Who says what it holds is told that it is current, if it is")
  func hashes() async throws {
    try await ListenFixture.run { fixture in
      try await fixture.write(.set("/a", ["b": 1, "c": "x"]))
      let sink = fixture.connect()
      let node: TreeNode = ["b": 1, "c": "x"]
      for (path, query, hash) in [
        ("/a", nil, node.dataHash), ("/nothing", nil, ""), ("/a", nil, "other"),
        ("/a", Query(order: .key, limit: .last(1)), (["c": "x"] as TreeNode).dataHash),
      ] as [(Path, Query?, String)] {
        _ = try fixture.listen(sink, path, query, hash: hash)
        _ = await fixture.settled(sink) { _ in }
      }
      #expect(await fixture.settled(sink) { $0.log } == ["current", "current", #"snapshot {"b":1,"c":"x"}"#, "current"])
    }
  }

  @Test("10,000 listens of one place share one message, and one that stopped is told nothing more")
  func many() async throws {
    try await ListenFixture.run { fixture in
      let sinks = (0..<100).map { fixture.connect($0 % 2) }
      for (index, sink) in sinks.enumerated() {
        try fixture.executors[index % 2].sync {
          for _ in 0..<100 {
            _ = try #require(sink.begin(ListenRequest(namespace: fixture.namespace, path: "/a", format: .export)))
          }
        }
      }
      for (index, sink) in sinks.enumerated() { _ = await fixture.settled(sink, executor: index % 2) { _ in } }
      #expect(fixture.hub.counts.deliveries == 10_000 && fixture.hub.counts.listens == 10_000)
      fixture.executors[0].sync { sinks[0].listener?.close() }
      let flushes = sinks.enumerated().map { index, sink in fixture.executors[index % 2].sync { sink.flushes } }
      try await fixture.write(.set("/a", 1))
      var messages: Set<ObjectIdentifier> = []
      for (index, sink) in sinks.enumerated().dropFirst() {
        messages.formUnion(await fixture.settled(sink, executor: index % 2) { $0.changes.map(ObjectIdentifier.init) })
        // One for the hundred changes, and one for the requests that waited for them.
        #expect(fixture.executors[index % 2].sync { sink.flushes } <= flushes[index] + 2)
      }
      #expect(messages.count == 1)
      #expect(fixture.executors[0].sync { sinks[0].events } == 100)
      #expect(fixture.hub.counts.deliveries == 19_900 && fixture.hub.counts.listens == 9900)
    }
  }

  @Test("A client that reads nothing is sent a bounded amount, then fresh snapshots; others are not held up")
  func slow() async throws {
    var limits = ListenLimits()
    limits.outstandingBytesMax = 1000
    try await ListenFixture.run(limits: limits) { fixture in
      let (slow, quick) = (fixture.connect(), fixture.connect())
      fixture.executors[0].sync { slow.isStalled = true }
      for sink in [slow, quick] { _ = try fixture.listen(sink, "/a") }
      for sink in [slow, quick] { _ = await fixture.settled(sink) { _ in } }
      let text = TreeNode.leaf(.string(String(repeating: "x", count: 100)))
      for number in 0..<50 { try await fixture.write(.set(Path(keys: [Key("a"), Key("k\(number)")]), text)) }
      #expect(await fixture.settled(quick) { $0.changes.count } == 50)
      #expect(fixture.executors[0].sync { slow.unwritten } <= 1200)
      fixture.executors[0].sync { slow.read() }
      let tree = try fixture.states().last?["a"]
      #expect(await fixture.settled(slow) { $0.mirrors.values.map(\.tree.root) } == [try #require(tree)])
      #expect(fixture.hub.counts.resyncs == 1)
    }
  }

  @Test("A listener that registers while its delivery queue is about to restart still receives every commit")
  func late() async throws {
    var limits = ListenLimits()
    limits.executorBytesMax = 300
    try await ListenFixture.run(limits: limits) { fixture in
      let (first, late, other) = (fixture.connect(), fixture.connect(), fixture.connect(1))
      _ = try fixture.listen(first, "/a")
      _ = await fixture.settled(first) { _ in }
      let executor = fixture.executors[0]
      let request = ListenRequest(namespace: fixture.namespace, path: "/a", format: .export)
      let open = executor.block()
      let begun = Latch()
      executor.execute {
        _ = late.begin(request)
        begun.open()
      }
      let openAgain = executor.block()
      try await fixture.write(.set("/a/text", .leaf(.string(String(repeating: "x", count: 400)))))
      try await fixture.write(.set("/a/more", 1))
      // The queue is to restart, and is held up before it. A listener registers, and its snapshot is read.
      open()
      await begun.wait()
      _ = try fixture.listen(other, "/a", executor: 1)
      _ = await fixture.settled(other, executor: 1) { _ in }
      try await fixture.write(.set("/a/last", 2))
      _ = await fixture.settled(other, executor: 1) { _ in }
      openAgain()
      let states = try fixture.states()
      for (index, sink) in [first, late, other].enumerated() {
        let differences = await fixture.settled(sink, executor: index / 2) {
          $0.mirrors.values.map { $0.differences(from: states) }
        }
        #expect(differences == [[]])
      }
    }
  }

  @Test("A forgotten namespace and a revoked right end listens, once")
  func endings() async throws {
    try await ListenFixture.run { fixture in
      let (first, second) = (fixture.connect(), fixture.connect(1))
      _ = try fixture.listen(first, "/a")
      _ = try fixture.listen(second, "/a", executor: 1)
      _ = await fixture.settled(first) { _ in }
      fixture.executors[1].sync { second.isRevoked = true }
      fixture.hub.review()
      #expect(await fixture.settled(second, executor: 1) { $0.mirrors.values.map(\.end) } == [.revoked])
      try await fixture.database.forgetNamespace(named: "game")
      #expect(await fixture.settled(first) { $0.mirrors.values.map(\.end) } == [.namespaceForgotten])
      #expect(fixture.executors[1].sync { second.log.filter { $0 == "ended" } } == ["ended"])
      _ = await fixture.settled(first) { _ in }
      #expect(fixture.hub.counts.listens == 0)
    }
  }

  @Test("A listen that comes after its namespace was forgotten ends too; one of the new namespace of that name does not")
  func afterwards() async throws {
    try await ListenFixture.run { fixture in
      try await fixture.database.forgetNamespace(named: "game")
      let (late, fresh) = (fixture.connect(), fixture.connect(1))
      _ = try fixture.listen(late, "/a")
      #expect(await fixture.settled(late) { $0.mirrors.values.map(\.end) } == [.namespaceForgotten])
      let namespace = try await fixture.database.openNamespace(named: "game")
      let request = ListenRequest(namespace: namespace, path: "/a", format: .export)
      _ = try fixture.executors[1].sync { try #require(fresh.begin(request)) }
      #expect(await fixture.settled(fresh, executor: 1) { $0.log } == ["snapshot null"])
      _ = await fixture.settled(late) { _ in }
      #expect(fixture.hub.counts.listens == 1)
    }
  }

  @Test("More data than a listen may hold end it with the reason")
  func tooLarge() async throws {
    var limits = ListenLimits()
    limits.leavesMax = 2
    try await ListenFixture.run(limits: limits) { fixture in
      try await fixture.write(.set("/a", ["b": 1, "c": 2, "d": 3]))
      let sink = fixture.connect()
      _ = try fixture.listen(sink, "/a")
      #expect(await fixture.settled(sink) { $0.mirrors.values.map(\.end) } == [.tooLarge])
    }
  }
}
