import RewardModel
package import StorageCore

/// What a player got for others, by the player that it was about, and by unit: what the ledger says.
package struct ReferralEarnings: Sendable {
  /// How many entries of an account are looked through, newest first.
  static let entriesMax = 20_000
  private static let pageSize = 1000

  /// What was paid, without what was taken back.
  package private(set) var coins: [String: [String: Int64]] = [:]
  /// What was taken back.
  package private(set) var reversed: [String: [String: Int64]] = [:]
  /// What waits.
  package private(set) var held: [String: [String: Int64]] = [:]

  package init(of referrer: String, currencies: [Currency], in namespace: NamespaceID, snapshot: any Snapshot) throws {
    for account in Set(currencies.map { LedgerAccount("\($0.holder):\(referrer)") }) {
      var looked = 0
      var before: Int64?
      while looked < Self.entriesMax {
        let page = try snapshot.entries(in: namespace, account: account, before: before, limit: Self.pageSize)
        for entry in page { add(entry, to: account) }
        looked += page.count
        guard page.count == Self.pageSize, let last = page.last else { break }
        before = last.sequence
      }
    }
    let openHolds = OpenHolds(in: namespace, snapshot)
    for unit in Set(currencies.map(\.unit)) {
      for hold in try openHolds.of(account: .hold(referrer), unit: unit) {
        guard let subject = hold.transfer.subject else { continue }
        held[subject, default: [:]].add(hold.transfer.amount, of: unit)
      }
    }
  }

  private mutating func add(_ entry: LedgerEntry, to account: LedgerAccount) {
    guard let subject = entry.transfer.subject, entry.transfer.isReward else { return }
    let change = entry.change(of: account)
    coins[subject, default: [:]].add(change, of: entry.transfer.unit)
    if entry.transfer.reverses != nil { reversed[subject, default: [:]].subtract(change, of: entry.transfer.unit) }
  }
}

extension LedgerTransfer {
  /// A function's payment, what a hold paid out, or the taking back of one.
  var isReward: Bool { function != nil || debit.isHold || reverses != nil }
}

extension [String: Int64] {
  /// Absurd amounts stop at the ends; they are shown, not paid.
  package mutating func add(_ amount: Int64, of unit: String) {
    let (sum, overflow) = self[unit, default: 0].addingReportingOverflow(amount)
    self[unit] = overflow ? (amount > 0 ? .max : .min) : sum
  }

  mutating func subtract(_ amount: Int64, of unit: String) { add(amount == .min ? .max : -amount, of: unit) }

  package mutating func add(_ other: [String: Int64]) {
    for (unit, amount) in other { add(amount, of: unit) }
  }
}
