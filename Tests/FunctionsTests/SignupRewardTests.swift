import DoubloonTesting
import Functions
import Testing
import TreeModel

/// `grantSignupReward` with its defaults, and with each policy.
struct SignupRewardTests {
  static let bob: TreeNode = ["users": ["bob": ["referred_by": "alice"]]]

  @Test("The first sign-in of a referred player pays the player 50, a later one nothing more")
  func firstSignIn() async throws {
    try await TestServer.run(registerFunctions, tree: Self.bob) { server in
      let first = try await server.set(Game.signIn("bob"), 1_700_000_000_000, as: .user("bob"))
      #expect(first.outcomes == ["grantSignupReward": .done])
      let second = try await server.set(Game.signIn("bob"), 1_700_000_000_001, as: .user("bob"))
      #expect(second.outcomes.isEmpty)
      #expect(try await server.balance(Game.gold("bob")) == 50)
      #expect(try await server.balance(Game.gold("alice")) == 0)
      try await server.expectEntries(1)
    }
  }

  @Test(
    "A player whom nobody referred gets nothing, and no inventory appears",
    arguments: [.absent, "", 0, false] as [TreeNode])
  func notReferred(referredBy: TreeNode) async throws {
    try await TestServer.run(registerFunctions) { server in
      try await server.update(Game.user("bob"), ["name": "Bob", "referred_by": referredBy])
      let write = try await server.set(Game.signIn("bob"), 1)
      #expect(write.outcomes == ["grantSignupReward": .skipped("not_referred")])
      #expect(!(try await server.node(Game.gold("bob")).exists))
      try await server.expectEntries(0)
    }
  }

  @Test("A whole record that carries the sign-in pays, and so does one update of both fields")
  func parentWrites() async throws {
    try await TestServer.run(registerFunctions) { server in
      try await server.set(Game.user("bob"), ["name": "Bob", "referred_by": "alice", "last_signin_at": 1])
      #expect(try await server.balance(Game.gold("bob")) == 50)
      try await server.update(Game.user("eve"), ["referred_by": "alice", "last_signin_at": 1])
      #expect(try await server.balance(Game.gold("eve")) == 50)
    }
  }

  @Test("A repeated sign-in pays once by default, each time where the policy says so")
  func recreated() async throws {
    try await TestServer.run(registerFunctions, tree: Self.bob) { server in
      try await server.set(Game.signIn("bob"), 1)
      try await server.remove(Game.signIn("bob"))
      let again = try await server.set(Game.signIn("bob"), 2)
      #expect(again.outcomes == ["grantSignupReward": .skipped("already_paid")])
      #expect(try await server.balance(Game.gold("bob")) == 50)
    }
    let everyTime: TreeNode = ["grantSignupReward": ["repeats": "everyTime"]]
    try await TestServer.run(registerFunctions, tree: Self.bob, settings: everyTime) { server in
      try await server.set(Game.signIn("bob"), 1)
      try await server.remove(Game.signIn("bob"))
      try await server.set(Game.signIn("bob"), 2)
      #expect(try await server.balance(Game.gold("bob")) == 100)
    }
  }

  @Test(
    "A referrer that is no legal key pays nobody and makes no stray node",
    arguments: ["bob/x", "a.b", ["deep": "object"], 17, true] as [TreeNode])
  func invalidReferrer(referredBy: TreeNode) async throws {
    try await TestServer.run(registerFunctions) { server in
      try await server.set(Game.referredBy("eve"), referredBy)
      let write = try await server.set(Game.signIn("eve"), 1)
      #expect(write.outcomes == ["grantSignupReward": .skipped("invalid_referrer")])
      #expect(try await server.node("/users").children.count == 1)
    }
  }

