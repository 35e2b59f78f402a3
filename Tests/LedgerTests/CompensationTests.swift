import Ledger
import RewardModel
import StorageCore
import Testing
import TreeModel

@Suite("A table of payments pays each line once")
struct CompensationTests {
  static let head = "account,amount,unit,key,reason\n"

  private func fixture() async throws -> LedgerFixture {
    let fixture = try await LedgerFixture()
    for player in ["ann", "bob"] {
      try await fixture.write(.set(try Path(parsing: "/users/\(player)/name"), .leaf(.string(player))))
    }
    return fixture
  }

  private func file(_ lines: String, head: String = head, of fixture: LedgerFixture) -> CompensationFile {
    CompensationFile(csv: head + lines, unit: LedgerFixture.unit, currencies: fixture.table)
  }

  private func plan(_ lines: String, of fixture: LedgerFixture) throws -> CompensationPlan {
    try Compensator(fixture.ledger).plan(file(lines, of: fixture), in: fixture.namespace)
  }

  private func pay(_ lines: String, reason: String = "outage", of fixture: LedgerFixture) async throws -> CompensationResult {
    await Compensator(fixture.ledger).pay(
      try plan(lines, of: fixture), in: fixture.namespace, by: .admin("ann"), reason: reason)
  }

  @Test(
    "What is wrong with a line is told by line and column",
    arguments: [
      ("bob,50,,k,", nil, nil), ("user:bob,9223372036854775807,pieces_of_eight,k,=cmd", nil, nil),
      ("bob,0,,k,", "amount", "is no amount"), ("bob,-5,,k,", "amount", "is no amount"),
      ("bob,+5,,k,", "amount", "is no amount"),
      ("bob,5.0,,k,", "amount", "is no amount"), ("bob,1e3,,k,", "amount", "is no amount"),
      ("bob, 5,,k,", "amount", "is no amount"),
      ("bob,,,k,", "amount", "is no amount"), ("bob,٥,,k,", "amount", "is no amount"),
      ("bob,9223372036854775808,,k,", "amount", "is no amount"), ("bob,-9223372036854775808,,k,", "amount", "is no amount"),
      ("bob,99999999999999999999999,,k,", "amount", "is no amount"),
      (",5,,k,", "account", "Nobody"), ("issuance:x,5,,k,", "account", "no player's"),
      ("hold:bob,5,,k,", "account", "no player's"),
      ("google:bob,5,,k,", "account", "no player's"), ("user:a/b,5,,k,", "account", "names no place"),
      ("user:a.b,5,,k,", "account", "names no place"), ("user:,5,,k,", "account", "names no place"),
      ("bob,5,gems,k,", "unit", "no such currency"), ("bob,5,,,", "key", "needs a business key"),
      ("bob,5,,reversal/1,", "key", "the ledger's own"), ("bob,5,,hold-end/1,", "key", "the ledger's own"),
      ("bob,5,,adjustment/1,", "key", "the ledger's own"), ("bob,5,,k", "4", "has 4 values"),
      ("bob,5,,k,,", "6", "has 6 values"),
    ] as [(String, String?, String?)])
  func lines(_ line: String, column: String?, message: String?) async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    let read = file(line, of: fixture)
    #expect(read.rows.count == (column == nil ? 1 : 0))
    #expect(read.faults.map(\.column) == [column].compactMap(\.self), "\(read.faults)")
    #expect(read.faults.allSatisfy { $0.line == 2 && $0.message.contains(message ?? "") }, "\(read.faults)")
  }

  @Test("The first line names the columns, in any order, each once; unit and reason may be missing")
  func heads() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    for (head, isGood) in [
      ("key,account,amount\n", true), ("account,amount\n", false), ("account,amount,key,key\n", false),
      ("account,amount,key,note\n", false), ("", false), ("bob,50,k\n", false),
    ] {
      let read = file("k,bob,50", head: head, of: fixture)
      #expect(read.rows.count == (isGood ? 1 : 0) && read.faults.count == (isGood ? 0 : 1), "\(head) \(read.faults)")
    }
    #expect(file("", of: fixture).faults.map(\.line) == [2])
    #expect(
      file("bob,5,,k,\nann,5,,k,", of: fixture).faults.map(\.message) == [
        "Line 2 has the same key: give each payment one of its own."
      ])
    let many = String(repeating: "bob,1,,k,\n", count: CompensationFile.rowsMax + 1)
    #expect(file(many, of: fixture).faults.last?.message.contains("more than") == true)
    let large = file(String(repeating: "x", count: CompensationFile.bytesMax), of: fixture)
    #expect(large.rows.isEmpty && large.faults.map(\.message.isEmpty) == [false])
  }

  @Test("A plan knows the store: used keys, strangers, balances that are none or would not fit, sums beyond 64 bits")
  func plans() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 7, key: "used")
    try await fixture.write(
      .set(balanceKey("ill"), "many"),
      .set("/users/deep/inventory/pieces_of_eight/x", 1))
    let plan = try plan("bob,50,,a,\nann,5,,b,\nghost,1,,c,\nbob,7,,used,\nill,1,,d,\ndeep,1,,e,", of: fixture)
    #expect(plan.payments.map(\.key.text) == ["a", "b", "c"] && plan.sums == [LedgerFixture.unit: 56])
    #expect(plan.strangers.map(\.account.name) == ["user:ghost"] && plan.repeats.isEmpty)
    #expect(plan.faults.map(\.line) == [5, 6, 7] && plan.faults.map(\.column) == ["key", "account", "account"])
    let most = Int64.max
    for (lines, line) in [
      ("bob,\(most),,a,", 2), ("ann,\(most),,a,\nbob,1,,b,", 3), ("ann,1,,a,\nann,\(most),,b,", 3), ("ann,\(most),,a,", nil),
    ] as [(String, Int?)] {
      let plan = try self.plan(lines, of: fixture)
      #expect(plan.faults.map(\.line) == [line].compactMap(\.self), "\(lines.prefix(20)) \(plan.faults)")
      #expect(plan.faults.allSatisfy { $0.column == "amount" })
    }
  }

  @Test("Paid again it pays nothing; under other words, too; a longer table pays what is new; a changed line is a fault")
  func once() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    let first = try await pay("bob,50,,a,\nann,5,,b,=cmd", of: fixture)
    #expect(first.paid == 2 && first.repeated == 0 && first.refusals.isEmpty && first.sums == [LedgerFixture.unit: 55])
    let entry = try fixture.ledger.entry(in: fixture.namespace, key: BusinessKey("b"))?.transfer
    #expect(entry?.reason == "=cmd" && entry?.debit == Compensator.account && entry?.code == "compensation")
    let again = try await pay("bob,50,,a,\nann,5,,b,=cmd", reason: "other words", of: fixture)
    #expect(again.paid == 0 && again.repeated == 2 && again.sums.isEmpty)
    let longer = try await pay("bob,50,,a,\nann,5,,b,\nann,6,,c,", of: fixture)
    #expect(longer.paid == 1 && longer.repeated == 2)
    #expect(try [fixture.balance("user:bob"), fixture.balance("user:ann")] == [50, 11])
    #expect(try plan("bob,51,,a,", of: fixture).faults.map(\.column) == ["key"])
    #expect(try plan("ann,50,,a,", of: fixture).faults.map(\.column) == ["key"])
    #expect(try fixture.verify().isSound)
  }

  @Test("Two administrators who send the same table at once pay each line once between them")
  func together() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    let lines = (1...200).map { "\($0.isMultiple(of: 2) ? "ann" : "bob"),3,,k\($0)," }.joined(separator: "\n")
    let plan = try plan(lines, of: fixture)
    async let one = Compensator(fixture.ledger).pay(plan, in: fixture.namespace, by: .admin("ann"), reason: "one")
    async let two = Compensator(fixture.ledger).pay(plan, in: fixture.namespace, by: .admin("bob"), reason: "two")
    let (a, b) = await (one, two)
    #expect(a.paid + b.paid == 200 && a.repeated + b.repeated == 200 && a.refusals.isEmpty && b.refusals.isEmpty)
    #expect(try [fixture.balance("user:bob"), fixture.balance("user:ann")] == [300, 300])
    #expect(try fixture.entries().count == 200)
  }

  @Test("A line that the store refuses is told, and keeps back no other")
  func refused() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    let plan = try plan("bob,50,,a,\nann,5,,b,", of: fixture)
    try await fixture.write(.set(balanceKey("bob"), "x"))
    let result = await Compensator(fixture.ledger).pay(plan, in: fixture.namespace, by: .admin("ann"), reason: "r")
    #expect(result.paid == 1 && result.refusals.map(\.line) == [2] && result.refusals.map(\.error.code) == [.balanceType])
  }
}
