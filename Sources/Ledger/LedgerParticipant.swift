import RewardModel
public import StorageCore
public import TreeModel

/// The ledger's part in every commit: transfers become balances, and every change of a balance becomes an entry.
///
/// Two steps, both on the writer (design §3). ``assignments(for:at:in:)`` judges the request's transfers on the state that
/// they apply to, and writes the balances that stand in the tree. ``participate(in:session:)`` then looks at what really
/// changed: what the transfers do not explain was written by somebody else and is posted as an adjustment. That second
/// step does not ask who wrote or how deep, so the sum of the ledger equals the balances in the tree always (promise P3).
public struct LedgerParticipant: CommitParticipant {
  let currencies: CurrencyTable

  /// A participant for currencies that are known to be sound; others are a mistake of the programmer and trap.
  ///
  /// Check currencies from a configuration with ``CurrencyTable/init(_:)`` first, and use ``init(table:)``.
  public init(currencies: [Currency]) {
    do {
      self.init(table: try CurrencyTable(currencies))
    } catch {
      preconditionFailure(error.message)
    }
  }

  /// A participant for checked currencies.
  public init(table: CurrencyTable) {
    currencies = table
  }

  /// The balances in the tree after the request's transfers, which are judged in order: a later one sees the earlier.
  ///
  /// - Throws: `CommitRefusal` with `keyTaken`, `invalidTransfer`, `balanceType`, `balanceOverflow` or `insufficientFunds`.
  public func assignments(for request: CommitRequest, at time: Int64, in session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
  {
    guard !request.transfers.isEmpty else { return [] }
    // Keys first: a repetition is answered with the first entry, whatever became of the funds since.
    try TransferKeys(session: session, namespace: request.namespace).check(request.transfers)
    var rules = TransferRules(session: session, namespace: request.namespace, time: time)
    for transfer in request.transfers { try rules.check(transfer) }
    try rules.finish()
    var bench = TransferBench(session: session, namespace: request.namespace, currencies: currencies)
    for transfer in request.transfers { try bench.move(transfer) }
    return bench.assignments
  }

  /// Posts the entries of the commit: first one for each change of a balance that no transfer explains, then the request's
  /// transfers in order, as the tree saw them.
  ///
  /// - Throws: `CommitRefusal` with `balanceOverflow` if a balance of the ledger's own accounts would not fit an Int64.
  public func participate(in draft: inout CommitDraft, session: any WriteSession) throws(CommitRefusal) {
    var balances = BalanceChanges(draft.changes, currencies: currencies)
    guard !balances.isEmpty || !draft.request.transfers.isEmpty else { return }
    try balances.explain(draft.request.transfers, currencies: currencies) { path throws(CommitRefusal) in
      try refusing { () throws(StorageError) in
        try session.leaf(in: draft.request.namespace, at: PathBytes(path))?.leaf.scalar
      }
    }
    var posting = EntryPosting(draft: draft, session: session, balances: balances)
    for residual in balances.residuals { try posting.adjust(residual.purse, by: residual.amount) }
    for transfer in draft.request.transfers { try posting.post(transfer) }
    posting.finish(&draft)
  }
}