  @Test("Referring oneself is skipped, unless it is allowed")
  func selfReferral() async throws {
    let tree: TreeNode = ["users": ["bob": ["referred_by": "bob", "level": 4]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let signIn = try await server.set(Game.signIn("bob"), 1)
      #expect(signIn.outcomes == ["grantSignupReward": .skipped("self_referral")])
      let level = try await server.set(Game.level("bob"), 5)
      #expect(level.outcomes == ["rewardReferrals": .skipped("self_referral")])
    }
    let allowed: TreeNode = [
      "grantSignupReward": ["selfReferral": "allow"], "rewardReferrals": ["selfReferral": "allow"],
    ]
    try await TestServer.run(registerFunctions, tree: tree, settings: allowed) { server in
      try await server.set(Game.signIn("bob"), 1)
      try await server.set(Game.level("bob"), 5)
      #expect(try await server.balance(Game.gold("bob")) == 100)
    }
  }

  @Test("A referrer who is entered late brings no sign-up reward, but the one for level 5")
  func lateReferrer() async throws {
    try await TestServer.run(registerFunctions) { server in
      try await server.set(Game.user("bob"), ["level": 4])
      try await server.set(Game.signIn("bob"), 1)
      try await server.set(Game.referredBy("bob"), "alice")
      #expect(try await server.balance(Game.gold("bob")) == 0)
      try await server.set(Game.level("bob"), 5)
      #expect(try await server.balance(Game.gold("alice")) == 50)
    }
  }

  @Test("Within the time that the settings allow, a late referrer brings the sign-up reward, once")
  func lateReferrerAllowed() async throws {
    let settings: TreeNode = ["grantSignupReward": ["lateReferralWithin": 60000]]
    try await TestServer.run(registerFunctions, settings: settings) { server in
      try await server.write([.set(Game.signIn("bob"), .timestamp)])
      try await server.advance(by: .seconds(59))
      let claim = try await server.set(Game.referredBy("bob"), "alice")
      #expect(claim.outcomes == ["grantLateSignupReward": .done])
      try await server.write([.set(Game.signIn("eve"), .timestamp)])
      try await server.advance(by: .seconds(61))
      // A new sign-in does not make her a new player.
      try await server.write([.set(Game.signIn("eve"), .timestamp)])
      let late = try await server.set(Game.referredBy("eve"), "alice")
      #expect(late.outcomes == ["grantLateSignupReward": .skipped("too_late")])
      #expect(try await server.balance(Game.gold("bob")) == 50)
      #expect(try await server.balance(Game.gold("eve")) == 0)
    }
  }

  @Test(
    "Existing coins are added to: 120 becomes 170, nothing 50, -20 becomes 30", arguments: [120, 0, -20] as [Int64])
  func existingBalance(before: Int64) async throws {
    let tree: TreeNode = [
      "users": ["bob": ["referred_by": "alice", "inventory": ["pieces_of_eight": .leaf(.int(before))]]]
    ]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      try await server.set(Game.signIn("bob"), 1)
      #expect(try await server.balance(Game.gold("bob")) == before + 50)
    }
  }

  @Test(
    "A balance that is no integer is left alone, and the event is a dead letter",
    arguments: ["10", true, 1.5] as [TreeNode])
  func balanceType(balance: TreeNode) async throws {
    let tree: TreeNode = ["users": ["bob": ["referred_by": "alice", "inventory": ["pieces_of_eight": balance]]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let write = try await server.set(Game.signIn("bob"), 1)
      guard case .dead = write.outcomes["grantSignupReward"] else {
        Issue.record("not a dead letter: \(write.outcomes)")
        return
      }
      #expect(try await server.node(Game.gold("bob")) == balance)
    }
  }

  @Test("Coins that would overflow are not paid, and the server goes on")
  func overflow() async throws {
    let tree: TreeNode = ["users": ["bob": ["referred_by": "alice", "inventory": ["pieces_of_eight": .leaf(.int(.max))]]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let write = try await server.set(Game.signIn("bob"), 1)
      guard case .dead = write.outcomes["grantSignupReward"] else {
        Issue.record("not a dead letter: \(write.outcomes)")
        return
      }
      #expect(try await server.balance(Game.gold("bob")) == .max)
      try await server.set(Game.user("eve"), ["referred_by": "alice", "last_signin_at": 1])
      #expect(try await server.balance(Game.gold("eve")) == 50)
    }
  }
}
