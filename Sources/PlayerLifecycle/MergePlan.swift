import FunctionsKit
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
  /// Where functions keep rewards for referrers who cannot be paid yet.
  let heldRewards: [HeldRewardPath]
  let namespace: NamespaceID
  let snapshot: any Snapshot

  private(set) var operations: [WriteOperation] = []
  private(set) var expectations: [CommitRequest.Expectation] = []
  private(set) var transfers: [LedgerTransfer] = []
  private(set) var referrer: String?
  private(set) var moved: [MergeReport.MovedBalance] = []
  private(set) var copied: [Path] = []
  /// Where the reward waits now that waited for the referrer.
  private(set) var heldReward: Path?
  /// Rewards that were paid for the account that is left: they are not paid for the other one.
  private(set) var spentKeys: [BusinessKey] = []
  /// Records beside the tree that go along.
  var recordMoves: [KeyedRecordChange] = []

  init(
    _ order: MergeOrder, _ declarations: AccountMerge.Declarations, referralPattern: PathPattern, in namespace: NamespaceID,
    _ snapshot: any Snapshot
  ) {
    self.order = order
    self.referralPattern = referralPattern
    currencies = declarations.currencies
    heldRewards = declarations.heldRewards
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// - Throws: `MergeError` if it cannot be done.
  mutating func fill() throws {
    try moveReferral()
    if order.movesBalances { try moveBalances() }
    if order.copiesRecord { try copyRecord() }
    if operations.isEmpty, transfers.isEmpty { throw MergeError.nothingToMove(order.from) }
    try spendKeys()
  }

  // MARK: The referral

  private mutating func moveReferral() throws {
    guard let source = try? referralPattern.path(filling: [order.from.text]),
      let target = try? referralPattern.path(filling: [order.into.text])
    else { throw MergeError.impersonalReferralPattern(referralPattern) }
    let (carried, own) = (try node(at: source), try node(at: target))
    guard carried.exists else { return }
    guard let referrer = carried.scalar?.stringValue else { throw MergeError.invalidReferral(source) }
    guard !referrer.utf8.elementsEqual(order.into.text.utf8) else { throw MergeError.selfReferral(order.from, by: order.into) }
    if own.exists, own.scalar?.stringValue?.utf8.elementsEqual(referrer.utf8) != true {
      throw MergeError.alreadyReferred(order.into, by: own.scalar?.stringValue)
    }
    self.referrer = referrer
    expectations += [.init(path: source, node: carried), .init(path: target, node: own)]
    operations.append(.remove(source))
    if !own.exists { operations.append(.set(target, carried)) }
    try moveHeldRewards(for: referrer)
  }

  /// A reward that waits for the referrer goes along, and waits under the other name: the milestone brings it once.
  private mutating func moveHeldRewards(for referrer: String) throws {
    for declared in heldRewards {
      guard let source = declared.path(referrer: referrer, player: order.from.text),
        let target = declared.path(referrer: referrer, player: order.into.text)
      else { continue }
      let (waiting, own) = (try node(at: source), try node(at: target))
      guard waiting.exists else { continue }
      guard !own.exists else { throw MergeError.heldTwice(referrer: referrer, source, target) }
      expectations += [.init(path: source, node: waiting), .init(path: target, node: own)]
      operations += [.remove(source), .set(target, waiting)]
      heldReward = heldReward ?? target
    }
  }

  // MARK: Coins

  private mutating func moveBalances() throws {
    for currency in currencies {
      let balances = balances(in: currency)
      guard let accounts = try balances.accounts(of: order.from) else {
        throw MergeError.tooManyBalances(unit: currency.unit, currency.pattern)
      }
      for from in accounts { try move(from, into: balances.account(like: from, of: order.into), currency: currency) }
    }
  }

  private mutating func move(_ from: LedgerAccount, into: LedgerAccount, currency: Currency) throws {
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
    moved.append(MergeReport.MovedBalance(unit: currency.unit, amount: amount))
  }

  private func balances(in currency: Currency) -> PlayerBalances {
    PlayerBalances(
      currency: currency, playerName: referralPattern.captureNames.first, namespace: namespace, snapshot: snapshot)
  }

  /// Uses the keys of rewards that were paid for the one account for the other one too, so that they are not paid again: with
  /// entries between two accounts that only say so, and hold nobody's coins.
  private mutating func spendKeys() throws {
    let suffix = "/\(order.from)"
    var seen: Set<BusinessKey> = []
    var accounts = [LedgerAccount("merge:\(order.from)")]
    try addRewarded(to: &accounts)
    for account in accounts {
      var before: Int64?
      while true {
        let page = try snapshot.entries(in: namespace, account: account, before: before, limit: 500)
        for entry in page where entry.transfer.key.text.utf8.reversed().starts(with: suffix.utf8.reversed()) {
          try spend(entry, without: suffix, seen: &seen)
        }
        before = page.last?.sequence
        if page.count < 500 { break }
      }
    }
  }

  private mutating func spend(_ entry: LedgerEntry, without suffix: String, seen: inout Set<BusinessKey>)
    throws
  {
    let text = entry.transfer.key.text
    let reward = String(Substring(text.utf8.dropLast(suffix.utf8.count)))
    guard !Self.reservedWords.contains(String(reward.prefix { $0 != "/" })) else { return }
    let key = BusinessKey("\(reward)/\(order.into)")
    guard key.text.utf8.count <= BusinessKey.bytesMax, seen.insert(key).inserted,
      try snapshot.entry(in: namespace, key: key) == nil
    else { return }
    spentKeys.append(key)
    transfers.append(
      LedgerTransfer(
        debit: LedgerAccount("merge:\(order.from)"), credit: LedgerAccount("merge:\(order.into)"),
        amount: entry.transfer.amount, unit: entry.transfer.unit, code: "merge", key: key, subject: order.into.text,
        reason: "paid for \(order.from) by entry \(entry.sequence)"))
  }

  /// Keys that the ledger and merges make, and that stand for no reward.
  private static let reservedWords: Set<String> = ["adjustment", "opening", "reversal", "hold-end", "merge"]

  /// Where rewards for the player that is left, or for the one who invited the player, were paid to.
  private func addRewarded(to accounts: inout [LedgerAccount]) throws {
    for player in [order.from, referrer.flatMap { try? Key($0) }].compactMap(\.self) {
      accounts.append(.hold(player.text))
      for currency in currencies {
        guard let own = try balances(in: currency).accounts(of: player) else {
          throw MergeError.tooManyBalances(unit: currency.unit, currency.pattern)
        }
        accounts += own
      }
    }
    var seen: Set<LedgerAccount> = []
    accounts = accounts.filter { seen.insert($0).inserted }
  }

  // MARK: The record

  /// Copies the children of the one record that the other one does not have. Balances and the referral have their own ways.
  private mutating func copyRecord() throws {
    let sources = records(of: order.from)
    for (source, target) in zip(sources, records(of: order.into)) {
      let leaves = try snapshot.leaves(in: namespace, under: PathBytes(source), limit: Self.leavesMax + 1)
      guard leaves.count <= Self.leavesMax else { throw MergeError.recordTooLarge(source) }
      var taken: Set<Key> = []
      // Paths with a node after the merge.
      var existing: Set<Path> = []
      for leaf in try snapshot.leaves(in: namespace, under: PathBytes(target), limit: Self.leavesMax + 1) {
        guard let path = leaf.leaf.path.path else { continue }
        existing.formUnion(path.selfAndAncestors)
        guard path.depth > target.depth, !isApart(path) else { continue }
        taken.insert(path.keys[target.depth])
      }
      var names: Set<Key> = []
      var priorities: [WriteOperation] = []
      for leaf in leaves.map(\.leaf) {
        guard let path = leaf.path.path, path.depth > source.depth, !isApart(path) else { continue }
        let name = path.keys[source.depth]
        guard !taken.contains(name) else { continue }
        let destination = Path(keys: target.keys + path.keys[source.depth...])
        if leaf.path.isPriority {
          priorities.append(.setPriority(destination, priority: .scalar(leaf.scalar)))
        } else {
          operations.append(.set(destination, .leaf(leaf.scalar)))
          if names.insert(name).inserted { copied.append(target.child(name)) }
        }
      }
      // A priority needs a node: where only coins or the referral were below it, there may be none.
      for operation in operations { existing.formUnion(operation.path.selfAndAncestors) }
      operations += priorities.filter { existing.contains($0.path) }
    }
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
    PersonalPaths.records(of: uid.text, currencies: currencies)
  }

  private func node(at path: Path) throws -> TreeNode {
    let bytes = PathBytes(path)
    let leaves = try snapshot.leaves(in: namespace, under: bytes, limit: 1000)
    return TreeNode(leaves: leaves.map(\.leaf), at: bytes) ?? .absent
  }
}

extension Path {
  /// The path and all above it but the root.
  fileprivate var selfAndAncestors: [Path] { keys.indices.map { Path(keys: Array(keys[...$0])) } }
}
