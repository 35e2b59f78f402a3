import DoubloonTesting
import Functions
import RewardModel
import Testing
import TreeModel

/// `rewardReferrals` with its defaults, and with each policy.
struct LevelRewardTests {
  @Test("From 4 to 5 the referrer gets 50 and the player nothing, once")
  func fourToFive() async throws {
    try await TestServer.run(registerFunctions, tree: Game.bobAtFour) { server in
      let write = try await server.set(Game.level("bob"), 5, as: .user("bob"))
      #expect(write.outcomes == ["rewardReferrals": .done])
      try await server.redeliver(write, times: 100)
      #expect(try await server.balance(Game.gold("alice")) == 50)
      #expect(try await server.balance(Game.gold("bob")) == 0)
      try await server.expectEntries(1)
    }
  }

  @Test(
    "Jumping over level 5 pays nothing and says so; other changes make no run at all",
    arguments: [(3, 5, true), (4, 6, true), (5, 4, false), (5, 6, false), (1, 2, false), (6, 5, false)]
      as [(Int64, Int64, Bool)])
  func otherSteps(from: Int64, to: Int64, isJump: Bool) async throws {
    let tree: TreeNode = ["users": ["bob": ["level": .leaf(.int(from)), "referred_by": "alice"]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let write = try await server.set(Game.level("bob"), .leaf(.int(to)))
      #expect(write.outcomes == (isJump ? ["rewardReferrals": .skipped("jumped_over_5")] : [:]))
      try await server.expectEntries(0)
    }
  }

  @Test("A level that is created as 5 is no update, and pays nothing")
  func createdAsFive() async throws {
    try await TestServer.run(registerFunctions, tree: ["users": ["bob": ["referred_by": "alice"]]]) { server in
      let write = try await server.set(Game.level("bob"), 5)
      #expect(write.events.isEmpty)
      try await server.expectEntries(0)
    }
  }

  @Test("Where the settings say crossing, a jump over level 5 pays")
  func crossing() async throws {
    let settings: TreeNode = ["rewardReferrals": ["crossing": true, "amount": 60]]
    try await TestServer.run(registerFunctions, tree: Game.bobAtFour, settings: settings) { server in
      try await server.set(Game.level("bob"), 7)
      #expect(try await server.balance(Game.gold("alice")) == 60)
    }
  }

  @Test("5 and 5.0 are one level: writing 5.0 over 4 pays, over 5 is no event")
  func floatingFive() async throws {
    try await TestServer.run(registerFunctions, tree: Game.bobAtFour) { server in
      try await server.set(Game.level("bob"), 5.0)
      let same = try await server.set(Game.level("bob"), 5)
      #expect(!same.changed)
      #expect(try await server.balance(Game.gold("alice")) == 50)
    }
  }

  @Test("Falling back and rising again pays once by default, each time where the policy says so")
  func again() async throws {
    try await TestServer.run(registerFunctions, tree: Game.bobAtFour) { server in
      for level in [5, 4, 5] as [Int64] { try await server.set(Game.level("bob"), .leaf(.int(level))) }
      #expect(try await server.balance(Game.gold("alice")) == 50)
    }
    let settings: TreeNode = ["rewardReferrals": ["repeats": "everyTime"]]
    try await TestServer.run(registerFunctions, tree: Game.bobAtFour, settings: settings) { server in
      for level in [5, 4, 5] as [Int64] { try await server.set(Game.level("bob"), .leaf(.int(level))) }
      #expect(try await server.balance(Game.gold("alice")) == 100)
    }
  }

  @Test("A circle of referrals pays the referrer nothing, unless it is allowed")
  func cycle() async throws {
    let tree: TreeNode = [
      "users": [
        "a": ["referred_by": "c", "level": 4], "b": ["referred_by": "a", "level": 4], "c": ["referred_by": "b", "level": 4],
      ]
    ]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let write = try await server.set(Game.level("a"), 5)
      #expect(write.outcomes == ["rewardReferrals": .skipped("cycle")])
      try await server.expectEntries(0)
    }
    try await TestServer.run(registerFunctions, tree: tree, settings: ["rewardReferrals": ["cycle": "allow"]]) { server in
      try await server.set(Game.level("a"), 5)
      #expect(try await server.balance(Game.gold("c")) == 50)
    }
  }

