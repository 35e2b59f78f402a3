import AccessRules
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeModel

@testable import TreeDatabase

/// The versions of a namespace's rules, written where the rules are replaced.
struct RulesHistoryTests {
  private static func source(_ number: Int) -> String { #"{"rules":{".read":"now > \#(number)"}}"# }

  private static func history(_ fixture: DatabaseFixture) throws -> RulesHistory {
    try fixture.engine.read { (snapshot) throws(StorageError) in try RulesHistory(of: fixture.namespace, in: snapshot) }
  }

  private static func source(_ version: RulesVersion, _ fixture: DatabaseFixture) throws -> String? {
    try fixture.engine.read { (snapshot) throws(StorageError) in
      try RulesHistory.source(version.hash, of: fixture.namespace, in: snapshot)
    }
  }

  private static func put(_ number: Int, as change: RulesChange, _ fixture: DatabaseFixture) async throws -> RulesOutcome {
    let source = source(number)
    return try await fixture.database.putRules(source, rules: RuleSet(parsing: source), in: fixture.namespace, as: change)
  }

  @Test("Rules that were put before there was a history are its first version, and stay readable when others take their place")
  func found() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    #expect(try Self.history(fixture).versions.isEmpty)
    // As a version of the program without a history would have put them.
    let namespace = fixture.namespace
    await withCheckedContinuation { done in
      fixture.database.run { (session) throws(StorageError) in
        session.put(RulesRecord(source: Self.source(1), updatedAt: 77, lastIndex: 0), in: namespace)
      } completion: { _ in
        done.resume()
      }
    }
    let found = try #require(try Self.history(fixture).versions.first)
    #expect(found.way == .found && found.number == 1 && found.time == 77 && found.actor == nil)
    #expect(found.hash == RulesHistory.hash(of: Self.source(1)))
    let change = RulesChange(by: .admin("ann"), reason: "why", ifHash: found.hash)
    guard case .replaced(let put) = try await Self.put(2, as: change, fixture) else {
      Issue.record("not replaced")
      return
    }
    #expect(put.number == 2 && put.actor == "admin:ann" && put.reason == "why")
    let versions = try Self.history(fixture).versions
    #expect(versions == [found, put])
    #expect(try versions.map { try Self.source($0, fixture) } == [Self.source(1), Self.source(2)])
  }

  @Test("The condition is judged where the rules are replaced: of many who begin with the same version one comes through")
  func condition() async throws {
    let fixture = try await DatabaseFixture()
    defer { fixture.close() }
    let outcomes = try await withThrowingTaskGroup(of: RulesOutcome.self) { group in
      for number in 1...20 {
        group.addTask {
          try await Self.put(number, as: RulesChange(by: .admin("a\(number)"), ifHash: RulesChange.none), fixture)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let conflicts = outcomes.count { if case .conflict(.some) = $0 { true } else { false } }
    #expect(conflicts == 19)
    #expect(try Self.history(fixture).versions.count == 1)
    let current = try #require(try Self.history(fixture).versions.first)
    #expect(fixture.database.catalog.source(of: fixture.namespace)?.hash == current.hash)
  }

  @Test("What holds already makes no version; a restart finds the history as it was")
  func restart() async throws {
    let folder = TemporaryFolder()
    let first = try await DatabaseFixture(folder: folder)
    for number in [1, 1, 2, 1] {
      _ = try await Self.put(number, as: RulesChange(by: .admin("ann"), way: .configuration), first)
    }
    let versions = try Self.history(first).versions
    #expect(versions.map(\.number) == [1, 2, 3] && versions[0].hash == versions[2].hash)
    first.close()
    let second = try await DatabaseFixture(folder: folder)
    defer { second.close() }
    #expect(try Self.history(second).versions == versions)
    #expect(try second.engine.check().faults.isEmpty)
  }
}
