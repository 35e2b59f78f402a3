import FunctionsKit
import Ledger
import RewardModel
import StorageCore
import Testing
import TreeModel

@testable import PlayerLifecycle

/// What a merge moves, and what keeps it from moving anything, on a store on disk.
struct AccountMergeTests {
  private static let held = HeldRewardPath(TreePath<Int64, UserID, UserID>("/waiting/{referrer}/{player}"))

  /// `anon` was referred by alice and has 50 coins; `carol` is the account that the player goes on with.
  private func populate(_ fixture: PlayerFixture) async throws {
    try await fixture.commit([
      .set("/users/anon/name", "?"), .set("/users/anon/referred_by", "alice"), .set("/users/anon/pet", "parrot"),
      .set("/users/carol/name", "Carol"),
    ])
    try await fixture.pay(50, to: "user:anon", key: "signup/anon")
    try await fixture.createAccount("anon")
  }

  private func merge(_ fixture: PlayerFixture) -> AccountMerge {
    AccountMerge(
      database: fixture.database, accounts: fixture.accounts, functions: nil,
      declarations: AccountMerge.Declarations(currencies: [.piecesOfEight], heldRewards: [Self.held]))
  }

  private func order(
    _ from: String = "anon", _ into: String = "carol", movesBalances: Bool = false, copiesRecord: Bool = false
  ) -> MergeOrder {
    MergeOrder(
      from: Key(unchecked: from), into: Key(unchecked: into), actor: .admin("ann"), reason: "ticket 118",
      movesBalances: movesBalances,
      copiesRecord: copiesRecord)
  }

  /// What keeps a merge from being carried out, in words; nil if nothing does.
  private func refusal(_ fixture: PlayerFixture, _ order: MergeOrder) async -> String? {
    do {
      _ = try await merge(fixture).carryOut(order, in: fixture.namespace)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("The referral moves, its rewards are used up, nobody signs in to what was left; ordered again nothing happens")
  func referral() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      let (plan, waiting) = try merge(fixture).preview(order(), in: fixture.namespace)
      #expect(plan.referrer == "alice" && plan.time == nil && waiting == [])
      #expect(try fixture.scalar("/users/anon/referred_by") == "alice")
      let report = try await merge(fixture).carryOut(order(), in: fixture.namespace)
      #expect(report.referrer == "alice" && report.spentKeys == ["signup/carol"] && report.balances.isEmpty)
      #expect(report.copied.isEmpty && report.heldReward == nil && report.time == fixture.clock.now())
      #expect(try fixture.scalar("/users/carol/referred_by") == "alice")
      #expect(try fixture.scalar("/users/anon/referred_by") == nil)
      #expect(try fixture.balance(of: "user:anon") == 50)
      #expect(try fixture.account("anon")?.isDisabled == true)
      #expect(try fixture.ledger.entry(in: fixture.namespace, key: BusinessKey("signup/carol"))?.transfer.code == "merge")
      let head = try fixture.head()
      let again = try await merge(fixture).carryOut(order(), in: fixture.namespace)
      #expect(again.referrer == "alice" && again.spentKeys == report.spentKeys && again.time == report.time)
      #expect(try fixture.head() == head)
      let other = await refusal(fixture, order(movesBalances: true))
      #expect(other?.hasPrefix("anon was merged into carol before, which happens once.") == true)
      #expect(try fixture.ledger.verify(fixture.namespace).isSound)
    }
  }

  @Test("Coins and what the other record lacks go along if it is asked for")
  func options() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      try await fixture.commit([.set("/users/carol/inventory/pieces_of_eight", 7)])
      let report = try await merge(fixture).carryOut(
        order(movesBalances: true, copiesRecord: true), in: fixture.namespace)
      #expect(report.balances == [MergeReport.MovedBalance(unit: "pieces_of_eight", amount: 50)])
      #expect(report.copied == ["/users/carol/pet"])
      #expect(try fixture.balance(of: "user:carol") == 57 && fixture.balance(of: "user:anon") == 0)
      #expect(try fixture.scalar("/users/carol/name") == "Carol" && fixture.scalar("/users/carol/pet") == "parrot")
      #expect(try fixture.ledger.verify(fixture.namespace).isSound)
    }
  }

  @Test("A reward that waits for the referrer goes along where a function declares the path, and no other value does")
  func heldReward() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      try await fixture.commit([
        .set("/waiting/alice/anon", 50), .set("/waiting/alice/carol", 50), .set("/elsewhere/alice/anon", 50),
      ])
      let refused = await refusal(fixture, order())
      #expect(refused?.contains("/waiting/alice/anon and /waiting/alice/carol") == true)
      try await fixture.commit([.remove("/waiting/alice/carol")])
      let report = try await merge(fixture).carryOut(order(), in: fixture.namespace)
      #expect(report.heldReward == "/waiting/alice/carol")
      #expect(try fixture.scalar("/waiting/alice/carol") == 50 && fixture.scalar("/waiting/alice/anon") == nil)
      #expect(try fixture.scalar("/elsewhere/alice/anon") == 50)
    }
  }

  @Test("What cannot be merged is refused with the reason, and nothing changes")
  func refusals() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      let head = try fixture.head()
      #expect(await refusal(fixture, order("anon", "anon")) == "anon stands on both sides.")
      #expect(
        await refusal(fixture, order("anon", "nobody"))?.hasPrefix("There is neither an account nor a record of nobody")
          == true)
      #expect(await refusal(fixture, order("carol", "anon"))?.hasPrefix("carol carries no referral.") == true)
      #expect(try fixture.head() == head)
      try await fixture.commit([.set("/users/carol/referred_by", "eve")])
      #expect(await refusal(fixture, order()) == "carol was invited by eve, and that stays. Nothing was moved.")
      try await fixture.commit([.set("/users/anon/referred_by", "carol")])
      #expect(await refusal(fixture, order()) == "carol invited anon: nobody can invite themselves.")
      try await fixture.commit([.set("/users/anon/referred_by", ["by": "eve"])])
      #expect(
        await refusal(fixture, order())
          == "What stands at /users/anon/referred_by names no player; correct it first.")
      #expect(try fixture.account("anon")?.isDisabled == false)
    }
  }

  @Test("A hold on the coins of the account that is left has to end first; the preview says so")
  func holds() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      _ = try await fixture.ledger.hold(
        HoldOrder(
          from: LedgerAccount("user:anon"), owner: "shop", amount: 30, unit: "pieces_of_eight", key: BusinessKey("h1")),
        in: fixture.namespace, by: .admin("ann"))
      #expect(try merge(fixture).preview(order(), in: fixture.namespace).waitingWork?.count == 1)
      #expect(await refusal(fixture, order())?.contains("30 pieces_of_eight from user:anon") == true)
      #expect(try fixture.scalar("/users/anon/referred_by") == "alice")
    }
  }

  @Test("A stored report reads back as it was")
  func stored() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      let report = try await merge(fixture).carryOut(
        order(movesBalances: true, copiesRecord: true), in: fixture.namespace)
      let text = try #require(report.change.value)
      let read = try #require(MergeReport(stored: text))
      #expect(read.change.value == text)
      #expect(
        text.hasPrefix(
          #"{"from":"anon","into":"carol","referrer":"alice","balances":[{"unit":"pieces_of_eight","amount":50}],"#))
    }
  }
}
