import RewardModel
package import StorageCore
package import TreeModel

/// A value that players who were brought come to: the one that a function waits for.
package struct ReferralGoal: Sendable, Hashable {
  /// With the player's id as its one capture.
  package let pattern: PathPattern
  /// The player is there from this value on.
  package let value: Int64

  /// - Returns: nil if the pattern's one open segment is not exactly one key.
  package init?(_ pattern: PathPattern, value: Int64) {
    guard pattern.captureNames.count == 1, (try? pattern.path(filling: ["x"])) != nil else { return nil }
    self.pattern = pattern
    self.value = value
  }

  /// `level 5`.
  package var name: String {
    guard case .literal(let key)? = pattern.segments.last else { return "\(pattern) \(value)" }
    return "\(key.text) \(value)"
  }
}

/// A player who was brought, with how far it came.
package struct ReferralStanding: Sendable {
  /// With state and coins.
  package let referral: Referral
  /// Who brought the player.
  package let referrer: String
  /// 1: brought by the player who was asked for.
  package let depth: Int
  /// Whether the player signed in.
  package let isSignedUp: Bool
  /// Whether the player came to the goal.
  package let isAtGoal: Bool
  /// What was taken back, by unit.
  package let reversed: [String: Int64]
  /// How many the player brought, up to 1000.
  package let brought: Int
  /// How many of these are told of.
  package internal(set) var shown = 0
}

/// A player by what was got for others.
package struct ReferralRank: Sendable {
  /// Who brought them.
  package let referrer: String
  /// How many.
  package var referred: Int64 = 0
  /// Of these, how many signed in.
  package var signedUp: Int64 = 0
  /// Of these, how many came to the goal.
  package var atGoal: Int64 = 0
  /// What the referrer got for all of them, by unit.
  package var coins: [String: Int64] = [:]
  /// What was taken back, by unit.
  package var reversed: [String: Int64] = [:]
}

extension ReferralService {
  /// So many entries, and so many players, are looked at for an order of all.
  static let rankingMax = 100_000
  /// So many players in all are asked how far they came.
  private static let standingsMax = 20_000
  /// So many players are told of in one tree.
  private static let treeMax = 1000

  /// Where a player's sign-in is written, filled for each player.
  package typealias SignInPath = PathPattern?

  // MARK: The order of all

  /// Who brought most: by coins of the unit, then by players, then by name.
  ///
  /// - Parameters:
  ///   - unit: nil: the first by name of those that anybody got.
  ///   - since: only entries, and players brought, from this time on.
  ///   - signedIn: where a player's sign-in is written.
  /// - Returns: the first; and whether everything was looked at.
  package func ranking(in namespace: NamespaceID, unit: String?, since: Int64?, signedIn: SignInPath, limit: Int) throws
    -> (ranks: [ReferralRank], isComplete: Bool)
  {
    try read { snapshot in
      var ranks: [Key: ReferralRank] = [:]
      let sawEntries = try addEntries(to: &ranks, since: since, in: namespace, snapshot: snapshot)
      // The last revision before that time: a player who was brought later has a later one.
      let revision = try since.map { try snapshot.revision(in: namespace, at: max($0, 1) - 1) }
      let sawPlayers = try addPlayers(to: &ranks, after: revision, in: namespace, snapshot: snapshot)
      let unit = unit ?? ranks.values.lazy.flatMap { $0.coins.keys }.min() ?? ""
      var first = ranks.values.sorted { a, b in
        let (more, less) = (a.coins[unit] ?? 0, b.coins[unit] ?? 0)
        if more != less { return more > less }
        return a.referred == b.referred ? a.referrer.utf8.lexicographicallyPrecedes(b.referrer.utf8) : a.referred > b.referred
      }.prefix(limit)
      var looked = 0
      for index in first.indices {
        looked += try addStandings(
          to: &first[index], after: revision, signedIn: signedIn, most: Self.standingsMax - looked, in: namespace,
          snapshot: snapshot)
      }
      return (Array(first), sawEntries && sawPlayers && looked < Self.standingsMax)
    }
  }

