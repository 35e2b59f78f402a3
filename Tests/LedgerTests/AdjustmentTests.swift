import Ledger
import RewardModel
import StorageCore
import Testing
import TreeModel

@Suite("A balance that somebody wrote is adjusted in the ledger")
struct AdjustmentTests {
  @Test("Check 60: an admin's edit posts one adjustment that says who wrote")
  func adminEdit() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "k")
    let receipt = try await fixture.write(.set(balanceKey("bob"), 120))
    let entry = try #require(receipt.entries.first)
    #expect(receipt.entries.count == 1)
    #expect(entry.transfer.debit == .adjustment)
    #expect(entry.transfer.credit == LedgerAccount("user:bob"))
    #expect(entry.transfer.amount == 70)
    #expect(entry.transfer.code == "adjustment")
    #expect(entry.transfer.reason == "written by admin:ann")
    #expect(entry.creditAfter == 120)
    #expect(entry.revision == receipt.revision.rawValue)
    #expect(try fixture.verify().isSound)
  }

  @Test("An import posts opening entries")
  func imports() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let users: TreeNode = ["bob": ["inventory": ["pieces_of_eight": 120]], "eve": ["inventory": ["pieces_of_eight": -3]]]
    let receipt = try await fixture.write(.set("/users", users), isImport: true)
    #expect(receipt.entries.map(\.transfer.code) == ["opening", "opening"])
    #expect(try fixture.balance("opening") == -117)
    #expect(try fixture.balance("adjustment") == 0)
    #expect(try fixture.verify().isSound)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let operation: WriteOperation
    /// What the adjustment adds to bob's 50 and to eve's 20.
    let bob: Int64
    let eve: Int64

    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(name: "a larger number", operation: .set(balanceKey("bob"), 60), bob: 10, eve: 0),
    Case(name: "the same number", operation: .set(balanceKey("bob"), 50), bob: 0, eve: 0),
    Case(name: "the same number as a double", operation: .set(balanceKey("bob"), 50.0), bob: 0, eve: 0),
    Case(name: "a priority", operation: .setPriority(balanceKey("bob"), priority: .scalar(1)), bob: 0, eve: 0),
    Case(name: "an increment", operation: .set(balanceKey("bob"), .increment(-8)), bob: -8, eve: 0),
    Case(name: "nothing", operation: .remove(balanceKey("bob")), bob: -50, eve: 0),
    Case(name: "a string", operation: .set(balanceKey("bob"), "60"), bob: -50, eve: 0),
    Case(name: "a boolean", operation: .set(balanceKey("bob"), true), bob: -50, eve: 0),
    Case(name: "a fraction", operation: .set(balanceKey("bob"), 50.5), bob: -50, eve: 0),
    Case(name: "an object", operation: .set(balanceKey("bob"), ["a": 50]), bob: -50, eve: 0),
    Case(name: "a child below it", operation: .set(balanceKey("bob").child(Key(unchecked: "a")), 50), bob: -50, eve: 0),
    Case(name: "a scalar at the parent", operation: .set("/users/bob/inventory", 7), bob: -50, eve: 0),
    Case(name: "another record of the player", operation: .set("/users/bob", ["level": 4]), bob: -50, eve: 0),
    Case(
      name: "a record with a balance", operation: .set("/users/bob", ["inventory": ["pieces_of_eight": 1]]), bob: -49, eve: 0),
    Case(name: "other players", operation: .set("/users", ["eve": ["inventory": ["pieces_of_eight": 21]]]), bob: -50, eve: 1),
    Case(name: "nothing at all", operation: .remove(.root), bob: -50, eve: -20),
    Case(name: "a scalar at the root", operation: .set(.root, "gone"), bob: -50, eve: -20),
    Case(name: "a place beside it", operation: .set("/users/bob/inventory/maps", 3), bob: 0, eve: 0),
  ]

  @Test("whatever is written, at whatever depth", arguments: cases)
  func anyWrite(_ row: Case) async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "a")
    try await fixture.pay("eve", 20, key: "b")
    let receipt = try await fixture.write(row.operation)
    let change = { (uid: String) in
      receipt.entries.reduce(into: 0) { $0 += $1.change(of: LedgerAccount("user:\(uid)")) }
    }
    #expect(change("bob") == row.bob)
    #expect(change("eve") == row.eve)
    #expect(receipt.entries.count == [row.bob, row.eve].count { $0 != 0 })
    #expect(try fixture.balance("adjustment") == -(row.bob + row.eve))
    let report = try fixture.verify()
    #expect(report.isSound, "\(report.faults)")
  }

  @Test("A write and a transfer in one request are told apart, in the order in which they were applied")
  func writeAndTransfer() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let receipt = try await fixture.write(
      .set(balanceKey("bob"), 100), transfers: [.moving(60, from: "user:bob", to: "shop", key: "k")])
    #expect(receipt.entries.map(\.transfer.code) == ["adjustment", "gift"])
    #expect(receipt.entries.last?.debitAfter == 40)
    #expect(try fixture.verify().isSound)
  }

  @Test("A write and a transfer that cancel out leave both their entries, again and again")
  func cancelOut() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.write(.set(balanceKey("bob"), 100))
    for round in 1...3 {
      let receipt = try await fixture.write(.set(balanceKey("bob"), 50), transfers: [.reward("bob", 50, key: "k\(round)")])
      #expect(receipt.entries.map { $0.change(of: LedgerAccount("user:bob")) } == [-50, 50])
    }
    #expect(try fixture.node(balanceKey("bob")) == 100)
    #expect(try fixture.verify().isSound)
  }

  @Test("From Int64.min to Int64.max and back takes several entries, and the sums still meet")
  func extremes() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    for value in [Int64.min, .max, .min, 0, .max, -1, .min] {
      for uid in ["bob", "eve", "kim"] {
        try await fixture.write(.set(balanceKey(uid), .leaf(.int(value))))
        #expect(try fixture.balance("user:\(uid)") == value)
      }
      let report = try fixture.verify()
      #expect(report.isSound, "\(value): \(report.faults)")
    }
    #expect(try fixture.entries().allSatisfy { $0.transfer.amount > 0 })
  }

  @Test("Many balances in one commit are adjusted in one commit")
  func manyLeaves() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let users = (0..<2500).map { number in
      TreeMap.Entry(
        key: Key(unchecked: "u\(number)"), node: ["inventory": ["pieces_of_eight": .leaf(.int(Int64(number) - 1000))]])
    }
    try await fixture.write(.set("/users", .map(TreeMap(users))), isImport: true)
    #expect(try fixture.entries().count == 2499)
    #expect(try fixture.verify().isSound)
    try await fixture.write(.remove("/users"))
    #expect(try fixture.entries().count == 4998)
    #expect(try fixture.verify().isSound)
  }
}

