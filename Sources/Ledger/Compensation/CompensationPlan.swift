package import RewardModel
package import StorageCore
import TreeModel

/// What a table of payments would do to the ledger as it is.
package struct CompensationPlan: Sendable {
  /// A line that was paid before.
  package struct Repeat: Sendable, Hashable {
    package let row: CompensationFile.Row
    /// The entry that paid it.
    package let entry: Int64
  }

  /// How many lines there are that can be read.
  package let count: Int
  /// What would be paid.
  package fileprivate(set) var payments: [CompensationFile.Row] = []
  /// By unit.
  package fileprivate(set) var sums: [String: Int64] = [:]
  /// What was paid before: nothing would happen.
  package fileprivate(set) var repeats: [Repeat] = []
  /// Lines whose player has no account and no record, or was erased.
  package fileprivate(set) var strangers: [CompensationFile.Row] = []
  /// Nothing is paid while there are any.
  package fileprivate(set) var faults: [CompensationFile.Fault]

  fileprivate init(_ file: CompensationFile) {
    count = file.rows.count
    faults = file.faults
  }
}

/// What became of the lines of a table.
package struct CompensationResult: Sendable {
  /// A line that could not be paid; the others were.
  package struct Refusal: Sendable {
    package let line: Int
    package let error: LedgerError
  }

  /// How many lines were paid.
  package fileprivate(set) var paid = 0
  /// By unit.
  package fileprivate(set) var sums: [String: Int64] = [:]
  /// How many had been paid before.
  package fileprivate(set) var repeated = 0
  package fileprivate(set) var refusals: [Refusal] = []
}

/// Pays tables of payments.
package struct Compensator: Sendable {
  /// Where the coins come from.
  package static let account = LedgerAccount.issuance(code)
  fileprivate static let code = "compensation"

  private let ledger: LedgerService

  /// On a ledger.
  package init(_ ledger: LedgerService) {
    self.ledger = ledger
  }

  /// Judges a table by what the store holds: keys that were used, players that are none, balances that would not fit.
  ///
  /// - Throws: ``LedgerError`` with `unavailable`.
  package func plan(_ file: CompensationFile, in namespace: NamespaceID) throws -> CompensationPlan {
    try ledger.read { snapshot in
      var plan = CompensationPlan(file)
      var judge = CompensationJudge(currencies: ledger.currencies, namespace: namespace, snapshot: snapshot)
      for row in file.rows {
        if let entry = try snapshot.entry(in: namespace, key: row.key) {
          if row.wasPaid(by: entry.transfer) {
            plan.repeats.append(CompensationPlan.Repeat(row: row, entry: entry.sequence))
          } else {
            plan.faults.append(row.conflict(with: entry))
          }
          continue
        }
        if let fault = try judge.fault(of: row) {
          plan.faults.append(fault)
          continue
        }
        if try !judge.knows(row.account) { plan.strangers.append(row) }
        plan.payments.append(row)
      }
      plan.sums = judge.sums
      plan.faults.sort { $0.line < $1.line }
      return plan
    }
  }

  /// Pays what a plan says, each line once and by itself. Lines that somebody else paid meanwhile count as repeated.
  ///
  /// What is cut off in the middle is continued by a plan of the same table: what was paid is among its repeats.
  /// - `reason`: a person's words, for lines that have none of their own.
  package func pay(_ plan: CompensationPlan, in namespace: NamespaceID, by actor: Actor, reason: String) async
    -> CompensationResult
  {
    precondition(plan.faults.isEmpty, "A plan with faults is not paid.")
    let outcomes = await ledger.concurrently(plan.payments) { [ledger] row in
      (
        row: row,
        result: await LedgerService.caught {
          try await ledger.transfer(row.transfer(reason: reason), in: namespace, by: actor)
        }
      )
    }
    var result = CompensationResult()
    result.repeated = plan.repeats.count
    for (row, outcome) in outcomes {
      switch outcome {
      case .success(let posted) where !posted.isRepeated:
        result.paid += 1
        // The plan added up all of them, and it fitted.
        result.sums[row.unit, default: 0] += row.amount
      case .success: result.repeated += 1
      case .failure(let error):
        if error.code == .keyConflict, let entry = error.entry, row.wasPaid(by: entry.transfer) {
          result.repeated += 1
        } else {
          result.refusals.append(CompensationResult.Refusal(line: row.line, error: error))
        }
      }
    }
    result.refusals.sort { $0.line < $1.line }
    return result
  }
}

