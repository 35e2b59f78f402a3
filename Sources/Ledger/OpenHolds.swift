package import RewardModel
package import StorageCore

/// The holds of a namespace that did not end yet.
///
/// Only accounts that hold something are looked at, newest entries first, until their open holds are all found.
package struct OpenHolds {
  let namespace: NamespaceID
  let snapshot: any Snapshot

  /// Those that a snapshot shows.
  package init(in namespace: NamespaceID, _ snapshot: any Snapshot) {
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// The entries that made them, oldest first.
  package func all() throws -> [LedgerEntry] {
    var open: [LedgerEntry] = []
    for held in try snapshot.balances(in: namespace) where held.account.isHold && held.balance > 0 {
      open += try holds(in: held)
    }
    return open.sorted { $0.sequence < $1.sequence }
  }

  /// Those whose coins are held in a player's name, or go back to the player.
  ///
  /// - `holders`: the kinds of accounts that players have: a hold's owner may be named as one of them, `hold:user:bob`.
  ///   Other names that end so are other players': `google:bob`.
  package func of(player uid: String, holders: Set<String> = ["user"]) throws -> [LedgerEntry] {
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
  package func of(account: LedgerAccount, unit: String) throws -> [LedgerEntry] {
    let balance = try snapshot.balance(in: namespace, of: account, unit: unit) ?? 0
    return try holds(in: AccountBalance(account: account, unit: unit, balance: balance))
  }

  private func holds(in held: AccountBalance) throws -> [LedgerEntry] {
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

/// Judges transfers out of hold accounts: coins leave a hold whole, once, and not late.
struct HoldEnds {
  /// What a release is called; it is refused after the hold's expiry.
  static let releaseCode = "release"
  /// What giving everything back is called.
  static let voidCode = "void"
  /// What giving everything back after the expiry is called.
  static let expiryCode = "expiry"

  private struct End {
    let hold: LedgerEntry
    var amount: Int64
    var hasMainKey: Bool
  }

  private var ends: [Int64: End] = [:]

  /// Adds a transfer out of a hold account.
  ///
  /// - `sequence`: the entry that the transfer's key names.
  /// - `hold`: that entry; nil if there is none.
  mutating func add(_ transfer: LedgerTransfer, at time: Int64, sequence: Int64, hold: LedgerEntry?) throws(CommitError) {
    guard let hold, hold.transfer.credit == transfer.debit, hold.transfer.unit == transfer.unit else {
      throw .invalidTransfer("Entry \(sequence) is no hold of \(transfer.unit) in \(transfer.debit).")
    }
    // Whatever it is called, what does not give the coins back is a release.
    let isRelease = transfer.code == Self.releaseCode || transfer.credit != hold.transfer.debit
    if isRelease, let expiresAt = hold.transfer.expiresAt, expiresAt <= time {
      throw .invalidTransfer("Hold \(sequence) expired at \(expiresAt); its coins go back. Make a new hold.")
    }
    var end = ends[sequence] ?? End(hold: hold, amount: 0, hasMainKey: false)
    let (amount, overflow) = end.amount.addingReportingOverflow(transfer.amount)
    guard !overflow, amount <= hold.transfer.amount else {
      throw .invalidTransfer("Hold \(sequence) has \(hold.transfer.amount) \(transfer.unit); no more can be taken from it.")
    }
    end.amount = amount
    if transfer.key == .holdEnd(of: sequence) { end.hasMainKey = true }
    ends[sequence] = end
  }

  /// To be called after the last transfer.
  func finish() throws(CommitError) {
    for (sequence, end) in ends.sorted(by: { $0.key < $1.key }) {
      guard end.hasMainKey, end.amount == end.hold.transfer.amount else {
        throw .invalidTransfer(
          """
          Hold \(sequence) ends at once: all \(end.hold.transfer.amount) leave it in one request, one part under the key \
          \(BusinessKey.holdEnd(of: sequence)).
          """)
      }
    }
  }

  /// The hold that a key ends.
  static func sequence(in key: BusinessKey) -> Int64? {
    let parts = key.text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 2, let sequence = Int64(parts[1]),
      key == .holdEnd(of: sequence) || key == .holdRest(of: sequence)
    else { return nil }
    return sequence
  }
}
