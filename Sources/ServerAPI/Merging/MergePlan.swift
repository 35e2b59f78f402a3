import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

/// What a merge changes, read from one snapshot; its expectations make it void if anything of that has changed since.
struct MergePlan {
  /// Leaves of a record that one merge copies.
  private static let leavesMax = 10_000

  let order: MergeOrder
  let referralPattern: PathPattern
  let currencies: [Currency]
  let namespace: NamespaceID
  let snapshot: any Snapshot

  private(set) var operations: [WriteOperation] = []
  private(set) var expectations: [CommitRequest.Expectation] = []
  private(set) var transfers: [LedgerTransfer] = []
  private(set) var referrer: String?
  private(set) var moved: [(unit: String, amount: Int64)] = []
  private(set) var copied: [Path] = []
  /// Rewards that were paid for the account that is left: they are not paid for the other one.
  private(set) var spentKeys: [BusinessKey] = []

  init(_ order: MergeOrder, referral: PathPattern, currencies: [Currency], in namespace: NamespaceID, _ snapshot: any Snapshot)
    throws(StorageError)
  {
    self.order = order
    referralPattern = referral
    self.currencies = currencies
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// - Returns: why it cannot be done; nil if it can.
  mutating func fill() throws(StorageError) -> APIError? {
    if let fault = try moveReferral() { return fault }
    if order.movesBalances { try moveBalances() }
    if order.copiesRecord, let fault = try copyRecord() { return fault }
    if operations.isEmpty, transfers.isEmpty {
      return APIError(
        .conflict, "nothing_to_move",
        "\(order.from) carries no referral. Move the coins with --balances, and what else there is with --record.")
    }
    try spendKeys()
    return nil
  }

  // MARK: The referral

  private mutating func moveReferral() throws(StorageError) -> APIError? {
    guard let source = try? referralPattern.path(filling: [order.from.text]),
      let target = try? referralPattern.path(filling: [order.into.text])
    else { return .badRequest("The referral's place \(referralPattern) must have one capture, the player.") }
    let (carried, own) = (try node(at: source), try node(at: target))
    guard carried.exists else { return nil }
    guard let referrer = carried.scalar?.stringValue else {
      return APIError(.conflict, "invalid_referral", "What stands at \(source) names no player; correct it first.")
    }
    guard !referrer.utf8.elementsEqual(order.into.text.utf8) else {
      return APIError(.conflict, "self_referral", "\(order.into) invited \(order.from): nobody can invite themselves.")
    }
    if own.exists, own.scalar?.stringValue?.utf8.elementsEqual(referrer.utf8) != true {
      return APIError(
        .conflict, "already_referred",
        "\(order.into) was invited by \(own.scalar?.stringValue ?? "somebody else"), and that stays. Nothing was moved.")
    }
    self.referrer = referrer
    expectations += [.init(path: source, node: carried), .init(path: target, node: own)]
    operations.append(.remove(source))
    if !own.exists { operations.append(.set(target, carried)) }
    return nil
  }

  // MARK: Coins

  private mutating func moveBalances() throws(StorageError) {
    for currency in currencies {
      let (from, into) = (account(order.from, currency), account(order.into, currency))
      guard let path = currency.path(of: from), case let balance = try node(at: path), let amount = balance.scalar?.intValue,
        amount != 0, amount != .min
      else { continue }
      expectations.append(.init(path: path, node: balance))
      // A debt goes along too, or it would be left behind with the account.
      let isDebt = amount < 0
      transfers.append(
        LedgerTransfer(
          debit: isDebt ? into : from, credit: isDebt ? from : into, amount: abs(amount), unit: currency.unit, code: "merge",
          key: BusinessKey("merge/\(order.from)/\(currency.unit)"), subject: order.from.text, reason: order.reason,
          allowsNegative: isDebt))
      moved.append((currency.unit, amount))
    }
  }

  /// Uses the keys of rewards that were paid for the one account for the other one too, so that they are not paid again: with
  /// entries between two accounts that only say so, and hold nobody's coins.
  private mutating func spendKeys() throws(StorageError) {
    let suffix = "/\(order.from)"
    var seen: Set<BusinessKey> = []
    for account in rewardedAccounts {
      var before: Int64?
      while true {
        let page = try snapshot.entries(in: namespace, account: account, before: before, limit: 500)
        for entry in page where entry.transfer.key.text.utf8.reversed().starts(with: suffix.utf8.reversed()) {
          try spend(entry, without: suffix, &seen)
        }
        before = page.last?.sequence
        if page.count < 500 { break }
      }
    }
  }

  private mutating func spend(_ entry: LedgerEntry, without suffix: String, _ seen: inout Set<BusinessKey>)
    throws(StorageError)
  {
    let text = entry.transfer.key.text
    let reward = String(Substring(text.utf8.dropLast(suffix.utf8.count)))
    guard !Self.ownWords.contains(String(reward.prefix { $0 != "/" })) else { return }
    let key = BusinessKey("\(reward)/\(order.into)")
    guard key.text.utf8.count <= BusinessKey.bytesMax, seen.insert(key).inserted,
      try snapshot.entry(in: namespace, key: key) == nil
    else { return }
    spentKeys.append(key)
    transfers.append(
      LedgerTransfer(
        debit: LedgerAccount("merge:\(order.from)"), credit: LedgerAccount("merge:\(order.into)"),
        amount: entry.transfer.amount,
        unit: entry.transfer.unit, code: "merge", key: key, subject: order.into.text,
        reason: "paid for \(order.from) by entry \(entry.sequence)"))
  }

  /// Keys that the ledger and merges make, and that stand for no reward.
  private static let ownWords: Set<String> = ["adjustment", "opening", "reversal", "hold-end", "merge"]

  /// Where rewards for the player that is left, or for whoever invited the player, were paid to.
  private var rewardedAccounts: [LedgerAccount] {
    var accounts = [LedgerAccount("merge:\(order.from)")]
    for player in [order.from.text, referrer].compactMap(\.self) {
      accounts.append(.hold(player))
      accounts += currencies.map { LedgerAccount("\($0.holder):\(player)") }
    }
    var seen: Set<LedgerAccount> = []
    return accounts.filter { seen.insert($0).inserted }
  }

  private func account(_ uid: Key, _ currency: Currency) -> LedgerAccount { LedgerAccount("\(currency.holder):\(uid)") }

  // MARK: The record

  /// Copies the children of the one record that the other one does not have. Balances and the referral have their own ways.
  private mutating func copyRecord() throws(StorageError) -> APIError? {
    let sources = records(of: order.from)
    for (source, target) in zip(sources, records(of: order.into)) {
      let leaves = try snapshot.leaves(in: namespace, under: PathBytes(source), limit: Self.leavesMax + 1)
      guard leaves.count <= Self.leavesMax else {
        return .badRequest("The record at \(source) has more than 10,000 values; copy it with \"doubloon data\".")
      }
      var taken: Set<Key> = []
      for leaf in try snapshot.leaves(in: namespace, under: PathBytes(target), limit: Self.leavesMax + 1) {
        guard let path = leaf.leaf.path.path, path.depth > target.depth, !isApart(path) else { continue }
        taken.insert(path.keys[target.depth])
      }
      var names: Set<Key> = []
      var priorities: [WriteOperation] = []
      for leaf in leaves.map(\.leaf) {
        guard let path = leaf.path.path, path.depth > source.depth, !isApart(path) else { continue }
        let name = path.keys[source.depth]
        guard !taken.contains(name) else { continue }
        let place = Path(keys: target.keys + path.keys[source.depth...])
        if leaf.path.isPriority {
          priorities.append(.setPriority(place, .scalar(leaf.scalar)))
        } else {
          operations.append(.set(place, .leaf(leaf.scalar)))
          if names.insert(name).inserted { copied.append(target.child(name)) }
        }
      }
      operations += priorities
    }
    return nil
  }

  /// Whether a path is a balance's or the referral's, or lies below one.
  private func isApart(_ path: Path) -> Bool {
    ([referralPattern] + currencies.map(\.pattern)).contains { pattern in
      guard path.depth >= pattern.segments.count else { return false }
      return pattern.match(Path(keys: Array(path.keys[..<pattern.segments.count]))) != nil
    }
  }

  private func records(of uid: Key) -> [Path] {
    let places = (try? PersonalPlaces(of: uid.text, currencies: currencies, patterns: []))?.paths ?? []
    return places.filter { !$0.isAccounts }
  }

  private func node(at path: Path) throws(StorageError) -> TreeNode {
    let place = PathBytes(path)
    let leaves = try snapshot.leaves(in: namespace, under: place, limit: 1000)
    return TreeNode(leaves: leaves.map(\.leaf), at: place) ?? .absent
  }
}
