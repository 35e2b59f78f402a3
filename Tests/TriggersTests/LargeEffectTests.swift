import FunctionsKit
import RewardModel
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeModel

@testable import Triggers

@Suite struct LargeEffectTests {
  @Test("A commit's entries are all found, be they more than one look takes")
  func entries() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "party") { _, context in
        for number in 0..<1_001 {
          try await context.credit(Users.coins, try #require(UserID("p\(number)")), amount: 1, code: "party")
        }
        return .done
      }
    }
    try await fixture.set("/users/bob/level", 7)
    try await fixture.drain()
    let effect = try #require(try fixture.executions().first?.effect)
    let found = try fixture.engine.read { (snapshot) throws(StorageError) in
      try snapshot.entries(in: fixture.namespace, of: effect)
    }
    #expect(found.count == 1_001 && Set(found.map(\.sequence)).count == 1_001)
    await fixture.close()
  }
}
