import RewardModel
package import StorageCore
import TreeModel

/// Who brought whom, and what it earned: looked up in the index that ``ReferralIndex`` keeps, and in the ledger.
///
/// What cannot be read throws ``LedgerError``.
package struct ReferralService: Sendable {
  static let pageSize = 1000

  /// Where the tree says who referred a player.
  package let referralPath: ReferralPath
  /// Where players go who were brought; nil where no function waits for a value.
  package let goal: ReferralGoal?
  let engine: any StorageEngine
  let currencies: CurrencyTable

  /// The referrals of a path.
  package init(
    _ referralPath: ReferralPath, goal: ReferralGoal? = nil, engine: any StorageEngine, currencies: CurrencyTable
  ) {
    self.referralPath = referralPath
    self.goal = goal
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
      var times = CommitTimes(namespace: namespace, snapshot: snapshot)
      return try players.map { (player) -> Referral in
        Referral(
          player: player, since: try times.time(of: referralPath.path(of: player)), coins: earnings.coins[player] ?? [:],
          held: earnings.held[player] ?? [:])
      }
    }
  }

  // MARK: -

  func players(
    of referrer: String, in namespace: NamespaceID, after: String?, limit: Int, snapshot: any Snapshot
  ) throws -> [String] {
    try ReferralIndex.players(of: referrer, in: namespace, after: after, limit: limit, snapshot: snapshot)
  }

  func earnings(of referrer: String, in namespace: NamespaceID, snapshot: any Snapshot) throws -> ReferralEarnings {
    try ReferralEarnings(of: referrer, currencies: currencies.currencies, in: namespace, snapshot: snapshot)
  }

  func read<Result>(_ body: (any Snapshot) throws -> Result) throws -> Result {
    do {
      return try engine.read(body)
    } catch let error as StorageError {
      throw LedgerError(error)
    }
  }
}

extension ReferralIndex {
  /// Whom a player brought, by their ids, as the index has them.
  package static func players(
    of referrer: String, in namespace: NamespaceID, after: String? = nil, limit: Int, snapshot: any Snapshot
  ) throws -> [String] {
    let page = try snapshot.records(
      in: namespace, kind: kind, after: key(referrer, after ?? ""), isDescending: false, limit: limit)
    return page.lazy.compactMap { players(in: $0.key) }
      .prefix { $0.referrer.utf8.elementsEqual(referrer.utf8) }.map(\.player)
  }
}