  /// Sums what the ledger says that was got for others.
  private func addEntries(
    to ranks: inout [Key: ReferralRank], since: Int64?, in namespace: NamespaceID, snapshot: any Snapshot
  ) throws -> Bool {
    let holders = Set(currencies.currencies.map(\.holder))
    var looked = 0
    var before: Int64?
    while looked < Self.rankingMax {
      let page = try snapshot.entries(in: namespace, before: before, limit: Self.pageSize)
      for entry in page {
        if let since, entry.time < since { return true }
        guard entry.transfer.subject != nil, entry.transfer.isReward else { continue }
        for account in [entry.transfer.credit, entry.transfer.debit] {
          guard let player = account.player(among: holders) else { continue }
          let change = entry.change(of: account)
          ranks[player, default: ReferralRank(referrer: player.text)].coins.add(change, of: entry.transfer.unit)
          if entry.transfer.reverses != nil { ranks[player]?.reversed.subtract(change, of: entry.transfer.unit) }
        }
      }
      guard page.count == Self.pageSize, let last = page.last else { return true }
      looked += page.count
      before = last.sequence
    }
    return false
  }

  private func addPlayers(
    to ranks: inout [Key: ReferralRank], after revision: Revision?, in namespace: NamespaceID, snapshot: any Snapshot
  ) throws -> Bool {
    var looked = 0
    var last: String?
    while looked < Self.rankingMax {
      let page = try snapshot.records(
        in: namespace, kind: ReferralIndex.kind, after: last, isDescending: false, limit: Self.pageSize)
      for record in page {
        guard let (referrer, player) = ReferralIndex.players(in: record.key), let key = try? Key(referrer),
          try wasBrought(player, after: revision, in: namespace, snapshot: snapshot)
        else { continue }
        ranks[key, default: ReferralRank(referrer: referrer)].referred += 1
      }
      guard page.count == Self.pageSize else { return true }
      looked += page.count
      last = page.last?.key
    }
    return false
  }

  private func wasBrought(
    _ player: String, after revision: Revision?, in namespace: NamespaceID, snapshot: any Snapshot
  ) throws -> Bool {
    guard let revision else { return true }
    guard let path = referralPath.path(of: player) else { return false }
    return try snapshot.leaf(in: namespace, at: path).map { $0.revision > revision } ?? false
  }

  private func addStandings(
    to rank: inout ReferralRank, after revision: Revision?, signedIn: SignInPath, most: Int, in namespace: NamespaceID,
    snapshot: any Snapshot
  ) throws -> Int {
    var looked = 0
    var last: String?
    while looked < most {
      let limit = min(Self.pageSize, most - looked)
      let page = try players(of: rank.referrer, in: namespace, after: last, limit: limit, snapshot: snapshot)
      for player in page where try wasBrought(player, after: revision, in: namespace, snapshot: snapshot) {
        if try isSignedUp(player, at: signedIn, in: namespace, snapshot: snapshot) { rank.signedUp += 1 }
        if try isAtGoal(player, in: namespace, snapshot: snapshot) { rank.atGoal += 1 }
      }
      looked += page.count
      guard page.count == limit else { break }
      last = page.last
    }
    return looked
  }

  private func isSignedUp(_ player: String, at place: SignInPath, in namespace: NamespaceID, snapshot: any Snapshot) throws
    -> Bool
  {
    try place.flatMap { try scalar(at: $0, of: player, in: namespace, snapshot: snapshot) } != nil
  }

  private func isAtGoal(_ player: String, in namespace: NamespaceID, snapshot: any Snapshot) throws -> Bool {
    guard let goal, let value = try scalar(at: goal.pattern, of: player, in: namespace, snapshot: snapshot)?.doubleValue
    else { return false }
    return value >= Double(goal.value)
  }

  private func scalar(at pattern: PathPattern, of player: String, in namespace: NamespaceID, snapshot: any Snapshot) throws
    -> Scalar?
  {
    guard (try? Key(player)) != nil, let path = try? pattern.path(filling: [player]) else { return nil }
    return try snapshot.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar
  }

  // MARK: The players of one

