import RewardModel
package import StorageCore
import TreeModel

/// Who brought whom, and what it earned: looked up in the index that ``ReferralIndex`` keeps, and in the ledger.
///
/// What cannot be read throws ``LedgerError``.
package struct ReferralService: Sendable {
  /// How many entries of an account are looked through for what its referrals earned, newest first.
  static let entriesMax = 20_000
  private static let pageSize = 1000

  /// Where the tree says who referred a player.
  package let referralPath: ReferralPath
  private let engine: any StorageEngine
  private let currencies: CurrencyTable

  /// The referrals of a path.
  package init(_ referralPath: ReferralPath, engine: any StorageEngine, currencies: CurrencyTable) {
    self.referralPath = referralPath
    self.engine = engine
    self.currencies = currencies
  }

  /// Who referred a player; nil if nobody did.
  package func referrer(of player: String, in namespace: NamespaceID) throws -> String? {
    guard let path = referralPath.path(of: player) else { return nil }
    return try read { snapshot in
      ReferralPath.referrer(try snapshot.leaf(in: namespace, at: path)?.leaf.scalar)
    }
  }

  /// Whom a player brought, by their ids.
  ///
  /// - `after`: the last player of the page before.
  /// - `limit`: at most so many, and never more than 1000.
  package func referrals(of referrer: String, in namespace: NamespaceID, after: String? = nil, limit: Int)
    throws -> [Referral]
  {
    guard (try? Key(referrer)) != nil else { return [] }
    return try read { snapshot in
      let players = try players(of: referrer, in: namespace, after: after, limit: min(max(limit, 0), 1000), snapshot: snapshot)
      if players.isEmpty { return [] }
      let earnings = try earnings(of: referrer, in: namespace, snapshot: snapshot)
      return try players.map { (player) -> Referral in
        Referral(
          player: player, since: try since(player, in: namespace, snapshot: snapshot), coins: earnings.paid[player] ?? [:],
          held: earnings.held[player] ?? [:])
      }
    }
  }

  /// Who brought most, the most first; looks through the whole index.
  package func top(in namespace: NamespaceID, limit: Int) throws -> [ReferralRank] {
    let limit = min(max(limit, 0), 1000)
    return try read { snapshot in
      var best: [(referrer: String, count: Int64)] = []
      func add(_ referrer: String, _ count: Int64) {
        // Equal ones stay in the order of their names.
        let position = best.firstIndex { $0.count < count } ?? best.count
        guard position < limit else { return }
        best.insert((referrer, count), at: position)
        if best.count > limit { best.removeLast() }
      }
      var current: (referrer: String, count: Int64)?
      var last: String?
      while true {
        let page = try snapshot.records(
          in: namespace, kind: ReferralIndex.kind, after: last, isDescending: false, limit: Self.pageSize)
        for record in page {
          guard let (referrer, _) = ReferralIndex.players(in: record.key) else { continue }
          if let same = current, same.referrer.utf8.elementsEqual(referrer.utf8) {
            current = (referrer, same.count + 1)
          } else {
            if let current { add(current.referrer, current.count) }
            current = (referrer, 1)
          }
        }
        guard page.count == Self.pageSize else { break }
        last = page.last?.key
      }
      if let current { add(current.referrer, current.count) }
      return try best.map { (row) -> ReferralRank in
        let paid = try earnings(of: row.referrer, in: namespace, snapshot: snapshot).paid
        let coins = paid.values.reduce(into: [:]) { sum, units in sum.merge(units) { Self.sum($0, $1) } }
        return ReferralRank(referrer: row.referrer, count: row.count, coins: coins)
      }
    }
  }

  // MARK: -

  private func players(
    of referrer: String, in namespace: NamespaceID, after: String?, limit: Int, snapshot: any Snapshot
  ) throws -> [String] {
    let page = try snapshot.records(
      in: namespace, kind: ReferralIndex.kind, after: ReferralIndex.key(referrer, after ?? ""), isDescending: false,
      limit: limit)
    return page.lazy.compactMap { ReferralIndex.players(in: $0.key) }
      .prefix { $0.referrer.utf8.elementsEqual(referrer.utf8) }.map(\.player)
  }

  private func since(_ player: String, in namespace: NamespaceID, snapshot: any Snapshot) throws -> Int64? {
    guard let path = referralPath.path(of: player), let stored = try snapshot.leaf(in: namespace, at: path) else { return nil }
    return try snapshot.commit(in: namespace, at: stored.revision)?.time
  }

  /// What a player got, and what waits for the player, by the player that it was about, and by unit.
  private func earnings(of referrer: String, in namespace: NamespaceID, snapshot: any Snapshot) throws
    -> (paid: [String: [String: Int64]], held: [String: [String: Int64]])
  {
    var paid: [String: [String: Int64]] = [:]
    var held: [String: [String: Int64]] = [:]
    for account in Set(currencies.currencies.map { LedgerAccount("\($0.holder):\(referrer)") }) {
      var looked = 0
      var before: Int64?
      while looked < Self.entriesMax {
        let page = try snapshot.entries(in: namespace, account: account, before: before, limit: Self.pageSize)
        for entry in page {
          guard let subject = entry.transfer.subject, Self.isReward(entry.transfer) else { continue }
          paid[subject, default: [:]][entry.transfer.unit] = Self.sum(
            paid[subject]?[entry.transfer.unit] ?? 0, entry.change(of: account))
        }
        looked += page.count
        guard page.count == Self.pageSize, let last = page.last else { break }
        before = last.sequence
      }
    }
    let openHolds = OpenHolds(in: namespace, snapshot)
    for unit in Set(currencies.currencies.map(\.unit)) {
      for hold in try openHolds.of(account: .hold(referrer), unit: unit) {
        guard let subject = hold.transfer.subject else { continue }
        held[subject, default: [:]][unit] = Self.sum(held[subject]?[unit] ?? 0, hold.transfer.amount)
      }
    }
    return (paid, held)
  }

  /// A function's payment, what a hold paid out, or the taking back of one.
  private static func isReward(_ transfer: LedgerTransfer) -> Bool {
    transfer.function != nil || transfer.debit.isHold || transfer.reverses != nil
  }

  /// Absurd amounts stop at the ends; they are shown, not paid.
  private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? (b > 0 ? .max : .min) : sum
  }

  private func read<Result>(_ body: (any Snapshot) throws -> Result) throws -> Result {
    do {
      return try engine.read(body)
    } catch let error as StorageError {
      throw LedgerError(error)
    }
  }
}
