package import RewardModel
package import StorageCore
import TreeModel

/// Proves, or disproves, that the ledger of a namespace is whole and equals the balances in the tree (promise P3).
///
/// One pass over the entries, one over the tree's balances, in pages; what stays in memory is one Int64 for each account.
/// That a business key is used once is the store's unique index's word and not read again.
package struct LedgerAudit {
  static let pageSize = 1000

  let snapshot: any Snapshot
  let namespace: NamespaceID
  let currencies: CurrencyTable
  var report = LedgerReport()
  /// The balances by the entries so far.
  var balances: [PlayerBalanceKey: Int64] = [:]
  private var last: LedgerEntry?

  /// Audits a namespace as it is in the snapshot.
  ///
  /// - Returns: what was found; ``RewardModel/LedgerReport/isSound`` if every rule holds.
  /// - Throws: `StorageError` if the store cannot be read.
  package static func verify(_ snapshot: any Snapshot, namespace: NamespaceID, currencies: CurrencyTable)
    throws -> LedgerReport
  {
    var audit = LedgerAudit(snapshot: snapshot, namespace: namespace, currencies: currencies)
    try audit.checkEntries()
    try audit.checkHead()
    audit.report.accountCount = audit.balances.count
    audit.report.lastHash = audit.last?.hash ?? NamespaceHead.genesisHash
    audit.checkSums()
    try audit.checkStoredBalances()
    try audit.checkTree()
    return audit.report
  }

  private init(snapshot: any Snapshot, namespace: NamespaceID, currencies: CurrencyTable) {
    self.snapshot = snapshot
    self.namespace = namespace
    self.currencies = currencies
  }

  // MARK: Entry by entry

  private mutating func checkEntries() throws {
    while true {
      let page = try snapshot.entries(in: namespace, after: last?.sequence ?? 0, limit: Self.pageSize)
      for entry in page {
        try check(entry)
        last = entry
      }
      if page.count < Self.pageSize { return }
    }
  }

  private mutating func check(_ entry: LedgerEntry) throws {
    report.countEntry()
    checkChain(entry)
    let transfer = entry.transfer
    if transfer.amount <= 0 || transfer.debit == transfer.credit || transfer.key.text.isEmpty {
      let sides = "from \(transfer.debit) to \(transfer.credit)"
      note(.entry, entry: entry, what: "has an amount of \(transfer.amount) \(sides), key \"\(transfer.key)\"")
    }
    checkBalance(entry, of: transfer.debit, by: -Int128(transfer.amount), after: entry.debitAfter)
    checkBalance(entry, of: transfer.credit, by: Int128(transfer.amount), after: entry.creditAfter)
    if let reversed = transfer.reverses { try checkReversal(entry, of: reversed) }
  }

  /// Each fault is reported once, where it occurs: the next entry is compared with what is stored here, not with what should be.
  private mutating func checkChain(_ entry: LedgerEntry) {
    let expected = (last?.sequence ?? 0) + 1
    if entry.sequence != expected {
      note(.sequence, entry: entry, what: "follows on entry \(expected - 1): \(entry.sequence - expected) entries are missing")
    }
    if entry.previousHash != last?.hash ?? NamespaceHead.genesisHash {
      note(.chain, entry: entry, what: "does not follow on the entry before it: an entry was changed, exchanged or removed")
    }
    let hash = LedgerEntry.chainHash(
      sequence: entry.sequence, revision: entry.revision, time: entry.time, transfer: entry.transfer,
      debitAfter: entry.debitAfter, creditAfter: entry.creditAfter, previousHash: entry.previousHash)
    if entry.hash != hash { note(.chain, entry: entry, what: "is not what was written: its hash is not that of its content") }
  }

  private mutating func checkBalance(_ entry: LedgerEntry, of account: LedgerAccount, by change: Int128, after: Int64) {
    let balanceKey = PlayerBalanceKey(account: account, unit: entry.transfer.unit)
    let expected = Int128(balances[balanceKey] ?? 0) + change
    if expected != Int128(after) {
      note(
        .balance, entry: entry, what: "leaves \(account) with \(after) \(balanceKey.unit); the entries so far give \(expected)",
        account: account)
    }
    balances[balanceKey] = after
  }

  private mutating func checkReversal(_ entry: LedgerEntry, of sequence: Int64) throws {
    let original = try snapshot.entry(in: namespace, sequence: sequence)?.transfer
    let transfer = entry.transfer
    if original?.debit != transfer.credit || original?.credit != transfer.debit || original?.amount != transfer.amount {
      note(.reversal, entry: entry, what: "reverses entry \(sequence), but does not mirror it")
    }
    if try snapshot.reversal(in: namespace, of: sequence)?.sequence != entry.sequence {
      note(.reversal, entry: entry, what: "is not the only reversal of entry \(sequence)")
    }
  }

  // MARK: At the end

  /// The chain alone does not show that its last entries were cut off; a head that was stored does, and the balances do.
  private mutating func checkHead() throws {
    let head = try snapshot.head(of: namespace)
    let sequence = last?.sequence ?? 0
    if head.entrySequence != sequence {
      report.note(
        .init(
          .sequence, sequence: min(sequence, head.entrySequence) + 1,
          message: "The ledger should end with entry \(head.entrySequence); the last one found is \(sequence)."))
    } else if head.entryHash != last?.hash ?? NamespaceHead.genesisHash {
      report.note(
        .init(
          .chain, sequence: sequence,
          message: "Entry \(sequence) is not the one that the ledger ended with: its hash differs."))
    }
  }

  private mutating func checkSums() {
    var sums: [String: Int128] = [:]
    for (balanceKey, balance) in balances { sums[balanceKey.unit, default: 0] += Int128(balance) }
    for (unit, sum) in sums.sorted(by: { $0.key < $1.key }) where sum != 0 {
      report.note(.init(.sum, message: "The accounts of \(unit) sum to \(sum), not to 0."))
    }
  }

  private mutating func checkStoredBalances() throws {
    var expected: [PlayerBalanceKey: Int64] = balances.filter { !currencies.isHolder($0.key.account) }
    for stored in try snapshot.balances(in: namespace) {
      let balanceKey = PlayerBalanceKey(account: stored.account, unit: stored.unit)
      let sum = expected.removeValue(forKey: balanceKey) ?? 0
      if stored.balance != sum || balances[balanceKey] == nil { noteStored(balanceKey, stored: stored.balance, sum: sum) }
    }
    for (balanceKey, sum) in expected.sorted(by: { $0.key.account.name < $1.key.account.name }) where sum != 0 {
      noteStored(balanceKey, stored: nil, sum: sum)
    }
  }

  private mutating func noteStored(_ balanceKey: PlayerBalanceKey, stored: Int64?, sum: Int64) {
    let what = stored.map(String.init) ?? "no balance"
    report.note(
      .init(
        .stored, account: balanceKey.account,
        message: "The ledger keeps \(what) \(balanceKey.unit) for \(balanceKey.account); its entries sum to \(sum)."))
  }

  private mutating func note(
    _ kind: LedgerReport.Finding.Kind, entry: LedgerEntry, what: String, account: LedgerAccount? = nil
  ) {
    report.note(.init(kind, sequence: entry.sequence, account: account, message: "Entry \(entry.sequence) \(what)."))
  }
}

