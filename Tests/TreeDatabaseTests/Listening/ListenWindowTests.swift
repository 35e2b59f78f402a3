import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// What exactly filtered listens are told.
struct ListenWindowTests {
  /// The messages after the snapshot, as text.
  private func told(
    _ query: Query, by operations: [WriteOperation], from tree: TreeNode, reserveMax: Int = 256, format: TreeFormat = .export
  ) async throws -> [String] {
    var limits = ListenLimits()
    limits.reserveMax = reserveMax
    var found: [String] = []
    try await ListenFixture.run(limits: limits) { fixture in
      try await fixture.write(.set("/list", tree))
      let sink = fixture.connect()
      _ = try fixture.listen(sink, "/list", query, format: format)
      _ = await fixture.settled(sink) { _ in }
      for operation in operations { try await fixture.write(operation) }
      found = await fixture.settled(sink) { $0.log }
    }
    return Array(found.dropFirst())
  }

  private static let four: TreeNode = ["a": ["n": 1], "b": ["n": 2], "c": ["n": 3], "d": ["n": 4]]
  private static let lastTwo = Query(order: .child("n"), limit: .last(2))

  @Test(
    "A limit that no node reaches is none, however near it is to the largest number",
    arguments: [Int.max, .max - 1, .max - 255, .max - 256, .max / 2, 1 << 40])
  func hugeLimits(limit: Int) async throws {
    let operations = [WriteOperation.set("/list/e", ["n": 5]), .remove("/list/a")]
    let expected = try await told(Query(order: .child("n"), limit: .first(100)), by: operations, from: Self.four)
    #expect(expected.count == 2)
    for bound in [.first(limit), .last(limit)] as [Query.Limit] {
      #expect(try await told(Query(order: .child("n"), limit: bound), by: operations, from: Self.four) == expected)
    }
  }

  @Test("An insertion evicts and a deletion pulls in the next child, each in one message", arguments: [256, 1, 0])
  func eviction(reserveMax: Int) async throws {
    let told = try await told(
      Self.lastTwo, by: [.set("/list/e", ["n": 5]), .remove("/list/d"), .remove("/list/e"), .remove("/list/c")],
      from: Self.four, reserveMax: reserveMax)
    #expect(
      told == [
        #"merge / {"c":null,"e":{"n":5}}"#, #"merge / {"c":{"n":3},"d":null}"#, #"merge / {"b":{"n":2},"e":null}"#,
        #"merge / {"a":{"n":1},"c":null}"#,
      ])
  }

  @Test("A deep change inside comes as a deep path, one outside not at all; a new order moves children in and out")
  func deepChanges() async throws {
    let told = try await told(
      Self.lastTwo,
      by: [.set("/list/d/x/y", true), .set("/list/a/x/y", true), .set("/list/a/n", 9), .set("/list/a/n", 3.5)], from: Self.four)
    #expect(
      told == [
        #"overwrite d/x/y true"#, #"merge / {"a":{"n":9,"x":{"y":true}},"c":null}"#, #"overwrite a/n 3.5"#,
      ])
  }

  @Test("A write above replaces what differs in the window, in one message")
  func above() async throws {
    let told = try await told(
      Self.lastTwo, by: [.set("/list", ["d": ["n": 4], "x": ["n": 0]]), .set("/", ["other": 1])], from: Self.four)
    #expect(told == [#"merge / {"c":null,"x":{"n":0}}"#, #"merge / {"d":null,"x":null}"#])
  }

  @Test("Bounds alone: who crosses them enters or leaves")
  func bounds() async throws {
    let query = Query(order: .child("n"), start: .start(2), end: .end(3))
    let told = try await told(
      query, by: [.set("/list/a/n", 3), .set("/list/b/n", 1), .set("/list/c/n", 2), .set("/list/d/n", 7)], from: Self.four)
    #expect(told == [#"overwrite a {"n":3}"#, #"overwrite b null"#, #"overwrite c/n 2"#])
  }

  @Test("In order of priority a new priority moves a child, and plain listens are not told of priorities that move none")
  func priorities() async throws {
    let query = Query(order: .priority, start: .start(5))
    let operations: [WriteOperation] = [
      .setPriority("/list/a", priority: .scalar(6)), .setPriority("/list/a", priority: .scalar(7)),
    ]
    #expect(
      try await told(query, by: operations, from: Self.four)
        == [#"overwrite a {"n":1,".priority":6}"#, #"overwrite a/.priority 7"#])
    #expect(try await told(query, by: operations, from: Self.four, format: .plain) == [#"overwrite a {"n":1}"#])
  }

  @Test("A query over a leaf is empty, and over what becomes a leaf too")
  func leaf() async throws {
    let query = Query(order: .key, limit: .first(1))
    let told = try await told(query, by: [.set("/list", 5), .set("/list/b", 1)], from: Self.four)
    #expect(told == [#"overwrite a null"#, #"overwrite b 1"#])
  }
}
