package import RewardModel
package import StorageCore
import TreeModel

/// The ledger as admins and game servers use it: balances, statements, transfers, reversals, holds, audit.
///
/// Reads come from a snapshot, writes go through the write pipeline like anybody's; nothing here is privileged. A write
/// returns when it is durable. What cannot be done, or read, throws ``LedgerError``.
package struct LedgerService: Sendable {
  /// How many entries one call returns at most.
  package static let statementMax = 1000

  let engine: any StorageEngine
  let writer: any TreeWriter
  /// The currencies that it knows.
  package let currencies: CurrencyTable

  /// A ledger over a store and its writer.
  package init(engine: any StorageEngine, writer: any TreeWriter, currencies: CurrencyTable) {
    self.engine = engine
    self.writer = writer
    self.currencies = currencies
  }

  /// The kinds of coin, and where the players' balances are in the tree.
  package var declaredCurrencies: [Currency] { currencies.currencies }

  // MARK: Reading

  /// The account's balance: 0 if it was never used. A value in the tree that is no integer counts as 0.
  package func balance(in namespace: NamespaceID, of account: LedgerAccount, unit: String) throws -> Int64 {
    let path = try currencies.place(of: PlayerBalanceKey(account: account, unit: unit))
    return try read { snapshot in
      guard let path else { return try snapshot.balance(in: namespace, of: account, unit: unit) ?? 0 }
      return try snapshot.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar.intValue ?? 0
    }
  }

  /// The account's entries, newest first.
  ///
  /// - `before`: the sequence of the last entry of the page before; nil begins with the newest.
  /// - `limit`: at most this many, and never more than ``statementMax``.
  package func statement(in namespace: NamespaceID, of account: LedgerAccount, before: Int64? = nil, limit: Int = 100)
    throws -> [LedgerEntry]
  {
    let limit = min(max(limit, 0), Self.statementMax)
    return try read { snapshot in
      try snapshot.entries(in: namespace, account: account, before: before, limit: limit)
    }
  }

  /// The entry of this sequence.
  package func entry(in namespace: NamespaceID, sequence: Int64) throws -> LedgerEntry? {
    try read { snapshot in try snapshot.entry(in: namespace, sequence: sequence) }
  }

  /// The entry that was made under this key.
  package func entry(in namespace: NamespaceID, key: BusinessKey) throws -> LedgerEntry? {
    try read { snapshot in try snapshot.entry(in: namespace, key: key) }
  }

  /// Audits the namespace: see ``LedgerAudit``.
  package func verify(_ namespace: NamespaceID) throws -> LedgerReport {
    try read { snapshot in
      try LedgerAudit.verify(snapshot, namespace: namespace, currencies: currencies)
    }
  }

  // MARK: Calls

  func read<Result>(_ body: (any Snapshot) throws -> Result) throws -> Result {
    do {
      return try engine.read(body)
    } catch let error as StorageError {
      throw LedgerError(error)
    }
  }

  /// Commits transfers.
  ///
  /// - Returns: their entries, in the same order.
  func commit(_ transfers: [LedgerTransfer], in namespace: NamespaceID, by actor: Actor) async throws(CommitError)
    -> [LedgerEntry]
  {
    var request = CommitRequest(namespace: namespace, actor: actor)
    request.ledger.transfers = transfers
    let receipt = try await writer.commit(request)
    // Looked up by key: adjustments may lie between them.
    let entries = transfers.compactMap { transfer in receipt.entries.first { $0.transfer.key == transfer.key } }
    precondition(entries.count == transfers.count, "A LedgerParticipant must be among the participants of the writer.")
    return entries
  }
}

extension LedgerService {
  /// Posts a transfer, once: asked again with the same key and the same body it answers with the first entry.
  ///
  /// - Throws: ``LedgerError`` with `keyConflict` (naming the entry) for the same key with another body,
  ///   `insufficientFunds`, `balanceType`, `balanceOverflow`, `invalid` or `unavailable`.
  package func transfer(_ transfer: LedgerTransfer, in namespace: NamespaceID, by actor: Actor) async throws -> PostedTransfer {
    do throws(CommitError) {
      let entries = try await commit([transfer], in: namespace, by: actor)
      return PostedTransfer(entry: entries[0], isRepeated: false)
    } catch {
      guard case .keyTaken(let entry) = error.code, entry.transfer.hasSameBody(as: transfer) else { throw LedgerError(error) }
      return PostedTransfer(entry: entry, isRepeated: true)
    }
  }

