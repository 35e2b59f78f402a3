import Ledger
import RewardModel
import StorageCore
import Testing
import TreeModel

@Suite("A reversal takes an entry back by a new one")
struct ReversalTests {
  @Test("Check 59: an entry is reversed once, and stays as it was")
  func once() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let original = try await fixture.pay("bob", 50, key: "k").entry
    let book = fixture.book
    let reversal = try await book.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    #expect(reversal.entry.transfer.key == .reversal(of: 1))
    #expect(reversal.entry.transfer.reverses == 1)
    #expect(reversal.entry.debitAfter == 0)
    let again = try await book.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    #expect(again.entry == reversal.entry && again.isRepeated)
    let error = await #expect(throws: LedgerError.self) {
      try await book.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "another reason")
    }
    #expect(error?.code == .alreadyReversed)
    #expect(error?.entry == reversal.entry)
    #expect(try fixture.entries() == [original, reversal.entry])
    #expect(try fixture.verify().isSound)
  }

  @Test("Coins that were spent become a debt, which the next reward pays, or the reversal is refused")
  func spentCoins() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "k")
    try await fixture.write(transfers: [.moving(50, from: "user:bob", to: "shop", key: "s")])
    let error = await #expect(throws: LedgerError.self) {
      try await fixture.book.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud", policy: .refuse)
    }
    #expect(error?.code == .insufficientFunds)
    _ = try await fixture.book.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    #expect(try fixture.balance("user:bob") == -50)
    try await fixture.pay("bob", 80, key: "l")
    #expect(try fixture.balance("user:bob") == 30)
    #expect(try fixture.verify().isSound)
  }

  @Test("An adjustment can be taken back like any entry")
  func adjustment() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.write(.set(purse("bob"), 120))
    _ = try await fixture.book.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "typing error")
    #expect(try fixture.node(purse("bob")) == 0)
    #expect(try fixture.verify().isSound)
  }

  @Test("What is no entry, is a reversal or belongs to a hold cannot be reversed")
  func refusals() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "k")
    _ = try await fixture.book.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    try await fixture.pay("bob", 50, key: "l")
    _ = try await fixture.book.hold(
      HoldOrder(from: LedgerAccount("user:bob"), owner: "bob", amount: 5, unit: LedgerFixture.unit, key: BusinessKey("h")),
      in: fixture.namespace, by: .admin("ann"))
    for (sequence, code) in [(9, .notFound), (2, .invalid), (4, .invalid)] as [(Int64, LedgerError.Code)] {
      let error = await #expect(throws: LedgerError.self) {
        try await fixture.book.reverse(sequence, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
      }
      #expect(error?.code == code)
    }
    #expect(try fixture.entries().count == 4)
  }
}
