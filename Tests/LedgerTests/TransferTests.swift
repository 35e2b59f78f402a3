import Ledger
import RewardModel
import StorageCore
import Testing
import TreeModel

@Suite("A transfer moves coins once")
struct TransferTests {
  @Test(
    "Absent counts as 0, 120 becomes 170, -20 becomes 30", arguments: [(nil, 50), (120, 170), (-20, 30)] as [(Int64?, Int64)])
  func credits(before: Int64?, after: Int64) async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    if let before { try await fixture.write(.set(balanceKey("bob"), .leaf(.int(before)))) }
    let posted = try await fixture.pay("bob", 50, key: "k")
    #expect(posted.entry.creditAfter == after)
    #expect(try fixture.node(balanceKey("bob")) == .leaf(.int(after)))
    #expect(try fixture.verify().isSound)
  }

  @Test("The entry says who gave, who got, what they have after, and follows on the entry before")
  func entryShape() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let first = try await fixture.pay("bob", 50, key: "a").entry
    let second = try await fixture.pay("bob", 20, key: "b").entry
    #expect(first.previousHash == NamespaceHead.genesisHash)
    #expect(second.previousHash == first.hash)
    #expect([first.sequence, second.sequence] == [1, 2])
    #expect([first.revision, second.revision] == [1, 2])
    #expect(second.time == LedgerFixture.start)
    #expect(second.debitAfter == -70)
    #expect(second.creditAfter == 70)
    #expect(second.change(of: LedgerAccount("user:bob")) == 20)
    #expect(second.change(of: .issuance("gift")) == -20)
    #expect(second.balance(of: LedgerAccount("user:eve")) == nil)
    #expect(try fixture.balance("issuance:gift") == -70)
  }

  @Test("Several transfers of one request see each other")
  func accumulate() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let receipt = try await fixture.write(transfers: [
      .reward("bob", 50, key: "a"), .moving(30, from: "user:bob", to: "user:eve", key: "b"),
      .moving(20, from: "user:bob", to: "shop", key: "c"), .moving(30, from: "user:eve", to: "user:bob", key: "d"),
    ])
    #expect(receipt.entries.map(\.debitAfter) == [-50, 20, 0, 0])
    #expect(receipt.entries.map(\.creditAfter) == [50, 30, 20, 30])
    #expect(try fixture.balance("user:bob") == 30)
    #expect(try fixture.node(balanceKey("eve")) == 0)
    #expect(try fixture.verify().isSound)
  }

  @Test("A transfer between accounts of the ledger's own changes no leaf, and is an entry with a revision all the same")
  func ledgerOnly() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let receipt = try await fixture.write(transfers: [.moving(5, from: "till", to: "shop", key: "a", unit: "gems")])
    #expect(receipt.entries.map(\.revision) == [receipt.revision.rawValue])
    #expect(try fixture.balance("till", unit: "gems") == -5)
    #expect(try fixture.balance("shop", unit: "gems") == 5)
    #expect(try fixture.balance("shop") == 0)
    #expect(try fixture.node(.root) == .absent)
    #expect(try fixture.verify().isSound)
  }

  @Test("A transfer keeps the priority of the balance")
  func keepsPriority() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.write(.set(balanceKey("bob"), .leaf(10, priority: "p")))
    try await fixture.pay("bob", 5, key: "k")
    #expect(try fixture.node(balanceKey("bob")) == .leaf(15, priority: "p"))
  }

  @Test("Check 57: the same key with the same body answers with the first entry, with another amount it is a conflict")
  func businessKeys() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let first = try await fixture.pay("bob", 50, key: "level5/eve")
    let again = try await fixture.pay("bob", 50, key: "level5/eve")
    #expect(!first.isRepeated)
    #expect(again == PostedTransfer(entry: first.entry, isRepeated: true))
    let error = await #expect(throws: LedgerError.self) { try await fixture.pay("bob", 51, key: "level5/eve") }
    #expect(error?.code == .keyConflict)
    #expect(error?.entry == first.entry)
    #expect(try fixture.entries().count == 1)
    #expect(try fixture.balance("user:bob") == 50)
  }

  @Test("A thousand payments at once add up, and a payment asked for a hundred times is made once")
  func manyAtOnce() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let repeated = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<1000 { group.addTask { try await fixture.pay("bob", 50, key: "k\(number)").isRepeated } }
      for _ in 0..<100 { group.addTask { try await fixture.pay("bob", 1, key: "one").isRepeated } }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(repeated == 99)
    #expect(try fixture.balance("user:bob") == 50_001)
    #expect(try fixture.entries().count == 1001)
    #expect(try fixture.verify().isSound)
  }

  @Test("A repetition is answered although the coins are gone, or the balance is spoilt")
  func repetitionNeedsNoFunds() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "in")
    let spend = LedgerTransfer.moving(50, from: "user:bob", to: "shop", key: "out")
    let first = try await fixture.ledger.transfer(spend, in: fixture.namespace, by: .admin("ann"))
    try await fixture.write(.set(balanceKey("bob"), "spoilt"))
    let again = try await fixture.ledger.transfer(spend, in: fixture.namespace, by: .admin("ann"))
    #expect(again.entry == first.entry && again.isRepeated)
  }

  @Test("Keys and players whose names only look alike are different ones")
  func exactNames() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    #expect(composed == decomposed)
    try await fixture.pay(composed, 1, key: composed)
    try await fixture.pay(decomposed, 2, key: decomposed)
    #expect(try fixture.balance("user:\(composed)") == 1)
    #expect(try fixture.balance("user:\(decomposed)") == 2)
    // A combining mark makes one character with the colon before it.
    try await fixture.pay("\u{301}x", 3, key: "mark")
    #expect(try fixture.node(balanceKey("\u{301}x")) == 3)
    #expect(try fixture.verify().isSound)
  }

  @Test("A statement lists the account's entries, newest first, page by page")
  func statement() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    for number in 1...5 { try await fixture.pay(number == 3 ? "eve" : "bob", Int64(number), key: "k\(number)") }
    let bob = LedgerAccount("user:bob")
    let page = try fixture.ledger.statement(in: fixture.namespace, of: bob, limit: 3)
    #expect(page.map(\.sequence) == [5, 4, 2])
    let next = try fixture.ledger.statement(in: fixture.namespace, of: bob, before: page.last?.sequence, limit: 3)
    #expect(next.map(\.sequence) == [1])
    #expect(try fixture.ledger.statement(in: fixture.namespace, of: bob, limit: -1).isEmpty)
  }

  @Test("Two currencies of one player, and holders of another kind, do not meet")
  func severalCurrencies() async throws {
    let fixture = try await LedgerFixture(currencies: [
      .piecesOfEight, Currency(unit: "gems", pattern: "users/{uid}/gems"),
      Currency(unit: "gems", pattern: "guilds/{realm}/{guild}/chest", holder: "guild"),
    ])
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "a")
    try await fixture.write(transfers: [
      .moving(7, from: "issuance:gift", to: "user:bob", key: "b", unit: "gems"),
      .moving(5, from: "user:bob", to: "guild:north/wolves", key: "c", unit: "gems"),
    ])
    try await fixture.write(.set("/guilds/north/bears/chest", 3))
    #expect(try fixture.node("/users/bob/gems") == 2)
    #expect(try fixture.node("/guilds/north/wolves/chest") == 5)
    #expect(try fixture.balance("guild:north/bears", unit: "gems") == 3)
    #expect(try fixture.balance("user:bob") == 50)
    #expect(try fixture.verify().isSound)
  }
}

