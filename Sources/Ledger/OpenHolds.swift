public import RewardModel
public import StorageCore

/// The holds of a namespace that did not end yet.
///
/// Only accounts that hold something are looked at, newest entries first, until their open holds are all found.
public struct OpenHolds {
  let namespace: NamespaceID
  let snapshot: any Snapshot

  /// Those that a snapshot shows.
  public init(in namespace: NamespaceID, _ snapshot: any Snapshot) {
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// The entries that made them, oldest first.
  public func all() throws(StorageError) -> [LedgerEntry] {
    var open: [LedgerEntry] = []
    for held in try snapshot.balances(in: namespace) where held.account.isHold && held.balance > 0 {
      open += try holds(in: held)
    }
    return open.sorted { $0.sequence < $1.sequence }
  }

  /// Those whose coins are held in a player's name, or go back to the player.
  ///
  /// - Parameter holders: the kinds of accounts that players have: a hold's owner may be named as one of them, `hold:user:bob`.
  ///   Other names that end so are other players': `google:bob`.
  public func of(player uid: String, holders: Set<String> = ["user"]) throws(StorageError) -> [LedgerEntry] {
    let names = Set([uid] + holders.map { "\($0):\(uid)" }).map { Array($0.utf8) }
    let isNamed = { (name: Substring) in names.contains { name.utf8.elementsEqual($0) } }
    return try all().filter { hold in
      let giver = hold.transfer.debit
      // A word of the program's may spell like a uid: issuance:bob.
      let isPlayers = !CurrencyTable.ownKinds.contains { $0.utf8.elementsEqual(giver.kind.utf8) }
      return isNamed(hold.transfer.credit.owner)
        || isPlayers && giver.ownerParts.contains { $0.utf8.elementsEqual(uid.utf8) }
    }
  }

  /// Those that wait in one account.
  public func of(account: LedgerAccount, unit: String) throws(StorageError) -> [LedgerEntry] {
    let balance = try snapshot.balance(in: namespace, of: account, unit: unit) ?? 0
    return try holds(in: AccountBalance(account: account, unit: unit, balance: balance))
  }

  private func holds(in held: AccountBalance) throws(StorageError) -> [LedgerEntry] {
    var open: [LedgerEntry] = []
    var rest = held.balance
    var before: Int64?
    while rest > 0 {
      let page = try snapshot.entries(in: namespace, account: held.account, before: before, limit: LedgerAudit.pageSize)
      for entry in page where entry.transfer.credit == held.account && entry.transfer.unit == held.unit {
        if try snapshot.entry(in: namespace, key: .holdEnd(of: entry.sequence)) != nil { continue }
        open.append(entry)
        rest -= entry.transfer.amount
      }
      guard page.count == LedgerAudit.pageSize, let last = page.last else { break }
      before = last.sequence
    }
    return open
  }
}