  /// Players who were brought by one, with how far they came.
  ///
  /// - `players`: only these players, who came by a link; the tree may name another referrer for them.
  package func standings(of players: [String], by referrer: String, in namespace: NamespaceID, signedIn: SignInPath) throws
    -> [ReferralStanding]
  {
    try read { snapshot in
      let earnings = try earnings(of: referrer, in: namespace, snapshot: snapshot)
      var times = CommitTimes(namespace: namespace, snapshot: snapshot)
      return try players.map {
        try standing($0, by: referrer, depth: 1, earnings: earnings, signedIn: signedIn, times: &times)
      }
    }
  }

  /// Whom a player brought, whom those brought, and so on, level by level.
  ///
  /// - Parameters:
  ///   - depth: so many levels.
  ///   - limit: at most so many of one player.
  ///   - after: the last player of the first level of the page before.
  /// - Returns: at most 1000; a player is told of once, also where the records go in a circle.
  package func tree(
    of player: String, in namespace: NamespaceID, depth: Int, limit: Int, after: String?, signedIn: SignInPath
  ) throws -> [ReferralStanding] {
    try read { snapshot in
      var found: [ReferralStanding] = []
      var times = CommitTimes(namespace: namespace, snapshot: snapshot)
      var seen: Set<Key> = [try Key(player)]
      var level: [(player: String, index: Int?)] = [(player, nil)]
      for step in 1...max(depth, 1) {
        var next: [(player: String, index: Int?)] = []
        for (referrer, index) in level where found.count < Self.treeMax {
          let brought = try players(
            of: referrer, in: namespace, after: step == 1 ? after : nil, limit: limit, snapshot: snapshot)
          guard !brought.isEmpty else { continue }
          let earnings = try earnings(of: referrer, in: namespace, snapshot: snapshot)
          for player in brought {
            guard found.count < Self.treeMax, seen.insert(try Key(player)).inserted else { continue }
            let made = try standing(
              player, by: referrer, depth: step, earnings: earnings, signedIn: signedIn, times: &times)
            if made.brought > 0 { next.append((player, found.count)) }
            found.append(made)
            if let index { found[index].shown += 1 }
          }
        }
        level = next
      }
      return found
    }
  }

  /// Who brought a player, who brought that one, and so on; ends where the records go in a circle.
  package func ancestors(of player: String, in namespace: NamespaceID, limit: Int = 20) throws -> [String] {
    var found: [String] = []
    var at = player
    while found.count < limit, let referrer = try referrer(of: at, in: namespace) {
      guard referrer != player, !found.contains(referrer) else { break }
      found.append(referrer)
      at = referrer
    }
    return found
  }

  private func standing(
    _ player: String, by referrer: String, depth: Int, earnings: ReferralEarnings, signedIn: SignInPath,
    times: inout CommitTimes
  ) throws -> ReferralStanding {
    let (namespace, snapshot) = (times.namespace, times.snapshot)
    let referral = Referral(
      player: player, since: try times.time(of: referralPath.path(of: player)), coins: earnings.coins[player] ?? [:],
      held: earnings.held[player] ?? [:])
    return ReferralStanding(
      referral: referral, referrer: referrer, depth: depth,
      isSignedUp: try isSignedUp(player, at: signedIn, in: namespace, snapshot: snapshot),
      isAtGoal: try isAtGoal(player, in: namespace, snapshot: snapshot), reversed: earnings.reversed[player] ?? [:],
      brought: try players(of: player, in: namespace, after: nil, limit: 1000, snapshot: snapshot).count)
  }
}

/// When leaves were written; players who were brought with one commit share it.
struct CommitTimes {
  let namespace: NamespaceID
  let snapshot: any Snapshot
  private var known: [Revision: Int64?] = [:]

  init(namespace: NamespaceID, snapshot: any Snapshot) {
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// In milliseconds since 1970; nil if there is no leaf, or the log no longer tells.
  mutating func time(of path: PathBytes?) throws -> Int64? {
    guard let path, let revision = try snapshot.leaf(in: namespace, at: path)?.revision else { return nil }
    if let time = known[revision] { return time }
    let time = try snapshot.commit(in: namespace, at: revision)?.time
    known[revision] = .some(time)
    return time
  }
}

extension LedgerAccount {
  /// The player whose coins of a currency these are; nil of another account.
  fileprivate func player(among holders: Set<String>) -> Key? { holders.contains(String(kind)) ? try? Key(String(owner)) : nil }
}
