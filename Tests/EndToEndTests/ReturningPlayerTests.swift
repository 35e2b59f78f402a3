import Accounts
import DoubloonTesting
import Functions
import FunctionsKit
import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import ServerConfiguration

/// Who was paid is known again by mailbox and identity, whatever order things are done in.
struct ReturningPlayerTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]
  private static let mailbox = "bob@example.com"

  private struct Player {
    let uid: String
    var token: String
  }

  /// A server where identities are remembered, as in production.
  private func run(_ settings: TreeNode = .absent, _ test: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.run {
      $0.accounts.paidIdentityLifetime = 400 * 86_400_000
      $0.functionSettings = settings
    } _: { server in
      try await test(server)
      #expect(try await server.client.get("/admin/v1/ledger/verify")["sound"] == true)
      #expect(try await server.client.get("/admin/v1/dead-letters")["letters"]?.array?.isEmpty != false)
    }
  }

  private func identity(_ server: RunningServer, _ method: String, _ body: JSON, asAdmin: Bool = false) async throws -> JSON {
    let client = asAdmin ? server.client : try AdminClient(server: server.address, token: nil)
    return try await client.post(
      "/identitytoolkit.googleapis.com/v1/accounts:\(method)", body, query: [QueryItem("key", "k")])
  }

  private func player(_ answer: JSON) throws -> Player {
    Player(uid: try #require(answer["localId"]?.string), token: try #require(answer["idToken"]?.string))
  }

  private func signUp(_ server: RunningServer, _ email: String) async throws -> Player {
    try player(try await identity(server, "signUp", ["email": .string(email), "password": "secret-1"]))
  }

  private func confirm(_ server: RunningServer, _ player: Player) async throws {
    _ = try await identity(server, "update", ["localId": .string(player.uid), "emailVerified": true], asAdmin: true)
    _ = try await server.client.post("/admin/v1/drain", [:])
  }

  private func leave(_ server: RunningServer, _ player: Player) async throws {
    _ = try await identity(server, "delete", ["idToken": .string(player.token)])
  }

  /// A player whom alice brought, at the first sign-in.
  private func play(_ server: RunningServer, _ uid: String, level: Int64 = 4) async throws {
    let record: JSON = ["referred_by": "alice", "level": .int(level), "last_signin_at": 1]
    _ = try await server.client.put("/users/\(uid).json", record, headers: Self.waits)
  }

  private func coins(_ server: RunningServer, _ uid: String) async throws -> Int64 {
    try await server.client.get("/users/\(uid)/inventory/pieces_of_eight.json").int ?? 0
  }

  private func holds(_ server: RunningServer) async throws -> Int {
    try await server.client.get("/admin/v1/ledger/holds")["holds"]?.array?.count ?? 0
  }

  @Test("A confirmation pays out nothing to a mailbox that was paid before: the coins that waited go back")
  func confirmedAgain() async throws {
    try await run(["grantSignupReward": ["untilConfirmed": true], "rewardReferrals": ["untilConfirmed": true]]) { server in
      for number in 0..<3 {
        // The account has no address when the reward is asked for: it comes when the coins wait already.
        var bob = try player(try await identity(server, "signUp", [:]))
        try await play(server, bob.uid)
        _ = try await server.client.put("/users/\(bob.uid)/level.json", 5, headers: Self.waits)
        #expect(try await holds(server) == 2)
        let email = number == 2 ? "bob+2@example.com" : Self.mailbox
        let linked: JSON = ["idToken": .string(bob.token), "email": .string(email), "password": "secret-1"]
        bob = try player(try await identity(server, "signUp", linked))
        try await confirm(server, bob)
        #expect(try await holds(server) == 0)
        #expect(try await coins(server, bob.uid) == (number == 0 ? 50 : 0))
        #expect(try await coins(server, "alice") == 50)
        try await leave(server, bob)
      }
    }
  }

  @Test("An address that a paid player gives up is remembered, and the player goes on being paid")
  func givenUp() async throws {
    try await run { server in
      let bob = try await signUp(server, Self.mailbox)
      try await play(server, bob.uid)
      #expect(try await coins(server, bob.uid) == 50)
      try await confirm(server, bob)
      for next in ["carl@example.com", "dora@example.com"] {
        let update: JSON = ["localId": .string(bob.uid), "email": .string(next), "emailVerified": true]
        _ = try await identity(server, "update", update, asAdmin: true)
      }
      for taken in [Self.mailbox, "carl+1@example.com"] {
        let other = try await signUp(server, taken)
        try await play(server, other.uid)
        #expect(try await coins(server, other.uid) == 0, "\(taken)")
      }
      _ = try await server.client.put("/users/\(bob.uid)/level.json", 5, headers: Self.waits)
      #expect(try await coins(server, "alice") == 50)
      let new = try await signUp(server, "new@example.com")
      try await play(server, new.uid)
      #expect(try await coins(server, new.uid) == 50)
    }
  }

  @Test("Who mends an address before confirming it is paid; and nobody spoils an address that is not theirs")
  func addressesOfOthers() async throws {
    try await run(["grantSignupReward": ["untilConfirmed": true]]) { server in
      let bob = try await signUp(server, "bbo@example.com")
      try await play(server, bob.uid)
      _ = try await identity(server, "update", ["idToken": .string(bob.token), "email": .string(Self.mailbox)])
      try await confirm(server, bob)
      #expect(try await coins(server, bob.uid) == 50)
      // Eve never confirms the one, and gives the other up: she was paid under an address of her own.
      try await leave(server, try await signUp(server, "carl@example.com"))
      let eve = try await signUp(server, "carl@example.com")
      try await play(server, eve.uid)
      try await leave(server, eve)
      let paid = try await signUp(server, "eve@example.com")
      try await play(server, paid.uid)
      try await confirm(server, paid)
      for address in ["dora@example.com", "eve@example.com"] {
        let update: JSON = ["localId": .string(paid.uid), "email": .string(address)]
        _ = try await identity(server, "update", update, asAdmin: true)
      }
      for address in ["carl@example.com", "dora@example.com"] {
        let player = try await signUp(server, address)
        try await play(server, player.uid)
        try await confirm(server, player)
        #expect(try await coins(server, player.uid) == 50, "\(address)")
      }
    }
  }

  @Test("A reward that is committed after its player has left is remembered for the player's mailbox")
  func paidLate() async throws {
    try await run { server in
      _ = try await server.client.post("/admin/v1/functions/grantSignupReward/pause", ["reason": "test"])
      let bob = try await signUp(server, Self.mailbox)
      try await play(server, bob.uid)
      try await leave(server, bob)
      _ = try await server.client.post("/admin/v1/functions/grantSignupReward/resume", [:])
      _ = try await server.client.post("/admin/v1/drain", [:])
      #expect(try await coins(server, bob.uid) == 50)

      let again = try await signUp(server, Self.mailbox)
      try await leave(server, again)
      // A write that was on its way when the account went.
      try await play(server, again.uid)
      #expect(try await coins(server, again.uid) == 0)
      let last = try await signUp(server, Self.mailbox)
      try await play(server, last.uid)
      #expect(try await coins(server, last.uid) == 0)
    }
  }
}
