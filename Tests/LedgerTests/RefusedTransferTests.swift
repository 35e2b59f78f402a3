import Ledger
import RewardModel
import StorageCore
import Testing
import TreeModel

@Suite("A transfer that is refused changes nothing")
struct RefusedTransferTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let why: String
    let transfers: [LedgerTransfer]
    let code: String

    init(_ why: String, _ code: String, _ transfers: LedgerTransfer...) {
      self.why = why
      self.code = code
      self.transfers = transfers
    }

    var testDescription: String { why }
  }

  /// The state that every row meets: bob has 100, rich Int64.max, odd a string, boxed an object, half 1.5; entry 1 paid
  /// bob, entry 2 was reversed by entry 3, entry 4 is a hold of 10, entry 5 a hold that has expired.
  static let rows: [Row] = [
    Row("an empty key", "invalidTransfer", .reward("bob", 5, key: "")),
    Row("a key over 1024 bytes", "invalidTransfer", .reward("bob", 5, key: String(repeating: "k", count: 1025))),
    Row("a key that adjustments use", "invalidTransfer", .reward("bob", 5, key: "adjustment/9/user:bob")),
    Row("a key that openings use", "invalidTransfer", .reward("bob", 5, key: "opening/9/user:bob")),
    Row("a reversal's key without a reversal", "invalidTransfer", .reward("bob", 5, key: "reversal/1")),
    Row("a hold's end without a hold", "invalidTransfer", .reward("bob", 5, key: "hold-end/4")),
    Row("one key twice in one request", "invalidTransfer", .reward("bob", 5, key: "k"), .reward("eve", 5, key: "k")),
    Row("a key that was used for the same", "keyTaken", .reward("bob", 120, key: "first")),
    Row("a key that was used for another", "keyTaken", .reward("eve", 1, key: "first")),
    Row("a taken key, although the funds are gone", "keyTaken", .moving(900, from: "user:bob", to: "shop", key: "first")),
    Row("an amount of zero", "invalidTransfer", .reward("bob", 0, key: "k")),
    Row("a negative amount", "invalidTransfer", .reward("bob", -5, key: "k")),
    Row("one account on both sides", "invalidTransfer", .moving(5, from: "user:bob", to: "user:bob", key: "k")),
    Row("an account without a kind", "invalidTransfer", .moving(5, from: "shop", to: ":bob", key: "k")),
    Row("an empty account", "invalidTransfer", .moving(5, from: "", to: "user:bob", key: "k")),
    Row(
      "an account's name over 2048 bytes", "invalidTransfer",
      .moving(5, from: String(repeating: "s", count: 2049), to: "user:bob", key: "k")),
    Row("an empty code", "invalidTransfer", .moving(5, from: "shop", to: "user:bob", key: "k", code: "")),
    Row("an empty unit", "invalidTransfer", .moving(5, from: "shop", to: "till", key: "k", unit: "")),
    Row("a unit that is no name", "invalidTransfer", .moving(5, from: "shop", to: "till", key: "k", unit: "gold/é")),
    Row(
      "a player's account in an undeclared unit", "invalidTransfer",
      .moving(5, from: "shop", to: "user:bob", key: "k", unit: "gems")),
    Row("a player without a name", "invalidTransfer", .reward("", 5, key: "k")),
    Row("a player whose name is a path", "invalidTransfer", .reward("bob/x", 5, key: "k")),
    Row("a player whose name is no key", "invalidTransfer", .reward("b.b", 5, key: "k")),
    Row("a balance that is a string", "balanceType", .reward("odd", 5, key: "k")),
    Row("a balance that is an object", "balanceType", .reward("boxed", 5, key: "k")),
    Row("a balance that is a fraction", "balanceType", .reward("half", 5, key: "k")),
    Row("taking from a balance that is a string", "balanceType", .moving(5, from: "user:odd", to: "shop", key: "k")),
    Row("a sum over Int64.max", "balanceOverflow", .reward("rich", 1, key: "k")),
    Row(
      "an account of the ledger's own over its range", "balanceOverflow",
      .moving(.max, from: "a", to: "b", key: "k"), .moving(.max, from: "a", to: "c", key: "l")),
    Row("more than the player has", "insufficientFunds", .moving(101, from: "user:bob", to: "shop", key: "k")),
    Row("from a player who has nothing", "insufficientFunds", .moving(1, from: "user:ghost", to: "shop", key: "k")),
    Row(
      "more than the player has, in two parts", "insufficientFunds",
      .moving(60, from: "user:bob", to: "shop", key: "k"), .moving(60, from: "user:bob", to: "shop", key: "l")),
    Row("a reversal of no entry", "invalidTransfer", .moving(5, from: "user:bob", to: "shop", key: "k", reverses: 99)),
    Row("a second reversal", "invalidTransfer", .moving(7, from: "user:eve", to: "issuance:gift", key: "k", reverses: 2)),
    Row(
      "a reversal of a reversal", "invalidTransfer", .moving(7, from: "issuance:gift", to: "user:eve", key: "k", reverses: 3)),
    Row(
      "a reversal of another amount", "invalidTransfer",
      .moving(99, from: "user:bob", to: "issuance:gift", key: "k", reverses: 1)),
    Row(
      "a reversal the same way", "invalidTransfer", .moving(120, from: "issuance:gift", to: "user:bob", key: "k", reverses: 1)),
    Row(
      "two reversals of one entry in one request", "invalidTransfer",
      .moving(120, from: "user:bob", to: "issuance:gift", key: "k", reverses: 1),
      .moving(120, from: "user:bob", to: "issuance:gift", key: "l", reverses: 1)),
    Row("a reversal of a hold", "invalidTransfer", .moving(10, from: "hold:bob", to: "user:bob", key: "k", reverses: 4)),
    Row("coins out of a hold by the way", "invalidTransfer", .moving(10, from: "hold:bob", to: "shop", key: "k")),
    Row("the end of a hold that is none", "invalidTransfer", .moving(10, from: "hold:bob", to: "shop", key: "hold-end/1")),
    Row("the end of somebody else's hold", "invalidTransfer", .moving(10, from: "hold:eve", to: "shop", key: "hold-end/4")),
    Row("a part of a hold without the rest", "invalidTransfer", .moving(4, from: "hold:bob", to: "shop", key: "hold-end/4")),
    Row("the rest of a hold alone", "invalidTransfer", .moving(10, from: "hold:bob", to: "shop", key: "hold-end/4/rest")),
    Row("more than a hold has", "invalidTransfer", .moving(11, from: "hold:bob", to: "shop", key: "hold-end/4")),
    Row(
      "a release after the expiry", "invalidTransfer",
      .moving(10, from: "hold:bob", to: "shop", key: "hold-end/5", code: "release")),
    Row("an expiry on what is no hold", "invalidTransfer", .moving(5, from: "user:bob", to: "shop", key: "k", expiresAt: .max)),
    Row("a hold that has expired", "invalidTransfer", .moving(5, from: "user:bob", to: "hold:bob", key: "k", expiresAt: 1)),
  ]

  @Test("one row of the table", arguments: rows)
  func isRefused(_ row: Row) async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 120, key: "first")
    try await fixture.pay("eve", 7, key: "second")
    _ = try await fixture.ledger.reverse(2, in: fixture.namespace, by: .admin("ann"), reason: "mistake")
    for (key, expiresAt) in [("hold", Int64.max), ("short", LedgerFixture.start + 10)] {
      let order = HoldOrder(
        from: LedgerAccount("user:bob"), owner: "bob", amount: 10, unit: LedgerFixture.unit, key: BusinessKey(key),
        expiresAt: expiresAt)
      _ = try await fixture.ledger.hold(order, in: fixture.namespace, by: .admin("ann"))
    }
    try await fixture.write(
      .set(balanceKey("rich"), .leaf(.int(.max))), .set(balanceKey("odd"), "10"), .set(balanceKey("half"), 1.5),
      .set(balanceKey("boxed"), ["coins": 5]))
    fixture.clock.advance(by: 10)
    let entries = try fixture.entries()
    let tree = try fixture.node(.root)

    // A write beside the transfers is taken back with them.
    let refusal = await #expect(throws: CommitError.self) {
      try await fixture.write(.set("/users/eve/level", 3), transfers: row.transfers)
    }
    #expect(refusal?.code.name == row.code, "\(row.why): \(refusal?.message ?? "")")
    #expect(refusal?.message.isEmpty == false)
    #expect(try fixture.entries() == entries)
    #expect(try fixture.node(.root) == tree)
    #expect(try fixture.verify().isSound)
  }

  @Test("Check 41: a string at the balance refuses the reward and stays what it is")
  func stringBalance() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.write(.set(balanceKey("bob"), "10"))
    let error = await #expect(throws: LedgerError.self) { try await fixture.pay("bob", 50, key: "k") }
    #expect(error?.code == .balanceType)
    #expect(error?.message.contains("/users/bob/inventory/pieces_of_eight") == true)
    #expect(try fixture.node(balanceKey("bob")) == "10")
    let report = try fixture.verify()
    #expect(report.isSound)
    #expect(report.unbacked.map(\.found) == ["a string"])
  }

  @Test("Check 42: a balance of Int64.max refuses the reward, and the server lives")
  func overflow() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.write(.set(balanceKey("bob"), .leaf(.int(.max))))
    let error = await #expect(throws: LedgerError.self) { try await fixture.pay("bob", 50, key: "k") }
    #expect(error?.code == .balanceOverflow)
    #expect(try fixture.balance("user:bob") == .max)
    try await fixture.pay("eve", 50, key: "k")
    #expect(try fixture.balance("user:eve") == 50)
    #expect(try fixture.verify().isSound)
  }
}
