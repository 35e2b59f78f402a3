import DoubloonTesting
import OwnGameFunctions
import Testing

struct TreasureHuntTests {
  @Test("A chest pays the pirate and the captain, once")
  func chest() async throws {
    try await TestServer.run(treasureHunt, tree: ["pirates": ["jim": ["captain": "silver"]]]) { server in
      let write = try await server.set("/pirates/jim/chests/c1", "opened", as: .user("jim"))
      #expect(write.outcomes == ["shareTreasure": .done])
      #expect(try await server.balance(Pirates.gold, "jim") == 10)
      #expect(try await server.balance(Pirates.gold, "silver") == 5)

      try await server.redeliver(write, times: 3)
      try await server.remove("/pirates/jim/chests/c1", as: .user("jim"))
      let again = try await server.set("/pirates/jim/chests/c1", "opened", as: .user("jim"))
      #expect(again.outcomes == ["shareTreasure": .skipped("already_paid")])
      #expect(try await server.balance(Pirates.gold, "jim") == 10)
      #expect(try await server.get(Pirates.chestCount, "jim") == 1)
    }
  }

  @Test("A pirate without a captain shares with nobody")
  func alone() async throws {
    try await TestServer.run(treasureHunt) { server in
      try await server.set("/pirates/ben/chests/c1", "opened", as: .user("ben"))
      #expect(try await server.balance(Pirates.gold, "ben") == 10)
      try await server.expectEntries(1)
    }
  }

  @Test("A chest pays the pirate, once, whatever happens")
  func whateverHappens() async throws {
    try await TestServer.run(treasureHunt, tree: ["pirates": ["jim": ["captain": "silver"]]]) { server in
      let write = try await server.set("/pirates/jim/chests/c1", "opened", as: .user("jim"))
      #expect(write.outcomes == ["shareTreasure": .done])
      try await server.redeliver(write, times: 3)
      try await server.crash(at: .effectDurable) { try await server.set("/pirates/jim/chests/c2", "opened") }
      #expect(try await server.balance(Pirates.gold, "jim") == 20)
      try await server.expectEntries(4)
    }
  }
}
