import HTTPServer
import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

/// What a merge changes, read from one snapshot; its expectations make it void if anything of that has changed since.
struct MergePlan {
  /// Leaves of a record that one merge copies.
  private static let leavesMax = 10_000
  /// Where functions keep rewards for referrers who have no record yet (`requireReferrer: hold`).
  private static let heldRewards: PathPattern = "/held_referrals/{referrer}/{player}"

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
  /// Where the reward waits now that waited for the referrer.
  private(set) var held: Path?
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
    if order.movesBalances, let fault = try moveBalances() { return fault }
    if order.copiesRecord, let fault = try copyRecord() { return fault }
    if operations.isEmpty, transfers.isEmpty {
      return APIError(
        .conflict, "nothing_to_move",
        "\(order.from) carries no referral. Move the coins with --balances, and what else there is with --record.")
    }
    return try spendKeys()
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
    return try moveHeldReward(for: referrer)
  }

  /// A reward that waits for the referrer goes along, and waits under the other name: the milestone brings it once.
  private mutating func moveHeldReward(for referrer: String) throws(StorageError) -> APIError? {
    guard let source = try? Self.heldRewards.path(filling: [referrer, order.from.text]),
      let target = try? Self.heldRewards.path(filling: [referrer, order.into.text])
    else { return nil }
    let (waiting, own) = (try node(at: source), try node(at: target))
    guard waiting.exists else { return nil }
    guard !own.exists else {
      return APIError(
        .conflict, "held_twice",
        "A reward for \(referrer) waits for each of the accounts, at \(source) and \(target): remove the one that is not to be "
          + "paid, and ask again.")
    }
    expectations += [.init(path: source, node: waiting), .init(path: target, node: own)]
    operations += [.remove(source), .set(target, waiting)]
    held = target
    return nil
  }

  // MARK: Coins

  private mutating func moveBalances() throws(StorageError) -> APIError? {
    for currency in currencies {
      let purses = purses(currency)
      guard let accounts = try purses.accounts(of: order.from) else { return tooManyBalances(currency) }
      for from in accounts { try move(from, into: purses.account(like: from, of: order.into), currency) }
    }
    return nil
  }

  private mutating func move(_ from: LedgerAccount, into: LedgerAccount, _ currency: Currency) throws(StorageError) {
    guard let path = currency.path(of: from), case let balance = try node(at: path), let amount = balance.scalar?.intValue,
      amount != 0, amount != .min
    else { return }
    expectations.append(.init(path: path, node: balance))
    // A debt goes along too, or it would be left behind with the account.
    let isDebt = amount < 0
    transfers.append(
      LedgerTransfer(
        debit: isDebt ? into : from, credit: isDebt ? from : into, amount: abs(amount), unit: currency.unit, code: "merge",
        key: BusinessKey("merge/\(from)/\(currency.unit)"), subject: order.from.text, reason: order.reason,
        allowsNegative: isDebt))
    moved.append((currency.unit, amount))
  }

  private func purses(_ currency: Currency) -> PlayerBalances {
    PlayerBalances(
      currency: currency, playerName: referralPattern.captureNames.first, namespace: namespace, snapshot: snapshot)
  }

  private func tooManyBalances(_ currency: Currency) -> APIError {
    APIError(
      .conflict, "too_many_purses",
      "The balances in \(currency.unit) stand at more places of \(currency.pattern) than can be looked through for the players' "
        + "own. Nothing was moved; move the coins with \"doubloon ledger transfer\", and the referral with \"doubloon data\".")
  }

  /// Uses the keys of rewards that were paid for the one account for the other one too, so that they are not paid again: with
  /// entries between two accounts that only say so, and hold nobody's coins.
  private mutating func spendKeys() throws(StorageError) -> APIError? {
    let suffix = "/\(order.from)"
    var seen: Set<BusinessKey> = []
    var accounts = [LedgerAccount("merge:\(order.from)")]
    if let fault = try addRewarded(to: &accounts) { return fault }
    for account in accounts {
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
    return nil
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
  private func addRewarded(to accounts: inout [LedgerAccount]) throws(StorageError) -> APIError? {
    for player in [order.from, referrer.flatMap { try? Key($0) }].compactMap(\.self) {
      accounts.append(.hold(player.text))
      for currency in currencies {
        guard let own = try purses(currency).accounts(of: player) else { return tooManyBalances(currency) }
        accounts += own
      }
    }
    var seen: Set<LedgerAccount> = []
    accounts = accounts.filter { seen.insert($0).inserted }
    return nil
  }

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
      var standing: Set<Path> = []
      for leaf in try snapshot.leaves(in: namespace, under: PathBytes(target), limit: Self.leavesMax + 1) {
        guard let path = leaf.leaf.path.path else { continue }
        standing.formUnion(path.line)
        guard path.depth > target.depth, !isApart(path) else { continue }
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
      // A priority needs a node: where only coins or the referral stood below it, there may be none.
      for operation in operations { standing.formUnion(operation.path.line) }
      operations += priorities.filter { standing.contains($0.path) }
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

  /// The records that nobody may write to meanwhile: FROM's, whose milestones would be paid for both, and INTO's where what it
  /// lacks is filled in.
  var records: [Path] { records(of: order.from) + (order.copiesRecord ? records(of: order.into) : []) }

  private func records(of uid: Key) -> [Path] {
    let places = (try? PersonalPaths(of: uid.text, currencies: currencies, patterns: []))?.paths ?? []
    return places.filter { !$0.isAccounts }
  }

  private func node(at path: Path) throws(StorageError) -> TreeNode {
    let place = PathBytes(path)
    let leaves = try snapshot.leaves(in: namespace, under: place, limit: 1000)
    return TreeNode(leaves: leaves.map(\.leaf), at: place) ?? .absent
  }
}

extension Path {
  /// The place and all above it but the root.
  fileprivate var line: [Path] { keys.indices.map { Path(keys: Array(keys[...$0])) } }
}