extension LedgerAudit {
  /// Compares the balances in the tree with the entries, both ways: a path without entries, entries without a path.
  ///
  /// Paths are found by walking the patterns, one seek for each child on the way: what lies beside them is not read.
  mutating func checkTree() throws {
    var missing = balances.filter { currencies.isHolder($0.key.account) }
    for balancePath in currencies.balancePaths {
      try walk(balancePath.currency.pattern.segments[...], from: .root, missing: &missing)
    }
    for (balanceKey, sum) in missing.sorted(by: { $0.key.account.name < $1.key.account.name }) where sum != 0 {
      noteTree(balanceKey, found: "nothing stands in the tree", sum: sum)
    }
  }

  private mutating func walk(
    _ segments: ArraySlice<PathPattern.Segment>, from path: PathBytes, missing: inout [PlayerBalanceKey: Int64]
  )
    throws
  {
    guard let segment = segments.first else { return try compare(path, missing: &missing) }
    if case .literal(let key) = segment { return try walk(segments.dropFirst(), from: path.child(key), missing: &missing) }
    var last: Key?
    while true {
      let keys = try snapshot.children(in: namespace, of: path, after: last, limit: Self.pageSize)
      for key in keys { try walk(segments.dropFirst(), from: path.child(key), missing: &missing) }
      if keys.count < Self.pageSize { return }
      last = keys.last
    }
  }

  private mutating func compare(_ path: PathBytes, missing: inout [PlayerBalanceKey: Int64]) throws {
    guard let first = try snapshot.leaves(in: namespace, under: path, limit: 1).first?.leaf,
      let balanceKey = currencies.balanceKey(at: path)
    else { return }
    let sum = missing.removeValue(forKey: balanceKey) ?? 0
    guard first.path == path, let balance = first.scalar.intValue else {
      let found = first.path == path ? first.scalar.kindName : "an object"
      report.note(.init(path: path.path?.description ?? "?", account: balanceKey.account, unit: balanceKey.unit, found: found))
      if sum != 0 { noteTree(balanceKey, found: "the tree has \(found), which counts as 0,", sum: sum) }
      return
    }
    if balance != sum { noteTree(balanceKey, found: "the tree has \(balance)", sum: sum) }
  }

  private mutating func noteTree(_ balanceKey: PlayerBalanceKey, found: String, sum: Int64) {
    report.note(
      .init(
        .tree, account: balanceKey.account,
        message: "For \(balanceKey.account) in \(balanceKey.unit) \(found); the entries sum to \(sum)."))
  }
}