  /// Reverses an entry by a new one in the other direction; the entry itself stays.
  ///
  /// - `reason`: a person's words; part of what a repetition must repeat.
  /// - `policy`: what to do if the coins were spent.
  /// - Throws: ``LedgerError`` with `notFound`, `alreadyReversed` (naming the reversal), `insufficientFunds`, `invalid` for
  ///   a reversal of a reversal or of a hold, or as ``transfer(_:in:by:)``.
  package func reverse(
    _ sequence: Int64, in namespace: NamespaceID, by actor: Actor, reason: String, policy: ReversalPolicy = .allowNegative
  ) async throws -> PostedTransfer {
    let reversal = try original(of: sequence, in: namespace).reversal(reason: reason, policy: policy)
    do {
      return try await transfer(reversal, in: namespace, by: actor)
    } catch {
      let earlier = try read { snapshot in try snapshot.reversal(in: namespace, of: sequence) }
      guard let earlier else { throw error }
      throw LedgerError(reversalOf: sequence, was: earlier)
    }
  }

  /// The entry that is to be taken back.
  ///
  /// - Throws: ``LedgerError`` with `notFound`
  func original(of sequence: Int64, in namespace: NamespaceID) throws -> LedgerEntry {
    guard let original = try entry(in: namespace, sequence: sequence) else {
      throw LedgerError(.notFound, "There is no entry \(sequence). Look it up in the account's statement.")
    }
    return original
  }
}

extension LedgerEntry {
  /// What takes the entry back.
  func reversal(reason: String?, policy: ReversalPolicy) -> LedgerTransfer {
    LedgerTransfer(
      debit: transfer.credit, credit: transfer.debit, amount: transfer.amount, unit: transfer.unit, code: "reversal",
      key: .reversal(of: sequence), subject: transfer.subject, reverses: sequence, reason: reason,
      allowsNegative: policy == .allowNegative)
  }
}

/// The result of a transfer.
package struct PostedTransfer: Sendable, Hashable {
  /// Its entry.
  package let entry: LedgerEntry
  /// Whether the entry was made by an earlier request with the same key and body; this one changed nothing.
  package let isRepeated: Bool

  /// A posted transfer.
  package init(entry: LedgerEntry, isRepeated: Bool) {
    self.entry = entry
    self.isRepeated = isRepeated
  }
}

/// What a reversal does when the player has spent the coins.
package enum ReversalPolicy: String, Sendable, Hashable, CaseIterable {
  /// The balance goes below zero; later rewards pay the debt.
  case allowNegative
  /// The reversal is refused with `insufficient_funds`.
  case refuse
}

/// Why the ledger did not do what was asked. Nothing was posted.
package struct LedgerError: Error, Sendable, CustomStringConvertible {
  /// What kind of reason; more may be added.
  package struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code as surfaces write it, such as `key_conflict`.
    package let description: String

    private init(_ description: String) { self.description = description }

    /// The business key was used for another transfer.
    package static let keyConflict = Code("key_conflict")
    /// The debited account would go below zero.
    package static let insufficientFunds = Code("insufficient_funds")
    /// The value at a balance's path is no integer.
    package static let balanceType = Code("balance_type")
    /// A balance would not fit an Int64.
    package static let balanceOverflow = Code("balance_overflow")
    /// There is no entry, or no hold, of this sequence.
    package static let notFound = Code("not_found")
    /// The entry was reversed before.
    package static let alreadyReversed = Code("already_reversed")
    /// The hold was released, voided or freed before.
    package static let holdEnded = Code("hold_ended")
    /// The transfer cannot be taken as it is.
    package static let invalid = Code("invalid_transfer")
    /// The currencies cannot be declared like this.
    package static let invalidCurrency = Code("invalid_currency")
    /// The store or its queue does not take it now.
    package static let unavailable = Code("unavailable")
  }

  /// What kind of reason.
  package let code: Code
  /// What happened, and what to do.
  package let message: String
  /// The conflicting entry: the key's first, the reversal, or the end of the hold.
  package let entry: LedgerEntry?

  /// An error.
  package init(_ code: Code, _ message: String, entry: LedgerEntry? = nil) {
    self.code = code
    self.message = message
    self.entry = entry
  }

  /// The error for a failure of the store.
  package init(_ error: StorageError) {
    self.init(.unavailable, error.message)
  }

  /// The error for a transfer that the write pipeline refused.
  package init(_ error: CommitError) {
    switch error.code {
    case .keyTaken(let entry): self.init(.keyConflict, error.message, entry: entry)
    case .insufficientFunds: self.init(.insufficientFunds, error.message)
    case .balanceType: self.init(.balanceType, error.message)
    case .balanceOverflow: self.init(.balanceOverflow, error.message)
    case .overloaded, .unavailable: self.init(.unavailable, error.message)
    default: self.init(.invalid, error.message)
    }
  }

  /// The refusal of a second reversal.
  init(reversalOf sequence: Int64, was earlier: LedgerEntry) {
    self.init(
      .alreadyReversed, "Entry \(sequence) was reversed by entry \(earlier.sequence). An entry is reversed once.",
      entry: earlier)
  }

  /// The message.
  package var description: String { message }
}

/// Runs a read of the store where only a refusal can be thrown.
func refusing<Result>(_ body: () throws(StorageError) -> Result) throws(CommitError) -> Result {
  do {
    return try body()
  } catch {
    throw CommitError(error)
  }
}
