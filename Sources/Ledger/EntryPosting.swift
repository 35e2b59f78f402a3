import RewardModel
import StorageCore

/// Writes the entries of one commit: sequence, balances after, hash chain.
struct EntryPosting {
  private let request: CommitRequest
  private let time: Int64
  private let revision: Revision
  private let session: any WriteSession
  private let inTree: BalanceChanges
  private var sequence: Int64
  private var hash: [UInt8]
  private var entries: [LedgerEntry] = []
  /// The balances so far of all purses that the commit touches, in the order of their first entry; the ledger alone keeps
  /// those that are not in the tree.
  private var balances: [(purse: Purse, value: Int64, isKept: Bool)] = []
  private var positions: [Purse: Int] = [:]

  init(draft: CommitDraft, session: any WriteSession, balances: BalanceChanges) {
    request = draft.request
    time = draft.time
    revision = draft.revision
    sequence = draft.head.entrySequence
    hash = draft.head.entryHash
    self.session = session
    inTree = balances
  }

  /// Posts a transfer that was judged before.
  mutating func post(_ transfer: LedgerTransfer) throws(CommitRefusal) {
    let debit = try position(of: Purse(account: transfer.debit, unit: transfer.unit))
    let credit = try position(of: Purse(account: transfer.credit, unit: transfer.unit))
    let (debitAfter, debitOverflow) = balances[debit].value.subtractingReportingOverflow(transfer.amount)
    let (creditAfter, creditOverflow) = balances[credit].value.addingReportingOverflow(transfer.amount)
    guard !debitOverflow, !creditOverflow else { throw .overflow(of: balances[debitOverflow ? debit : credit].purse) }
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

  /// Posts what somebody did to a balance by writing it: one entry, or two or three where the amount exceeds an Int64.
  mutating func adjust(_ purse: Purse, by residual: Int128) throws(CommitRefusal) {
    var rest = residual.magnitude
    while rest > 0 {
      let amount = Int64(min(rest, UInt128(Int64.max)))
      rest -= UInt128(amount)
      let counter = try counterAccount(for: purse, receiving: residual < 0, amount)
      let (debit, credit) = residual < 0 ? (purse.account, counter) : (counter, purse.account)
      let code = request.isImport ? LedgerAccount.opening.name : LedgerAccount.adjustment.name
      // The sequence makes the key unique; a revision would not where writes and transfers cancel out.
      let key = BusinessKey("\(code)/\(sequence + 1)/\(purse.account)")
      try post(
        LedgerTransfer(
          debit: debit, credit: credit, amount: amount, unit: purse.unit, code: code, key: key,
          event: request.cause?.event.description, function: request.cause?.function,
          reason: "written by \(request.actor)", allowsNegative: true))
    }
  }

  /// Hands the entries over, moves the head, stores the balances that the ledger alone keeps.
  func finish(_ draft: inout CommitDraft) {
    for (purse, value, isKept) in balances where isKept {
      session.setBalance(value, of: purse.account, unit: purse.unit, in: request.namespace)
    }
    draft.head.entrySequence = sequence
    draft.head.entryHash = hash
    draft.entries += entries
  }

  /// The account on the other side of an adjustment: the common one, unless absurd balances have filled it up; then the
  /// first beside it, for the balance alone, that has room.
  private mutating func counterAccount(for purse: Purse, receiving: Bool, _ amount: Int64) throws(CommitRefusal)
    -> LedgerAccount
  {
    let common = request.isImport ? LedgerAccount.opening : .adjustment
    var account = common
    var number = 1
    while true {
      let balance = balances[try position(of: Purse(account: account, unit: purse.unit))].value
      let (_, overflow) = receiving ? balance.addingReportingOverflow(amount) : balance.subtractingReportingOverflow(amount)
      if !overflow { return account }
      // No key of the tree has a '#', so these names meet nobody else's.
      account = LedgerAccount("\(common):\(purse.account)#\(number)")
      number += 1
    }
  }

  private mutating func position(of purse: Purse) throws(CommitRefusal) -> Int {
    if let known = positions[purse] { return known }
    let before = inTree.before(purse)
    let value: Int64
    if let before {
      value = before
    } else {
      value = try refusing { () throws(StorageError) in
        try session.balance(in: request.namespace, of: purse.account, unit: purse.unit) ?? 0
      }
    }
    positions[purse] = balances.count
    balances.append((purse, value, isKept: before == nil))
    return balances.count - 1
  }
}
