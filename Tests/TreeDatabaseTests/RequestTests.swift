import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// What the door promises of requests: repetition, order, shutting down.
struct RequestTests {
  private func keyed(_ fixture: DatabaseFixture, digest: UInt8, _ operation: WriteOperation) -> CommitRequest {
    var request = CommitRequest(namespace: fixture.namespace, actor: .anonymous, operations: [operation])
    request.idempotency = .init(key: "k", requestDigest: [digest], lifetime: 1000) { Array("r\($0.revision)".utf8) }
    return request
  }

  @Test("A request that is repeated under its key is applied once and answered alike")
  func repetition() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    let request = keyed(fixture, digest: 1, .set("/n", .increment(1)))
    #expect(try await fixture.database.commit(request).replayed == nil)
    let second = try await fixture.database.commit(request)
    #expect(second.replayed?.answer == Array("r1".utf8))
    #expect(try fixture.node("/n") == 1)
    #expect(try fixture.commits().count == 1)
  }

  @Test("A place that must be quiet was not written to since, not even there and back; other places do not matter")
  func quiet() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    func commit(_ operation: WriteOperation, quietSince revision: Revision? = nil) async throws -> CommitReceipt {
      var request = CommitRequest(namespace: fixture.namespace, actor: .anonymous, operations: [operation])
      request.preconditions.unwritten = revision.map { [CommitRequest.Unwritten(path: "/users/a", since: $0)] } ?? []
      return try await fixture.database.commit(request)
    }
    let first = try await commit(.set("/users/a/level", 4))
    _ = try await commit(.set("/users/b/level", 4))
    _ = try await commit(.set("/n", 1), quietSince: first.revision)
    _ = try await commit(.set("/users/a/level", 5))
    _ = try await commit(.set("/users/a/level", 4))
    let refusal = await #expect(throws: CommitError.self) {
      _ = try await commit(.set("/n", 2), quietSince: first.revision)
    }
    #expect(refusal?.message.hasPrefix("/users/a has been written to") == true)
    #expect(try fixture.node("/n") == 1)
  }

  @Test("A place that must be unchanged lost nothing either; a revision of long ago is refused")
  func unchanged() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    func commit(_ operation: WriteOperation, unchangedSince revision: Revision? = nil) async throws -> CommitReceipt {
      var request = CommitRequest(namespace: fixture.namespace, actor: .anonymous, operations: [operation])
      request.preconditions.unchanged = revision.map { [CommitRequest.Unwritten(path: "/users/a", since: $0)] } ?? []
      return try await fixture.database.commit(request)
    }
    let first = try await commit(.set("/users/a", ["level": 4, "name": "A"]))
    _ = try await commit(.set("/users/ab/level", 4))
    let second = try await commit(.set("/users/a/level", 5), unchangedSince: first.revision)
    _ = try await commit(.remove("/users/a/name"))
    let refusal = await #expect(throws: CommitError.self) {
      _ = try await commit(.set("/users/a/level", 6), unchangedSince: second.revision)
    }
    #expect(refusal?.message.hasPrefix("/users/a was changed by revision 4, after 3") == true)
    let last = try await commit(.set("/users/a/level", 6), unchangedSince: Revision(4))
    for value in 1...1001 as ClosedRange<Int64> { _ = try await commit(.set("/n", .leaf(.int(value)))) }
    let old = await #expect(throws: CommitError.self) {
      _ = try await commit(.set("/users/a/level", 7), unchangedSince: last.revision)
    }
    #expect(old?.message.hasPrefix("Too much was written since revision 5") == true)
    #expect(try fixture.node("/users/a") == ["level": 6])
  }

  @Test("Another request under the same key is a conflict, until the key has expired")
  func conflict() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    _ = try await fixture.database.commit(keyed(fixture, digest: 1, .set("/n", 1)))
    await #expect(throws: CommitError.self) {
      _ = try await fixture.database.commit(keyed(fixture, digest: 2, .set("/n", 2)))
    }
    fixture.clock.advance(by: 1001)
    _ = try await fixture.database.commit(keyed(fixture, digest: 2, .set("/n", 2)))
    #expect(try fixture.node("/n") == 2)
  }

  @Test("What was acknowledged is there after the store is opened again")
  func reopening() async throws {
    let folder = TemporaryFolder()
    let first = try await DatabaseFixture(folder: folder)
    for i in 0..<50 { try await first.write(.set(Path(keys: [Key("k\(i)")]), .leaf(.int(Int64(i))))) }
    let expected = try first.node()
    let head = try first.head()
    first.close()
    let second = try await DatabaseFixture(folder: folder)
    defer { second.close() }
    #expect(try second.node() == expected)
    #expect(try second.head() == head)
    try await second.write(.set("/k0", "again"))
    #expect(try second.head().revision == head.revision.next)
  }

  @Test("After the door is closed every request is refused as unavailable")
  func shutDown() async throws {
    let fixture = try await DatabaseFixture()
    fixture.database.shutDown()
    defer { fixture.engine.close() }
    let refusal = await #expect(throws: CommitError.self) { try await fixture.write(.set("/a", 1)) }
    guard case .unavailable = try #require(refusal).code else {
      Issue.record("refused for another reason")
      return
    }
  }

  @Test(
    "A namespace's name is a host's label",
    arguments: [("game", true), ("Game-1", true), ("", false), ("a.b", false), ("a/b", false), ("ü", false)])
  func names(name: String, isLegal: Bool) async throws {
    #expect(NamespaceName.isLegal(name) == isLegal)
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    let opened = try? await fixture.database.openNamespace(named: name)
    #expect((opened != nil) == isLegal)
  }

  @Test("Two namespaces never see each other, and a forgotten one is empty when it comes again")
  func namespaces() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    let other = try await fixture.database.openNamespace(named: "other")
    try await fixture.write(.set("/a", 1))
    _ = try await fixture.database.commit(CommitRequest(namespace: other, actor: .anonymous, operations: [.set("/b", 2)]))
    #expect(try fixture.node() == ["a": 1])
    try await fixture.database.forgetNamespace(named: "game")
    #expect(fixture.database.namespace(named: "game") == nil)
    #expect(try fixture.node() == .absent)
  }

  @Test("What comes behind the end of its namespace is refused and leaves nothing; the new one of that name takes writes")
  func afterwards() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    try await fixture.write(.set("/a", 1))
    try await fixture.database.forgetNamespace(named: "game")
    let refusal = await #expect(throws: CommitError.self) { try await fixture.write(.set("/a", 2)) }
    guard case .unavailable = try #require(refusal).code else {
      Issue.record("refused for another reason: \(String(describing: refusal))")
      return
    }
    #expect(try fixture.head().revision == .zero)
    #expect(try fixture.node() == .absent)
    let again = try await fixture.database.openNamespace(named: "game")
    #expect(again != fixture.namespace)
    let request = CommitRequest(namespace: again, actor: .anonymous, operations: [.set("/a", 3)])
    #expect(try await fixture.database.commit(request).revision == Revision(1))
  }
}
