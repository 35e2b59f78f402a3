import Ledger
import RewardModel
import StorageCore
import StorageSQLite
import Testing
import TreeModel

@Suite("A hold sets coins aside until it ends, once")
struct HoldTests {
  static let shop = LedgerAccount("shop")

  /// Bob with 100, of which 40 are held by entry 2 until start + 1000 ms.
  func makeHold() async throws -> LedgerFixture {
    let fixture = try await LedgerFixture()
    try await fixture.pay("bob", 100, key: "k")
    let order = HoldOrder(
      from: LedgerAccount("user:bob"), owner: "bob", amount: 40, unit: LedgerFixture.unit, key: BusinessKey("purchase/1"),
      expiresAt: LedgerFixture.start + 1000)
    let hold = try await fixture.ledger.hold(order, in: fixture.namespace, by: .admin("ann"))
    let again = try await fixture.ledger.hold(order, in: fixture.namespace, by: .admin("ann"))
    #expect(hold.entry.sequence == 2 && again.isRepeated && again.entry == hold.entry)
    #expect(try fixture.balance("user:bob") == 60)
    #expect(try fixture.balance("hold:bob") == 40)
    return fixture
  }

  func release(_ fixture: LedgerFixture, amount: Int64? = nil) async throws -> HoldEnding {
    try await fixture.ledger.release(2, to: Self.shop, amount: amount, in: fixture.namespace, by: .admin("ann"))
  }

  func void(_ fixture: LedgerFixture) async throws -> HoldEnding {
    try await fixture.ledger.void(2, in: fixture.namespace, by: .admin("ann"))
  }

