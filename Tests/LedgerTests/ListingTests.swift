import Ledger
import RewardModel
import StorageCore
import StorageSQLite
import Testing
import TreeModel

@Suite("Entries and accounts are listed page by page, without looking through everything")
struct ListingTests {
  private func rows(_ fixture: LedgerFixture, _ walk: EntryWalk, from start: EntryPosition, limit: Int) throws -> EntryWalk.Page
  {
    try fixture.engine.read { snapshot in try walk.page(from: start, limit: limit, snapshot: snapshot) }
  }

  @Test("Pages add up in both directions, of all accounts and of one, with a code and without")
  func pages() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    for number in 1...30 {
      try await fixture.write(transfers: [
        .moving(
          1, from: "issuance:gift", to: "user:p\(number % 3)", key: "\(number)", code: number % 7 == 0 ? "rare" : "gift")
      ])
    }
    _ = try await fixture.ledger.reverse(14, in: fixture.namespace, by: .admin("ann"), reason: "x")
    let all = try fixture.entries()
    for account in [nil, LedgerAccount("user:p2"), LedgerAccount("issuance:gift")] {
      for code in [nil, "rare", "gift", "never"] {
        let walk = EntryWalk(in: fixture.namespace, account: account, code: code)
        let expected = all.filter { entry in
          let isOwn = account.map { entry.transfer.debit == $0 || entry.transfer.credit == $0 } ?? true
          return isOwn && (code == nil || entry.transfer.code == code)
        }.map(\.sequence)
        for limit in [1, 4, 100] {
          for isDown in [true, false] {
            var found: [Int64] = []
            var start: EntryPosition? = isDown ? .before(nil) : .after(0)
            while let position = start {
              let page = try rows(fixture, walk, from: position, limit: limit)
              #expect(page.rows.count <= limit)
              for row in page.rows { #expect(row.reversedBy == (row.entry.sequence == 14 ? 31 : nil)) }
              found += page.rows.map(\.entry.sequence)
              start = page.next.map { isDown ? .before($0) : .after($0) }
            }
            #expect(found == (isDown ? expected.reversed() : expected), "\(account?.name ?? "all") \(code ?? "any") \(limit)")
          }
        }
      }
    }
  }

  @Test("A walk for a rare code stops after five thousand entries, and goes on from there")
  func bound() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    for hundred in 0..<51 {
      try await fixture.write(
        transfers: (0..<100).map { number in
          let key = hundred * 100 + number
          return .moving(1, from: "till", to: "shop", key: "\(key)", unit: "gems", code: key == 0 ? "rare" : "gift")
        })
    }
    let walk = EntryWalk(in: fixture.namespace, code: "rare")
    let first = try rows(fixture, walk, from: .before(nil), limit: 10)
    #expect(first.rows.isEmpty && first.scanned == EntryWalk.scanMax && first.next == 101)
    let second = try rows(fixture, walk, from: .before(101), limit: 10)
    #expect(second.rows.map(\.entry.sequence) == [1] && second.scanned == 100 && second.next == nil)
    let page = try fixture.ledger.accounts(in: fixture.namespace, limit: 10)
    #expect(page.accounts.map(\.entryCount) == [LedgerService.entryCountMax, LedgerService.entryCountMax])
    #expect(page.accounts.map(\.balance.balance) == [5100, -5100])
  }

  @Test("A preview is what happens then: the same balances, the same refusals, and no entry of its own")
  func previews() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.pay("bob", 50, key: "k")
    for (amount, policy) in [(0, ReversalPolicy.refuse), (30, .refuse), (30, .allowNegative)] {
      if amount > 0 {
        let key = "spend/\(policy.rawValue)"
        try await fixture.write(transfers: [
          .moving(Int64(amount), from: "user:bob", to: "shop", key: key, allowsNegative: true)
        ])
      }
      let count = try fixture.entries().count
      let preview = try await fixture.ledger.previewReversal(
        of: 1, in: fixture.namespace, by: .admin("ann"), reason: "x", policy: policy)
      #expect(try fixture.entries().count == count)
      #expect(preview.transfer.changes.map(\.before) == [try fixture.balance("user:bob"), -50])
      #expect(preview.transfer.isSpent == (amount > 0))
      #expect((preview.transfer.refusal?.code == .insufficientFunds) == (amount > 0 && policy == .refuse))
    }
    let preview = try await fixture.ledger.previewReversal(
      of: 1, in: fixture.namespace, by: .admin("ann"), reason: "x", policy: .allowNegative)
    let made = try await fixture.ledger.reverse(
      1, in: fixture.namespace, by: .admin("ann"), reason: "x", policy: .allowNegative)
    #expect(preview.transfer.changes.map(\.after) == [made.entry.debitAfter, made.entry.creditAfter])
    #expect(try fixture.verify().isSound)
  }
}