  @Test(
    "A circle of any length is seen; one further up, which the player is no part of, is not the player's", arguments: [18, 300])
  func longCycle(length: Int) async throws {
    var tree: TreeNode = ["users": ["outside": ["referred_by": "p3", "level": 4]]]
    for number in 0..<length {
      let next = TreeNode.leaf(.string("p\((number + 1) % length)"))
      tree = tree.setting(Game.user("p\(number)"), to: ["referred_by": next, "level": 4])
    }
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let write = try await server.set(Game.level("p0"), 5)
      #expect(write.outcomes == ["rewardReferrals": .skipped("cycle")])
      try await server.expectEntries(0)
      try await server.set(Game.level("outside"), 5)
      #expect(try await server.balance(Game.gold("p3")) == 50)
    }
  }

  @Test("A referrer without a record is paid and marked; where one is required, skipped")
  func ghost() async throws {
    let tree: TreeNode = ["users": ["bob": ["level": 4, "referred_by": "ghost"]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      try await server.set(Game.level("bob"), 5)
      #expect(try await server.balance(Game.gold("ghost")) == 50)
      #expect(try await server.entries().map(\.transfer.reason) == ["ghost_referrer"])
    }
    let settings: TreeNode = ["rewardReferrals": ["requireReferrer": "record"]]
    try await TestServer.run(registerFunctions, tree: tree, settings: settings) { server in
      let write = try await server.set(Game.level("bob"), 5)
      #expect(write.outcomes == ["rewardReferrals": .skipped("unknown_referrer")])
    }
  }

  @Test("A reward is held until its referrer has a record, whichever comes first, and is paid once")
  func held() async throws {
    let tree: TreeNode = ["users": ["bob": ["level": 4, "referred_by": "late"], "eve": ["level": 4, "referred_by": "late"]]]
    let settings: TreeNode = ["rewardReferrals": ["requireReferrer": "hold"]]
    try await TestServer.run(registerFunctions, tree: tree, settings: settings) { server in
      try await server.set(Game.level("bob"), 5)
      try await server.set(Game.level("eve"), 5)
      #expect(try await server.balance(Game.gold("late")) == 0)
      #expect(try await server.node("/held_referrals/late") == ["bob": 50, "eve": 50])
      let arrival = try await server.set("/users/late/name", "Late")
      #expect(arrival.outcomes == ["payHeldReferrals": .done])
      #expect(try await server.balance(Game.gold("late")) == 100)
      #expect(try await !server.node("/held_referrals").exists)
      try await server.expectEntries(2)
      // The level was reached before the record came, and the reward's function ran after it: the run sees no record then.
      try await server.set("/users/zoe", ["level": 4, "referred_by": "soon"])
      try await server.pause("rewardReferrals")
      try await server.set(Game.level("zoe"), 5)
      try await server.set("/users/soon/name", "Soon")
      try await server.resume("rewardReferrals")
      #expect(try await server.balance(Game.gold("soon")) == 50)
      #expect(try await !server.node("/held_referrals").exists)
    }
  }

  @Test("Of the rewards that were held, one that was paid before keeps back no other")
  func heldBesidePaid() async throws {
    let tree: TreeNode = [
      "users": [
        "alice": ["level": 9], "bob": ["level": 4, "referred_by": "alice"], "carol": ["level": 4, "referred_by": "alice"],
      ]
    ]
    let settings: TreeNode = ["rewardReferrals": ["requireReferrer": "hold"]]
    try await TestServer.run(registerFunctions, tree: tree, settings: settings) { server in
      try await server.set(Game.level("bob"), 5)
      #expect(try await server.balance(Game.gold("alice")) == 50)
      try await server.remove(Game.user("alice"))
      for level in [4, 5] as [Int64] { try await server.set(Game.level("bob"), .leaf(.int(level))) }
      try await server.set(Game.level("carol"), 5)
      #expect(try await server.node("/held_referrals/alice") == ["bob": 50, "carol": 50])
      try await server.set("/users/alice/name", "Alice")
      #expect(try await server.balance(Game.gold("alice")) == 50)
      let keys = try await server.entries().filter { $0.transfer.code == "level5" }.map(\.transfer.key.text)
      #expect(keys == ["level5/bob", "level5/carol"])
      #expect(try await !server.node("/held_referrals").exists)
    }
  }

  @Test("Who invited thousands before there was a record is paid for all of them")
  func heldByThousands() async throws {
    let held = TreeNode.map(
      TreeMap((0..<1200).map { TreeMap.Entry(key: Key(unchecked: "p\($0)"), node: .leaf(.int(50))) }), priority: nil)
    let settings: TreeNode = ["rewardReferrals": ["requireReferrer": "hold"]]
    try await TestServer.run(registerFunctions, tree: ["held_referrals": ["star": held]], settings: settings) { server in
      try await server.set("/users/star/name", "Star")
      #expect(try await server.balance(Game.gold("star")) == 60_000)
      #expect(try await !server.node("/held_referrals").exists)
    }
  }

  @Test("Where each time pays, each time that is held is paid")
  func heldEveryTime() async throws {
    let tree: TreeNode = ["users": ["bob": ["level": 4, "referred_by": "late"]]]
    let settings: TreeNode = ["rewardReferrals": ["requireReferrer": "hold", "repeats": "everyTime"]]
    try await TestServer.run(registerFunctions, tree: tree, settings: settings) { server in
      for level in [5, 4, 5] as [Int64] { try await server.set(Game.level("bob"), .leaf(.int(level))) }
      #expect(try await server.node("/held_referrals/late") == ["bob": 100])
      try await server.set("/users/late/name", "Late")
      #expect(try await server.balance(Game.gold("late")) == 100)
      // Once more, after the record was gone for a while.
      try await server.remove(Game.user("late"))
      for level in [4, 5] as [Int64] { try await server.set(Game.level("bob"), .leaf(.int(level))) }
      try await server.set("/users/late/name", "Late")
      #expect(try await server.balance(Game.gold("late")) == 50)
      #expect(try await !server.node("/held_referrals").exists)
    }
  }

  @Test("The referrer is read as of the event: a change that comes later does not redirect the coins (rule 14)")
  func asOfEvent() async throws {
    try await TestServer.run(registerFunctions, tree: Game.bobAtFour) { server in
      try await server.pause("rewardReferrals")
      try await server.set(Game.level("bob"), 5)
      try await server.set(Game.referredBy("bob"), "mallory")
      try await server.resume("rewardReferrals")
      #expect(try await server.balance(Game.gold("alice")) == 50)
      #expect(try await server.balance(Game.gold("mallory")) == 0)
    }
  }

  @Test("1,000 players who reach level 5 at once bring their referrer exactly 50,000")
  func thousand() async throws {
    let users = (0..<1000).map { TreeMap.Entry(key: Key(unchecked: "p\($0)"), node: ["level": 4, "referred_by": "alice"]) }
    try await TestServer.run(registerFunctions, tree: ["users": .map(TreeMap(users))]) { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for i in 0..<1000 { group.addTask { try await server.set(Game.level("p\(i)"), 5) } }
        try await group.waitForAll()
      }
      #expect(try await server.balance(Game.gold("alice")) == 50_000)
      try await server.expectEntries(1000)
    }
  }

  @Test("Players who are imported with their levels pay nobody, and their coins are opening entries (rule 26)")
  func imported() async throws {
    let tree: TreeNode = ["users": ["bob": ["level": 5, "referred_by": "alice", "inventory": ["pieces_of_eight": 120]]]]
    try await TestServer.run(registerFunctions, tree: tree) { server in
      let codes = try await server.entries().map(\.transfer.code)
      #expect(codes == ["opening"])
      #expect(try await server.balance(Game.gold("alice")) == 0)
    }
  }
}
