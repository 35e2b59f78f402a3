import Ledger
import RewardModel
import StorageCore
import Testing

@Suite("Many holds are looked through, and ended each once")
struct HoldReviewTests {
  /// Holds 1 to 4: of ann and bob, for two reasons, a second apart.
  private func fixture() async throws -> LedgerFixture {
    let fixture = try await LedgerFixture()
    for (owner, reason) in [("ann", "Daily limit"), ("bob", "Daily limit"), ("ann", "address"), ("bob", "address")] {
      let order = HoldOrder(
        from: LedgerAccount("issuance:level5"), owner: owner, amount: 50, unit: LedgerFixture.unit,
        key: BusinessKey("level5/\(owner)/\(reason)"), reason: reason)
      _ = try await fixture.ledger.hold(order, in: fixture.namespace, by: .admin("ann"))
      fixture.clock.advance(by: 1000)
    }
    return fixture
  }

  @Test("A filter chooses by player, currency, reason, time and number")
  func filters() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    func found(_ change: (inout HoldFilter) -> Void) throws -> [Int64] {
      var filter = HoldFilter()
      change(&filter)
      return try fixture.ledger.openHolds(filter, in: fixture.namespace).map(\.sequence)
    }
    #expect(try found { _ in } == [1, 2, 3, 4])
    #expect(try found { $0.player = "bob" } == [2, 4])
    #expect(try found { $0.unit = "gems" } == [])
    #expect(try found { $0.reason = "LIMIT" } == [1, 2])
    #expect(try found { $0.since = LedgerFixture.start + 1000 } == [2, 3, 4])
    #expect(try found { $0.until = LedgerFixture.start + 1000 } == [1, 2])
    #expect(try found { ($0.after, $0.through) = (1, 3) } == [2, 3])
  }

  @Test(
    "What is looked at before is what happens: each ends once, a repetition gives the same, one refusal keeps back no other")
  func ending() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    let (ledger, namespace) = (fixture.ledger, fixture.namespace)
    _ = try await ledger.void(2, in: namespace, by: .admin("ann"), reason: "invented")
    let release = HoldDecision.release(to: nil, amount: nil)
    let before = try fixture.entries().count
    let preview = try await ledger.previewEnding([1, 2, 3, 99], by: release, in: namespace, by: .admin("ann"))
    #expect(try fixture.entries().count == before)
    let first = await ledger.end([1, 2, 3, 99], by: release, in: namespace, by: .admin("ann"), reason: "a school")
    for outcomes in [preview, first] {
      #expect(outcomes.map(\.hold) == [1, 2, 3, 99])
      let codes = outcomes.map { outcome in
        if case .failure(let error) = outcome.result { error.code.description } else { "ended" }
      }
      #expect(codes == ["ended", "hold_ended", "ended", "not_found"])
    }
    #expect(try preview[2].result.get().entry.creditAfter == 100)
    #expect(try [fixture.balance("user:ann"), fixture.balance("user:bob")] == [100, 0])
    let again = await ledger.end([1, 3], by: release, in: namespace, by: .admin("bob"), reason: "a school")
    #expect(again.allSatisfy { (try? $0.result.get().isRepeated) == true })
    #expect(try again.map { try $0.result.get().entry } == [first[0], first[2]].map { try $0.result.get().entry })
    let other = await ledger.end([1], by: .void, in: namespace, by: .admin("bob"), reason: "a school")
    #expect((try? other[0].result.get()) == nil)
    #expect(try fixture.balance("user:ann") == 100)
    #expect(try fixture.verify().isSound)
  }

  @Test("Two administrators who decide differently at once: each hold ends one way")
  func together() async throws {
    let fixture = try await fixture()
    defer { fixture.close() }
    let (ledger, namespace) = (fixture.ledger, fixture.namespace)
    let all: Set<Int64> = [1, 2, 3, 4]
    async let one = ledger.end(all, by: .release(to: nil, amount: nil), in: namespace, by: .admin("a"), reason: "r")
    async let two = ledger.end(all, by: .void, in: namespace, by: .admin("b"), reason: "r")
    let (released, voided) = await (one, two)
    let ended = zip(released, voided).map { pair in
      [pair.0, pair.1].compactMap { try? $0.result.get() }.count
    }
    #expect(ended == [1, 1, 1, 1])
    let count = Int64(released.compactMap { try? $0.result.get() }.count)
    #expect(try fixture.balance("user:ann") + fixture.balance("user:bob") == 50 * count)
    #expect(try fixture.balance("issuance:level5") == -50 * count)
    #expect(try fixture.verify().isSound)
  }
}