  @Test("A hold is one player's, whatever other players' names end in")
  func owners() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    for owner in ["bob", "google:bob", "user:bob", "pirate:bob", "rob"] {
      let order = HoldOrder(
        from: LedgerAccount("issuance:test"), owner: owner, amount: 5, unit: LedgerFixture.unit,
        key: BusinessKey("k/\(owner)"))
      _ = try await fixture.ledger.hold(order, in: fixture.namespace, by: .admin("ann"))
    }
    let found = try fixture.engine.read { snapshot in
      let holds = OpenHolds(in: fixture.namespace, snapshot)
      return [try holds.of(player: "bob"), try holds.of(player: "bob", holders: ["pirate"])]
        .map { $0.map(\.transfer.credit.owner).map(String.init) }
    }
    #expect(found == [["bob", "user:bob"], ["bob", "pirate:bob"]])
  }

  @Test("Check 58: a hold posts once")
  func releasedOnce() async throws {
    let fixture = try await makeHold()
    defer { fixture.close() }
    let ending = try await release(fixture)
    #expect(ending.entry.transfer.amount == 40 && ending.rest == nil && !ending.isRepeated)
    let again = try await release(fixture)
    #expect(again.entry == ending.entry && again.isRepeated)
    let partly = await #expect(throws: LedgerError.self) { try await release(fixture, amount: 10) }
    #expect(partly?.code == .holdEnded && partly?.entry == ending.entry)
    let voided = await #expect(throws: LedgerError.self) { try await void(fixture) }
    #expect(voided?.code == .holdEnded)
    #expect(try fixture.balance("shop") == 40)
    #expect(try fixture.balance("hold:bob") == 0)
    #expect(try fixture.verify().isSound)
  }

  @Test("Check 58: the expiry frees a hold, once, and not a moment early")
  func expiry() async throws {
    let fixture = try await makeHold()
    defer { fixture.close() }
    #expect(try await fixture.ledger.expireHolds(in: fixture.namespace, now: LedgerFixture.start + 999).freed.isEmpty)
    fixture.clock.advance(by: 1000)
    let late = await #expect(throws: LedgerError.self) { try await release(fixture) }
    #expect(late?.code == .invalid)
    let sweep = try await fixture.ledger.expireHolds(in: fixture.namespace, now: fixture.clock.now())
    #expect(sweep.freed.map(\.transfer.key) == [.holdEnd(of: 2)])
    #expect(sweep.failures.isEmpty)
    #expect(try fixture.balance("user:bob") == 100)
    #expect(try await fixture.ledger.expireHolds(in: fixture.namespace, now: fixture.clock.now()).freed.isEmpty)
    let ended = await #expect(throws: LedgerError.self) { try await release(fixture) }
    #expect(ended?.code == .holdEnded)
    #expect(try fixture.verify().isSound)
  }

  @Test("After the expiry coins only go back, whatever the transfer is called")
  func lateByAnotherName() async throws {
    let fixture = try await makeHold()
    defer { fixture.close() }
    fixture.clock.advance(by: 1000)
    func end(to receiver: LedgerAccount) -> LedgerTransfer {
      LedgerTransfer(
        debit: .hold("bob"), credit: receiver, amount: 40, unit: LedgerFixture.unit, code: "gift", key: .holdEnd(of: 2))
    }
    let late = await #expect(throws: LedgerError.self) {
      try await fixture.ledger.transfer(end(to: Self.shop), in: fixture.namespace, by: .admin("ann"))
    }
    #expect(late?.code == .invalid)
    _ = try await fixture.ledger.transfer(end(to: LedgerAccount("user:bob")), in: fixture.namespace, by: .admin("ann"))
    #expect(try fixture.balance("user:bob") == 100)
    #expect(try fixture.verify().isSound)
  }

  @Test("A release of a part gives the rest back")
  func partly() async throws {
    let fixture = try await makeHold()
    defer { fixture.close() }
    let ending = try await release(fixture, amount: 15)
    #expect(ending.rest?.transfer.amount == 25)
    #expect(try fixture.balance("shop") == 15)
    #expect(try fixture.balance("user:bob") == 85)
    let again = try await release(fixture, amount: 15)
    #expect(again.rest == ending.rest && again.isRepeated)
    #expect(try fixture.verify().isSound)
  }

  @Test("A void gives everything back")
  func voided() async throws {
    let fixture = try await makeHold()
    defer { fixture.close() }
    let ending = try await void(fixture)
    #expect(ending.entry.transfer.credit == LedgerAccount("user:bob"))
    #expect(try await void(fixture).isRepeated)
    #expect(try fixture.balance("user:bob") == 100)
    #expect(try fixture.verify().isSound)
  }

  @Test("More than is held, nothing, or a hold that is none is refused", arguments: [(2, 41), (2, 0), (2, -1), (1, 1), (7, 1)])
  func refused(sequence: Int64, amount: Int64) async throws {
    let fixture = try await makeHold()
    defer { fixture.close() }
    let error = await #expect(throws: LedgerError.self) {
      try await fixture.ledger.release(
        sequence, to: Self.shop, amount: amount, in: fixture.namespace, by: .admin("ann"))
    }
    #expect(error?.code == (sequence == 2 ? .invalid : .notFound))
    #expect(try fixture.balance("hold:bob") == 40)
  }

  @Test("A reward can be held before it is the player's, and goes to the player on release")
  func heldReward() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let order = HoldOrder(
      from: .issuance("level5"), owner: "ghost", amount: 50, unit: LedgerFixture.unit, key: BusinessKey("level5/bob"),
      subject: "bob")
    let hold = try await fixture.ledger.hold(order, in: fixture.namespace, by: .admin("ann"))
    #expect(try await fixture.ledger.expireHolds(in: fixture.namespace, now: .max).freed.isEmpty)
    _ = try await fixture.ledger.release(
      hold.entry.sequence, to: LedgerAccount("user:ghost"), in: fixture.namespace, by: .admin("ann"))
    #expect(try fixture.node(balanceKey("ghost")) == 50)
    #expect(try fixture.balance("issuance:level5") == -50)
    #expect(try fixture.verify().isSound)
  }

  @Test("A sweep finds the expired ones among many holds, and lists what it could not free")
  func sweepsMany() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    for uid in ["bob", "eve"] {
      try await fixture.pay(uid, 100, key: "k\(uid)")
      for number in 1...4 {
        let order = HoldOrder(
          from: LedgerAccount("user:\(uid)"), owner: uid, amount: 10, unit: LedgerFixture.unit,
          key: BusinessKey("\(uid)\(number)"), expiresAt: LedgerFixture.start + Int64(number))
        _ = try await fixture.ledger.hold(order, in: fixture.namespace, by: .admin("ann"))
      }
    }
    try await fixture.write(.set(balanceKey("eve"), "spoilt"))
    fixture.clock.advance(by: 2)
    let sweep = try await fixture.ledger.expireHolds(in: fixture.namespace, now: fixture.clock.now())
    #expect(sweep.freed.map(\.transfer.credit.name) == ["user:bob", "user:bob"])
    #expect(sweep.failures.map(\.error.code) == [.balanceType, .balanceType])
    #expect(try fixture.balance("hold:bob") == 20)
    try await fixture.write(.set(balanceKey("eve"), 0))
    let next = try await fixture.ledger.expireHolds(in: fixture.namespace, now: fixture.clock.now())
    #expect(next.freed.map(\.transfer.credit.name) == ["user:eve", "user:eve"])
    #expect(try fixture.verify().isSound)
  }
}