extension CompensationFile.Row {
  fileprivate func transfer(reason: String) -> LedgerTransfer { payment(reason: self.reason ?? reason) }

  private func payment(reason: String?) -> LedgerTransfer {
    LedgerTransfer(
      debit: Compensator.account, credit: account, amount: amount, unit: unit, code: Compensator.code,
      key: key, reason: reason)
  }

  /// Whether a transfer under its key paid this: the words about it may be others.
  fileprivate func wasPaid(by transfer: LedgerTransfer) -> Bool {
    payment(reason: transfer.reason).hasSameBody(as: transfer)
  }

  fileprivate func conflict(with entry: LedgerEntry) -> CompensationFile.Fault {
    let made = entry.transfer
    return CompensationFile.Fault(
      line, .key,
      "The key was used by entry \(entry.sequence): \(made.amount) \(made.unit) from \(made.debit) to \(made.credit). "
        + "A new payment needs a new key.")
  }
}

/// The balances of a table's players, while its lines are added.
private struct CompensationJudge {
  let currencies: CurrencyTable
  let namespace: NamespaceID
  let snapshot: any Snapshot
  private(set) var sums: [String: Int64] = [:]
  private var balances: [PlayerBalanceKey: Int64] = [:]
  private var known: [LedgerAccount: Bool] = [:]

  init(currencies: CurrencyTable, namespace: NamespaceID, snapshot: any Snapshot) {
    self.currencies = currencies
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// Adds a line; what is wrong with its sum, if anything is.
  mutating func fault(of row: CompensationFile.Row) throws -> CompensationFile.Fault? {
    let (sum, overflow) = (sums[row.unit] ?? 0).addingReportingOverflow(row.amount)
    let issued = try balance(of: PlayerBalanceKey(account: Compensator.account, unit: row.unit))
    guard !overflow, let issued, !issued.subtractingReportingOverflow(sum).overflow else {
      return CompensationFile.Fault(row.line, .amount, "Up to this line all \(row.unit) together do not fit 64 bits.")
    }
    let key = PlayerBalanceKey(account: row.account, unit: row.unit)
    guard let before = try balance(of: key) else {
      return CompensationFile.Fault(
        row.line, .account, "The balance of \(row.account) is no integer: write one there first.")
    }
    let (after, isTooMuch) = before.addingReportingOverflow(row.amount)
    guard !isTooMuch else {
      return CompensationFile.Fault(row.line, .amount, "With it \(row.account) would have more than fits 64 bits.")
    }
    balances[key] = after
    sums[row.unit] = sum
    return nil
  }

  /// What an account has, what lines before gave it included; nil where something else is in its place.
  private mutating func balance(of key: PlayerBalanceKey) throws -> Int64? {
    if let known = balances[key] { return known }
    guard let path = try currencies.place(of: key) else {
      let kept = try snapshot.balance(in: namespace, of: key.account, unit: key.unit) ?? 0
      balances[key] = kept
      return kept
    }
    let place = PathBytes(path)
    guard let first = try snapshot.leaves(in: namespace, under: place, limit: 1).first?.leaf else { return 0 }
    return first.path == place ? first.scalar.intValue : nil
  }

  /// Whether there is a player: an account, or a record, and not erased.
  mutating func knows(_ account: LedgerAccount) throws -> Bool {
    if let known = known[account] { return known }
    let uid = account.ownerParts.last ?? ""
    var found = try snapshot.account(in: namespace, uid: uid) != nil
    for currency in currencies.currencies where !found {
      guard let path = currency.path(of: account),
        let end = currency.pattern.segments.lastIndex(where: { if case .literal = $0 { false } else { true } })
      else { continue }
      let record = Path(keys: Array(path.keys[...end]))
      found = try !snapshot.leaves(in: namespace, under: PathBytes(record), limit: 1).isEmpty
    }
    if found { found = try snapshot.erasure(in: namespace, of: uid) == nil }
    known[account] = found
    return found
  }
}
