import DoubloonTesting
import Functions
import FunctionsKit
import NIOHTTP1
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// Who brought whom, over the wire: for the player, and for administrators.
struct ReferralTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]

  private func put(_ server: RunningServer, _ path: String, _ value: JSON) async throws {
    _ = try await server.client.put("/\(path).json", value, headers: Self.waits)
  }

  /// Alice brought bob, who reached level 5, and carl, who did not.
  private func populate(_ server: RunningServer) async throws {
    try await put(server, "users/bob", ["referred_by": "alice", "level": 4])
    try await put(server, "users/carl", ["referred_by": "alice", "level": 1])
    try await put(server, "users/bob/level", 5)
  }

  @Test("A player sees the own referrals with state and coins, by the ID token, and nobody else's")
  func own() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      // Not by the administrator, whose sign-ups have no tokens.
      let game = try AdminClient(server: server.address, token: nil)
      let alice = try await game.post(
        "/identitytoolkit.googleapis.com/v1/accounts:signUp", ["email": "alice@example.com", "password": "secret-1"],
        query: [QueryItem("key", "k")])
      let uid = try #require(alice["localId"]?.string)
      try await put(server, "users/dora", ["referred_by": .string(uid), "level": 4])
      try await put(server, "users/dora/level", 5)
      let player = try AdminClient(server: server.address, token: try #require(alice["idToken"]?.string))
      let answer = try await player.get("/v1/referrals")
      let rows = answer["referrals"]?.array ?? []
      #expect(rows.count == 1)
      #expect(rows.first?["player"] == "dora" && rows.first?["state"] == "paid")
      #expect(rows.first?["coins"] == ["pieces_of_eight": 50] && rows.first?["since"]?.int != nil)
      #expect(answer["referredBy"] == nil)
      try await put(server, "users/\(uid)/referred_by", "carl")
      #expect(try await player.get("/v1/referrals")["referredBy"] == "carl")
      #expect(!answer.compact.contains("example.com"))
      let unknown = try AdminClient(server: server.address, token: "nonsense")
      await #expect(throws: AdminClientError.self) { _ = try await unknown.get("/v1/referrals") }
    }
  }

  @Test("Administrators see anybody's referrals and who brought most, after a restart too")
  func administrators() async throws {
    let folder = TemporaryFolder()
    var server = try await RunningServer(folder: folder)
    try await populate(server)
    for number in 0..<3 { try await put(server, "users/p\(number)", ["referred_by": "bob"]) }
    for _ in 0..<2 {
      let alice = try await server.client.get("/admin/v1/referrals/alice")
      let rows = alice["referrals"]?.array ?? []
      #expect(rows.compactMap { $0["player"]?.string } == ["bob", "carl", "p0", "p1", "p2"])
      #expect(rows.compactMap { $0["depth"]?.int } == [1, 1, 2, 2, 2] && rows.first?["shown"] == 3)
      #expect(rows.prefix(2).compactMap { $0["state"]?.string } == ["paid", "joined"])
      #expect(rows.prefix(2).compactMap { $0["reached"]?.bool } == [true, false])
      let bob = try await server.client.get("/admin/v1/referrals/bob", query: [QueryItem("limit", "2")])
      #expect(bob["referredBy"] == "alice" && bob["next"] == "p1")
      let top = try await server.client.get("/admin/v1/referrals")
      #expect(top["leaders"]?.array?.compactMap { $0["player"]?.string } == ["alice", "bob"])
      #expect(top["leaders"]?.array?.compactMap { $0["referred"]?.int } == [2, 3])
      #expect(top["leaders"]?.array?.first?["coins"] == ["pieces_of_eight": 50])
      #expect(top["leaders"]?.array?.first?["reached"] == 1 && top["goal"]?["name"] == "level 5")
      await server.stop()
      server = try await RunningServer(folder: folder)
    }
    await server.stop()
  }

  @Test("A reward that is reversed is no longer among the coins; replays and a rebuild change nothing in the index")
  func corrections() async throws {
    try await RunningServer.run { server in
      try await populate(server)
      let before = try await server.client.get("/admin/v1/referrals/alice")
      _ = try await server.client.post("/admin/v1/replays", ["mode": "all", "reason": "test"])
      _ = try await server.client.post("/admin/v1/drain", [:])
      #expect(try await server.client.get("/admin/v1/referrals/alice") == before)
      _ = try await server.client.post("/admin/v1/ledger/reverse", ["sequence": 1, "reason": "test"])
      let after = try await server.client.get("/admin/v1/referrals/alice")
      #expect(after["referrals"]?.array?.first?["state"] == "joined")
      #expect(after["referrals"]?.array?.first?["coins"] == ["pieces_of_eight": 0])
      #expect(after["referrals"]?.array?.first?["reversed"] == ["pieces_of_eight": 50])
    }
  }
}