@Suite("Currencies are checked before they are used")
struct CurrencyTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let why: String
    let currencies: [Currency]

    init(_ why: String, _ currencies: Currency...) {
      self.why = why
      self.currencies = currencies
    }

    var testDescription: String { why }
  }

  static let faulty: [Row] = [
    Row("no owner", Currency(unit: "gold", pattern: "bank/gold")),
    Row("an owner without a name", Currency(unit: "gold", pattern: "users/*/gold")),
    Row("owners of any depth", Currency(unit: "gold", pattern: "users/{uid=**}")),
    Row("a unit with a slash", Currency(unit: "go/ld", pattern: "users/{uid}/gold")),
    Row("an empty unit", Currency(unit: "", pattern: "users/{uid}/gold")),
    Row("a holder with a colon", Currency(unit: "gold", pattern: "users/{uid}/gold", holder: "a:b")),
    Row("a holder that is the ledger's", Currency(unit: "gold", pattern: "users/{uid}/gold", holder: "hold")),
    Row("two places for one balanceKey", .piecesOfEight, Currency(unit: "pieces_of_eight", pattern: "users/{uid}/coins")),
    Row(
      "one place for two units", Currency(unit: "gold", pattern: "users/{uid}/gold"),
      Currency(unit: "silver", pattern: "{all}/{uid}/gold")),
  ]

  @Test("a table that would mix up balances is refused", arguments: faulty)
  func isRefused(_ row: Row) {
    let error = #expect(throws: LedgerError.self) { try CurrencyTable(row.currencies) }
    #expect(error?.code == .invalidCurrency)
  }

  @Test("No currencies, and currencies that differ in unit, holder or place, are fine")
  func sound() throws {
    _ = try CurrencyTable([])
    _ = try CurrencyTable([
      .piecesOfEight, Currency(unit: "gems", pattern: "users/{uid}/gems"),
      Currency(unit: "gems", pattern: "guilds/{guild}/gems", holder: "guild"),
      Currency(unit: "tickets", pattern: "tickets/{uid}"),
    ])
  }
}