@Suite("A reversal takes an entry back by a new one")
struct ReversalTests {
  @Test("Check 59: an entry is reversed once, and stays as it was")
  func once() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let original = try await fixture.pay("bob", 50, key: "k").entry
    let ledger = fixture.ledger
    let reversal = try await ledger.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    #expect(reversal.entry.transfer.key == .reversal(of: 1))
    #expect(reversal.entry.transfer.reverses == 1)
    #expect(reversal.entry.debitAfter == 0)
    let again = try await ledger.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    #expect(again.entry == reversal.entry && again.isRepeated)
    let error = await #expect(throws: LedgerError.self) {
      try await ledger.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "another reason")
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
      try await fixture.ledger.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud", policy: .refuse)
    }
    #expect(error?.code == .insufficientFunds)
    _ = try await fixture.ledger.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    #expect(try fixture.balance("user:bob") == -50)
    try await fixture.pay("bob", 80, key: "l")
    #expect(try fixture.balance("user:bob") == 30)
    #expect(try fixture.verify().isSound)
  }

  @Test("An adjustment can be taken back like any entry")
  func adjustment() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.write(.set(balanceKey("bob"), 120))
    _ = try await fixture.ledger.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "typing error")
    #expect(try fixture.node(balanceKey("bob")) == 0)
    #expect(try fixture.verify().isSound)
  }

  @Test("What is no entry, is a reversal or belongs to a hold cannot be reversed")
  func refusals() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "k")
    _ = try await fixture.ledger.reverse(1, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
    try await fixture.pay("bob", 50, key: "l")
    _ = try await fixture.ledger.hold(
      HoldOrder(from: LedgerAccount("user:bob"), owner: "bob", amount: 5, unit: LedgerFixture.unit, key: BusinessKey("h")),
      in: fixture.namespace, by: .admin("ann"))
    for (sequence, code) in [(9, .notFound), (2, .invalid), (4, .invalid)] as [(Int64, LedgerError.Code)] {
      let error = await #expect(throws: LedgerError.self) {
        try await fixture.ledger.reverse(sequence, in: fixture.namespace, by: .admin("ann"), reason: "fraud")
      }
      #expect(error?.code == code)
    }
    #expect(try fixture.entries().count == 4)
  }
}
