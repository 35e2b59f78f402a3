import DoubloonTesting
import FunctionsKit
import Testing
import TreeModel

/// What `Documentation/Functions.md` and `Documentation/Migration.md` show, compiled and run. A test compares the pages with
/// this file, line by line.
struct FunctionsGuideTests {
  enum Crew {
    static let role = TreePath<String, UserID>("/crew/{uid}/role")
    static let rum = TreePath<Int64, UserID>("/crew/{uid}/rum")
    static let raid = TreePath<String, UserID, String>("/crew/{uid}/raids/{raid}")
    static let best = TreePath<Int64, UserID>("/crew/{uid}/best_raid")
    static let loot = TreePath<Int64, UserID, String>("/crew/{uid}/loot/{raid}")
  }

  enum Player {
    static let signIn = TreePath<Int64, UserID>("/users/{uid}/last_signin_at")
    static let referredBy = TreePath<String, UserID>("/users/{uid}/referred_by")
    static let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
  }

  struct Promotion: FunctionSettings {
    var amount: Int64 = 25
    var limitedTo: String?

    static let optionalNames: Set<String> = ["limitedTo"]
  }

  static func crewRewards(_ functions: Functions) {
    functions.currency("rum", at: Crew.rum)

    functions.onUpdate(
      Crew.role, name: "payPromotion", when: .changed(from: "sailor", to: "mate"), settings: Promotion()
    ) { event, context, settings in
      if let only = settings.limitedTo, event.params.text != only { return .skipped("not_the_one") }
      try await context.credit(Crew.rum, event.params, amount: settings.amount, code: "promotion", once: "mate/\(event.params)")
      return .done
    }

    functions.onCreate(Crew.raid, name: "provisionRaid") { event, context in
      let (captain, raid) = event.params
      if event.value == "cursed" { throw PermanentError("a cursed raid never starts") }
      if event.value == "fog", event.details.attempt < 3 { throw RetryLater(after: .seconds(30), "the fog has not lifted") }
      try await context.debit(Crew.rum, captain, amount: 10, code: "provisions", once: "raid/\(captain)/\(raid)")
      return .done
    }

    functions.onWrite(Crew.loot, name: "keepBest") { event, context in
      guard let loot = event.after else { return .skipped("withdrawn") }
      try await context.transaction(Crew.best, event.params.0) { best in max(best ?? 0, loot) }
      return .done
    }

    functions.onUpdate(Crew.best, name: "tellRecord", when: .rising(to: 100)) { event, context in
      try await context.message("raid_record", to: event.params, parameters: ["loot": .int(event.after)])
      return .done
    }

    functions.onAccountLinked(name: "payRegistration") { event, context in
      guard event.wasAnonymous else { return .skipped("not_anonymous") }
      let player = event.account.uid
      try await context.credit(Crew.rum, player, amount: 5, code: "registration", once: "registration/\(player)")
      return .done
    }
  }

  static func moved(_ functions: Functions) {
    functions.onCreate(Player.signIn, name: "grantSignupReward") { event, context in
      guard try await context.get(Player.referredBy, event.params) != nil else { return .skipped("not_referred") }
      try await context.credit(Player.gold, event.params, amount: 50, code: "signup", once: "signup/\(event.params)")
      return .done
    }
  }

  @Test("A function that came from JavaScript pays the referred, once")
  func movedFunction() async throws {
    let tree: TreeNode = ["users": ["bob": ["referred_by": "alice"], "ann": ["level": 1]]]
    try await TestServer.run(Self.moved, tree: tree) { server in
      #expect(try await server.set("/users/bob/last_signin_at", 1).outcomes == ["grantSignupReward": .done])
      #expect(try await server.set("/users/ann/last_signin_at", 1).outcomes == ["grantSignupReward": .skipped("not_referred")])
      try await server.remove("/users/bob/last_signin_at")
      let again = try await server.set("/users/bob/last_signin_at", 2)
      #expect(again.outcomes == ["grantSignupReward": .skipped("already_paid")])
      #expect(try await server.balance(Player.gold, "bob") == 50)
    }
  }

  @Test("A promotion is paid once, by the settings; another change makes no run")
  func promotions() async throws {
    try await TestServer.run(Self.crewRewards, settings: ["payPromotion": ["amount": 40]]) { server in
      try await server.set("/crew/jim/role", "sailor")
      let write = try await server.set("/crew/jim/role", "mate", as: .user("jim"))
      #expect(write.outcomes == ["payPromotion": .done])
      try await server.redeliver(write, times: 3)
      try await server.set("/crew/jim/role", "sailor")
      let again = try await server.set("/crew/jim/role", "mate")
      #expect(again.outcomes == ["payPromotion": .skipped("already_paid")])
      #expect(try await server.balance(Crew.rum, "jim") == 40)
      try await server.expectEntries(1)
    }
  }

  @Test("Who cannot pay is skipped; what is hopeless is a dead letter; what asks for time gets it")
  func raids() async throws {
    let tree: TreeNode = ["crew": ["jim": ["rum": 25], "ben": ["rum": 5]]]
    try await TestServer.run(Self.crewRewards, tree: tree) { server in
      #expect(try await server.set("/crew/ben/raids/r1", "sunny").outcomes == ["provisionRaid": .skipped("insufficient_funds")])
      let cursed = try await server.set("/crew/ben/raids/r2", "cursed")
      #expect(cursed.outcomes == ["provisionRaid": .dead("a cursed raid never starts")])
      let fog = try await server.set("/crew/jim/raids/r1", "fog")
      #expect(fog.outcomes == ["provisionRaid": .waiting("the fog has not lifted")])
      try await server.advance(by: .seconds(30))
      try await server.advance(by: .seconds(30))
      #expect(try await server.balance(Crew.rum, "jim") == 15)
    }
  }

  @Test("The best of several stays, in whatever order they come")
  func best() async throws {
    try await TestServer.run(Self.crewRewards) { server in
      for (raid, loot) in [("a", 3), ("b", 9), ("c", 4)] {
        try await server.set("/crew/jim/loot/\(raid)", .leaf(.int(Int64(loot))))
      }
      #expect(try await server.get(Crew.best, "jim") == 9)
    }
  }
}
