import RewardModel
package import StorageCore
package import TreeModel

/// The ledger's part in every commit: transfers become balances, and every change of a balance becomes an entry.
///
/// Two steps, both on the writer. `assignments(for:at:in:)` judges the request's transfers on the state that
/// they apply to, and writes the balances that are kept in the tree. `participate(in:session:)` then looks at what really
/// changed: what the transfers do not explain was written by another request and is posted as an adjustment. That second
/// step does not ask who wrote or how deep, so the sum of the ledger equals the balances in the tree always (promise P3).
package struct LedgerParticipant: CommitParticipant {
  let currencies: CurrencyTable

  /// A participant for currencies that are known to be sound; others are a mistake of the programmer and trap.
  ///
  /// Check currencies from a configuration with ``CurrencyTable/init(_:)`` first, and use ``init(table:)``.
  package init(currencies: [Currency]) {
    do {
      self.init(table: try CurrencyTable(currencies))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// A participant for checked currencies.
  package init(table: CurrencyTable) {
    currencies = table
  }

  /// The balances in the tree after the request's transfers, which are judged in order: a later one sees the earlier.
  ///
  /// - Throws: `CommitError` with `keyTaken`, `invalidTransfer`, `balanceType`, `balanceOverflow` or `insufficientFunds`.
  package func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  {
    guard !request.ledger.transfers.isEmpty else { return [] }
    // Keys first: a repetition is answered with the first entry, whatever became of the funds since.
    try TransferKeys(session: session, namespace: request.namespace).check(request.ledger.transfers)
    var rules = TransferRules(session: session, namespace: request.namespace, time: time)
    for transfer in request.ledger.transfers { try rules.check(transfer) }
    try rules.finish()
    var transaction = TransferTransaction(session: session, namespace: request.namespace, currencies: currencies)
    for transfer in request.ledger.transfers { try transaction.move(transfer) }
    return transaction.assignments
  }

  /// Posts the entries of the commit: first one for each change of a balance that no transfer explains, then the request's
  /// transfers in order, as the tree saw them.
  ///
  /// - Throws: `CommitError` with `balanceOverflow` if a balance of the ledger's own accounts would not fit an Int64.
  package func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {
    var balances = BalanceChanges(draft.changes, currencies: currencies)
    guard !balances.isEmpty || !draft.request.ledger.transfers.isEmpty else { return }
    try balances.explain(draft.request.ledger.transfers, currencies: currencies) { path throws(CommitError) in
      try refusing { () throws(StorageError) in
        try session.leaf(in: draft.request.namespace, at: PathBytes(path))?.leaf.scalar
      }
    }
    var posting = EntryPosting(draft: draft, session: session, balances: balances)
    for residual in balances.residuals { try posting.adjust(residual.balanceKey, by: residual.amount) }
    for transfer in draft.request.ledger.transfers { try posting.post(transfer) }
    posting.finish(&draft)
  }
}

/// Writes the entries of one commit: sequence, balances after, hash chain.
struct EntryPosting {
  private let request: CommitRequest
  private let time: Int64
  private let revision: Revision
  private let session: any CommitSession
  private let inTree: BalanceChanges
  private var sequence: Int64
  private var hash: [UInt8]
  private var entries: [LedgerEntry] = []
  /// The balances so far of all accounts and units that the commit touches, in the order of their first entry; the ledger alone keeps
  /// those that are not in the tree.
  private var balances: [(balanceKey: PlayerBalanceKey, value: Int64, isKept: Bool)] = []
  private var positions: [PlayerBalanceKey: Int] = [:]

  init(draft: CommitDraft, session: any CommitSession, balances: BalanceChanges) {
    request = draft.request
    time = draft.time
    revision = draft.revision
    sequence = draft.head.entrySequence
    hash = draft.head.entryHash
    self.session = session
    inTree = balances
  }

  /// Posts a transfer that was judged before.
  mutating func post(_ transfer: LedgerTransfer) throws(CommitError) {
    let debit = try position(of: PlayerBalanceKey(account: transfer.debit, unit: transfer.unit))
    let credit = try position(of: PlayerBalanceKey(account: transfer.credit, unit: transfer.unit))
    let (debitAfter, debitOverflow) = balances[debit].value.subtractingReportingOverflow(transfer.amount)
    let (creditAfter, creditOverflow) = balances[credit].value.addingReportingOverflow(transfer.amount)
    guard !debitOverflow, !creditOverflow else { throw .overflow(of: balances[debitOverflow ? debit : credit].balanceKey) }
    sequence += 1
    let entry = LedgerEntry(
      sequence: sequence, revision: revision.rawValue, time: time, transfer: transfer, debitAfter: debitAfter,
      creditAfter: creditAfter, previousHash: hash)
    hash = entry.hash
    balances[debit].value = debitAfter
    balances[credit].value = creditAfter
    session.append(entry, in: request.namespace)
    entries.append(entry)
  }

  /// Posts what a write did to a balance: one entry, or two or three where the amount exceeds an Int64.
  mutating func adjust(_ balanceKey: PlayerBalanceKey, by residual: Int128) throws(CommitError) {
    var rest = residual.magnitude
    while rest > 0 {
      let amount = Int64(min(rest, UInt128(Int64.max)))
      rest -= UInt128(amount)
      let counter = try counterAccount(for: balanceKey, receiving: residual < 0, amount: amount)
      let (debit, credit) = residual < 0 ? (balanceKey.account, counter) : (counter, balanceKey.account)
      let code = request.ledger.isImport ? LedgerAccount.opening.name : LedgerAccount.adjustment.name
      // The sequence makes the key unique; a revision would not where writes and transfers cancel out.
      let key = BusinessKey("\(code)/\(sequence + 1)/\(balanceKey.account)")
      try post(
        LedgerTransfer(
          debit: debit, credit: credit, amount: amount, unit: balanceKey.unit, code: code, key: key,
          event: request.log.cause?.event.description, function: request.log.cause?.function,
          reason: "written by \(request.actor)", allowsNegative: true))
    }
  }

  /// Hands the entries over, moves the head, stores the balances that the ledger alone keeps.
  func finish(_ draft: inout CommitDraft) {
    for (balanceKey, value, isKept) in balances where isKept {
      session.setBalance(value, of: balanceKey.account, unit: balanceKey.unit, in: request.namespace)
    }
    draft.head.entrySequence = sequence
    draft.head.entryHash = hash
    draft.entries += entries
  }

  /// The account on the other side of an adjustment: the common one, unless absurd balances have filled it up; then the
  /// first beside it, for the balance alone, that has capacity.
  private mutating func counterAccount(for balanceKey: PlayerBalanceKey, receiving: Bool, amount: Int64) throws(CommitError)
    -> LedgerAccount
  {
    let common = request.ledger.isImport ? LedgerAccount.opening : .adjustment
    var account = common
    var number = 1
    while true {
      let balance = balances[try position(of: PlayerBalanceKey(account: account, unit: balanceKey.unit))].value
      let (_, overflow) = receiving ? balance.addingReportingOverflow(amount) : balance.subtractingReportingOverflow(amount)
      if !overflow { return account }
      // No key of the tree has a '#', so these names collide with no player's.
      account = LedgerAccount("\(common):\(balanceKey.account)#\(number)")
      number += 1
    }
  }

  private mutating func position(of balanceKey: PlayerBalanceKey) throws(CommitError) -> Int {
    if let known = positions[balanceKey] { return known }
    let before = inTree.before(balanceKey)
    let value: Int64
    if let before {
      value = before
    } else {
      value = try refusing { () throws(StorageError) in
        try session.balance(in: request.namespace, of: balanceKey.account, unit: balanceKey.unit) ?? 0
      }
    }
    positions[balanceKey] = balances.count
    balances.append((balanceKey, value, isKept: before == nil))
    return balances.count - 1
  }
}

/// What a commit does to the balances in the tree, and how much of it the commit's transfers explain.
///
/// A value that is no Int64, or none, counts as 0. Sums are 128 bits wide: the way from Int64.min to Int64.max does not fit
/// 64.
struct BalanceChanges {
  /// One balance.
  private struct Change {
    let balanceKey: PlayerBalanceKey
    let before: Int64
    let after: Int64
    var explained: Int128 = 0
  }

  /// In the order of the tree, then of the transfers.
  private var changes: [Change] = []
  private var positions: [PlayerBalanceKey: Int] = [:]

  /// The balances among the changed leaves.
  init(_ leaves: [LeafChange], currencies: CurrencyTable) {
    for leaf in leaves {
      guard let balanceKey = currencies.balanceKey(at: leaf.path) else { continue }
      append(balanceKey, before: leaf.before?.intValue ?? 0, after: leaf.after?.intValue ?? 0)
    }
  }

  var isEmpty: Bool { changes.isEmpty }

  /// The balance before the commit; nil for one that the ledger alone keeps.
  func before(_ balanceKey: PlayerBalanceKey) -> Int64? {
    positions[balanceKey].map { changes[$0].before }
  }

  /// What the transfers leave unexplained, in order; never 0.
  var residuals: [(balanceKey: PlayerBalanceKey, amount: Int128)] {
    changes.compactMap { change in
      let residual = Int128(change.after) - Int128(change.before) - change.explained
      return residual == 0 ? nil : (change.balanceKey, residual)
    }
  }

  /// Subtracts what the transfers explain.
  ///
  /// - `current`: reads a leaf as it is after the commit. A write and a transfer may cancel out; such a balance is
  ///   not among the changed leaves, but its write needs an adjustment all the same.
  mutating func explain(
    _ transfers: [LedgerTransfer], currencies: CurrencyTable, current: (Path) throws(CommitError) -> Scalar?
  ) throws(CommitError) {
    for transfer in transfers {
      for (account, amount) in [(transfer.debit, -Int128(transfer.amount)), (transfer.credit, Int128(transfer.amount))] {
        let balanceKey = PlayerBalanceKey(account: account, unit: transfer.unit)
        if let position = positions[balanceKey] {
          changes[position].explained += amount
        } else if let path = try currencies.path(of: balanceKey) {
          let balance = try current(path)?.intValue ?? 0
          append(balanceKey, before: balance, after: balance)
          changes[changes.count - 1].explained += amount
        }
      }
    }
  }

  private mutating func append(_ balanceKey: PlayerBalanceKey, before: Int64, after: Int64) {
    positions[balanceKey] = changes.count
    changes.append(Change(balanceKey: balanceKey, before: before, after: after))
  }
}
