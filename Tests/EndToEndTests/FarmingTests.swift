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

/// What stands between a reward and a farm of accounts: confirmed addresses, limits that hold, identities that are remembered.
struct FarmingTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]
  private static let day: Int64 = 86_400_000

  private func put(_ server: RunningServer, _ path: String, _ value: JSON) async throws {
    _ = try await server.client.put("/\(path).json", value, headers: Self.waits)
  }

  private func coins(_ server: RunningServer, _ uid: String) async throws -> Int64 {
    try await server.client.get("/users/\(uid)/inventory/pieces_of_eight.json").int ?? 0
  }

  private func identity(_ server: RunningServer, _ method: String, _ body: JSON) async throws -> JSON {
    try await server.client.post(
      "/identitytoolkit.googleapis.com/v1/accounts:\(method)", body, query: [QueryItem("key", "k")])
  }

  /// Signs up like a client: without an administrator's token.
  private func signUp(_ server: RunningServer, _ email: String) async throws -> (uid: String, token: String) {
    let client = try AdminClient(server: server.address, token: nil)
    let made = try await client.post(
      "/identitytoolkit.googleapis.com/v1/accounts:signUp", ["email": .string(email), "password": "secret-1"],
      query: [QueryItem("key", "k")])
    return (try #require(made["localId"]?.string), try #require(made["idToken"]?.string))
  }

  private func leave(_ server: RunningServer, _ token: String) async throws {
    let client = try AdminClient(server: server.address, token: nil)
    _ = try await client.post(
      "/identitytoolkit.googleapis.com/v1/accounts:delete", ["idToken": .string(token)], query: [QueryItem("key", "k")])
  }

  private func confirm(_ server: RunningServer, _ uid: String) async throws {
    _ = try await identity(server, "update", ["localId": .string(uid), "emailVerified": true])
    _ = try await server.client.post("/admin/v1/drain", [:])
  }

  private func holds(_ server: RunningServer) async throws -> [JSON] {
    try await server.client.get("/admin/v1/ledger/holds")["holds"]?.array ?? []
  }

  /// A player whom alice brought, at the first sign-in and at level 5.
  private func play(_ server: RunningServer, _ uid: String) async throws {
    try await put(server, "users/\(uid)", ["referred_by": "alice", "level": 4])
    try await put(server, "users/\(uid)/last_signin_at", 1)
    try await put(server, "users/\(uid)/level", 5)
  }

  @Test("Rewards wait until the address is confirmed, which pays them once; an address that is confirmed waits for nothing")
  func confirmation() async throws {
    try await RunningServer.run {
      $0.functionSettings = ["grantSignupReward": ["untilConfirmed": true], "rewardReferrals": ["untilConfirmed": true]]
    } _: { server in
      let bob = try await signUp(server, "bob@example.com")
      try await play(server, bob.uid)
      #expect(try await coins(server, bob.uid) == 0)
      #expect(try await coins(server, "alice") == 0)
      let waiting = try await holds(server)
      #expect(waiting.compactMap { $0["credit"]?.string } == ["hold:\(bob.uid)", "hold:alice"])
      #expect(waiting.allSatisfy { $0["reason"]?.string?.hasPrefix("unconfirmed: ") == true })
      let referrals = try await server.client.get("/admin/v1/referrals/alice")
      #expect(referrals["referrals"]?.array?.first?["state"] == "held")
      let why = try await server.client.get("/admin/v1/why", query: [QueryItem("uid", bob.uid)])
      #expect(why.compact.contains("waits until the address of \(bob.uid) is confirmed"))
      // Falling back and rising again pays nothing more, and fails nothing.
      try await put(server, "users/\(bob.uid)/level", 4)
      try await put(server, "users/\(bob.uid)/level", 5)
      for _ in 0..<2 {
        try await confirm(server, bob.uid)
        #expect(try await coins(server, bob.uid) == 50)
        #expect(try await coins(server, "alice") == 50)
        #expect(try await holds(server).isEmpty)
        // Unconfirmed by an administrator, and confirmed again.
        _ = try await identity(server, "update", ["localId": .string(bob.uid), "emailVerified": false])
      }
      let carl = try await signUp(server, "carl@example.com")
      try await confirm(server, carl.uid)
      try await play(server, carl.uid)
      #expect(try await coins(server, carl.uid) == 50)
      #expect(try await coins(server, "alice") == 100)
      #expect(try await server.client.get("/admin/v1/ledger/verify")["sound"] == true)
      #expect(try await server.client.get("/admin/v1/dead-letters")["letters"]?.array?.isEmpty != false)
    }
  }

  @Test("A hold that an administrator ended is not paid out by the confirmation, which pays the others")
  func endedByHand() async throws {
    try await RunningServer.run {
      $0.functionSettings = ["grantSignupReward": ["untilConfirmed": true], "rewardReferrals": ["untilConfirmed": true]]
    } _: { server in
      let bob = try await signUp(server, "bob@example.com")
      try await play(server, bob.uid)
      let first = try #require(try await holds(server).first?["sequence"]?.int)
      _ = try await server.client.post("/admin/v1/ledger/holds/\(first)/void", ["reason": "test"])
      try await confirm(server, bob.uid)
      #expect(try await coins(server, bob.uid) == 0)
      #expect(try await coins(server, "alice") == 50)
      #expect(try await holds(server).isEmpty)
    }
  }

  @Test("What is beyond a limit of the day waits for a person, who pays it out or gives it back; the next day starts at zero")
  func limits() async throws {
    let clock = AdjustableClock(frozenAt: 1_700_000_000_000)
    try await RunningServer.run {
      $0.clock = clock
      $0.functionSettings = ["rewardReferrals": ["perReferrer": 2]]
    } _: { server in
      for number in 0..<4 { try await play(server, "p\(number)") }
      #expect(try await coins(server, "alice") == 100)
      // Nobody is refused: each player has the own reward.
      #expect(try await coins(server, "p3") == 50)
      let waiting = try await holds(server)
      #expect(waiting.compactMap { $0["subject"]?.string } == ["p2", "p3"])
      #expect(waiting.first?["reason"] == "review: more than 2 a day for one referrer (perReferrer)")
      let (one, two) = (try #require(waiting[0]["sequence"]?.int), try #require(waiting[1]["sequence"]?.int))
      _ = try await server.client.post("/admin/v1/ledger/holds/\(one)/release", ["reason": "a school"])
      _ = try await server.client.post("/admin/v1/ledger/holds/\(two)/void", ["reason": "invented"])
      #expect(try await coins(server, "alice") == 150)
      #expect(try await holds(server).isEmpty)
      let audit = try await server.client.get("/admin/v1/audit")
      #expect(audit.compact.contains("ledger.release") && audit.compact.contains("ledger.void"))
      clock.advance(by: Self.day)
      try await play(server, "p4")
      #expect(try await coins(server, "alice") == 200)
      #expect(try await server.client.get("/admin/v1/ledger/verify")["sound"] == true)
    }
  }

  @Test("Players of one client network count together, by a keyed hash; the address itself is nowhere")
  func networks() async throws {
    try await RunningServer.run {
      $0.functionSettings = ["grantSignupReward": ["perNetwork": 2]]
    } _: { server in
      for number in 0..<3 {
        let player = try await signUp(server, "p\(number)@example.com")
        try await play(server, player.uid)
        #expect(try await coins(server, player.uid) == (number < 2 ? 50 : 0))
      }
      // Somebody whose network is not known is not counted with the others.
      try await play(server, "imported")
      #expect(try await coins(server, "imported") == 50)
      let waiting = try await holds(server)
      #expect(
        waiting.compactMap { $0["reason"]?.string } == [
          "review: more than 2 a day for one client network (perNetwork); referred by alice"
        ])
      #expect(!waiting.map(\.compact).joined().contains("127.0.0.1"))
    }
  }

  @Test("Who was paid, deleted the account and signed up again under the same mailbox is not paid again, for a time")
  func returning() async throws {
    let clock = AdjustableClock(frozenAt: 1_700_000_000_000)
    try await RunningServer.run {
      $0.clock = clock
      $0.accounts.paidIdentityLifetime = 400 * Self.day
    } _: { server in
      var last = ""
      for (number, email) in ["b.ob@gmail.com", "bob+1@gmail.com", "BOB@googlemail.com"].enumerated() {
        let bob = try await signUp(server, email)
        try await play(server, bob.uid)
        #expect(try await coins(server, bob.uid) == (number == 0 ? 50 : 0))
        #expect(try await coins(server, "alice") == 50)
        let preview = try await server.client.post("/admin/v1/accounts/\(bob.uid)/erase/preview", [:])
        #expect(preview["rememberedIdentities"] == .int(number == 0 ? 1 : 0))
        try await leave(server, bob.token)
        last = bob.uid
      }
      let why = try await server.client.get("/admin/v1/why", query: [QueryItem("uid", last)])
      #expect(why.compact.contains("returning"))
      let other = try await signUp(server, "carl@gmail.com")
      try await play(server, other.uid)
      #expect(try await coins(server, other.uid) == 50)
      clock.advance(by: 401 * Self.day)
      let late = try await signUp(server, "bob@gmail.com")
      try await play(server, late.uid)
      #expect(try await coins(server, late.uid) == 50)
    }
  }

  @Test("Who never confirms can be erased: what waited goes back, the referrer's too, and nobody is paid by it later")
  func erasing() async throws {
    try await RunningServer.run {
      $0.functionSettings = ["grantSignupReward": ["untilConfirmed": true], "rewardReferrals": ["untilConfirmed": true]]
    } _: { server in
      let bob = try await signUp(server, "bob@example.com")
      let carl = try await signUp(server, "carl@example.com")
      for player in [bob, carl] { try await play(server, player.uid) }
      let waiting = try await holds(server).compactMap { $0["sequence"]?.int }
      #expect(waiting.count == 4)
      let preview = try await server.client.post("/admin/v1/accounts/\(bob.uid)/erase/preview", [:])
      #expect(preview["holds"]?.array?.compactMap { $0["sequence"]?.int } == Array(waiting.prefix(2)))
      #expect(preview["rows"] == 2 && preview["waiting"] == [])
      #expect(try await server.client.post("/admin/v1/accounts/\(bob.uid)/erase", ["reason": "asked"])["state"] == "done")
      // Of carl, who may still confirm, both wait on.
      #expect(try await holds(server).compactMap { $0["sequence"]?.int } == Array(waiting.suffix(2)))
      let back = try await server.client.get(
        "/admin/v1/ledger/statement", query: [QueryItem("account", "issuance:level5")])["entries"]?.array?.first
      #expect(back?["debit"] == "hold:alice" && back?["reason"] == .string("\(bob.uid) was erased"))
      // The same address again: another account, which the first one's rewards do not wait for.
      let again = try await signUp(server, "bob@example.com")
      try await confirm(server, again.uid)
      try await confirm(server, carl.uid)
      for (uid, sum) in [("alice", 50), (carl.uid, 50), (again.uid, 0)] as [(String, Int64)] {
        #expect(try await coins(server, uid) == sum, "\(uid)")
      }
      #expect(try await holds(server).isEmpty)
      #expect(try await server.client.get("/admin/v1/ledger/verify")["sound"] == true)
      #expect(try await server.client.get("/admin/v1/verify")["sound"] != false)
    }
  }

  @Test("An erasure takes what was counted for the player as a referrer")
  func counts() async throws {
    try await RunningServer.run {
      $0.functionSettings = ["rewardReferrals": ["perReferrer": 5]]
    } _: { server in
      try await play(server, "bob")
      #expect(try await server.client.post("/admin/v1/accounts/alice/erase/preview", [:])["rows"] == 1)
      _ = try await server.client.post("/admin/v1/accounts/alice/erase", ["reason": "asked"])
      #expect(try await server.client.post("/admin/v1/accounts/alice/erase/preview", [:])["rows"] == 0)
    }
  }

  @Test("In development, and where it is switched off, nothing is remembered of who left")
  func forgetting() async throws {
    try await RunningServer.run { server in
      for _ in 0..<2 {
        let bob = try await signUp(server, "bob@example.com")
        try await play(server, bob.uid)
        #expect(try await coins(server, bob.uid) == 50)
        try await leave(server, bob.token)
      }
    }
  }
}
