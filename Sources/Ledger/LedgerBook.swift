public import RewardModel
public import StorageCore
import TreeModel

/// The ledger as admins and game servers use it: balances, statements, transfers, reversals, holds, audit.
///
/// Reads come from a snapshot, writes go through the write pipeline like anybody's; nothing here is privileged. A write
/// returns when it is durable.
public struct LedgerBook: Sendable {
  /// How many entries one call returns at most.
  public static let statementMax = 1000

  let engine: any StorageEngine
  let writer: any TreeWriter
  /// The currencies that it knows.
  public let currencies: CurrencyTable

  /// A book over a store and the door to its writer.
  public init(engine: any StorageEngine, writer: any TreeWriter, currencies: CurrencyTable) {
    self.engine = engine
    self.writer = writer
    self.currencies = currencies
  }

  /// The kinds of coin, and where the players' balances stand in the tree.
  public var declaredCurrencies: [Currency] { currencies.currencies }

  // MARK: Reading

  /// The account's balance: 0 if it was never used. A value in the tree that is no integer counts as 0.
  public func balance(in namespace: NamespaceID, of account: LedgerAccount, unit: String) throws(LedgerError) -> Int64 {
    let path = try place(of: Purse(account: account, unit: unit))
    return try read { (snapshot) throws(StorageError) in
      guard let path else { return try snapshot.balance(in: namespace, of: account, unit: unit) ?? 0 }
      return try snapshot.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar.intValue ?? 0
    }
  }

  /// The account's entries, newest first.
  ///
  /// - Parameters:
  ///   - before: the sequence of the last entry of the page before; nil begins with the newest.
  ///   - limit: at most this many, and never more than ``statementMax``.
  public func statement(in namespace: NamespaceID, of account: LedgerAccount, before: Int64? = nil, limit: Int = 100)
    throws(LedgerError) -> [LedgerEntry]
  {
    let limit = min(max(limit, 0), Self.statementMax)
    return try read { (snapshot) throws(StorageError) in
      try snapshot.entries(in: namespace, account: account, before: before, limit: limit)
    }
  }

  /// The entry of this sequence.
  public func entry(in namespace: NamespaceID, sequence: Int64) throws(LedgerError) -> LedgerEntry? {
    try read { (snapshot) throws(StorageError) in try snapshot.entry(in: namespace, sequence: sequence) }
  }

  /// The entry that was made under this key.
  public func entry(in namespace: NamespaceID, key: BusinessKey) throws(LedgerError) -> LedgerEntry? {
    try read { (snapshot) throws(StorageError) in try snapshot.entry(in: namespace, key: key) }
  }

  /// Audits the namespace: see ``LedgerAudit``.
  public func verify(_ namespace: NamespaceID) throws(LedgerError) -> LedgerReport {
    try read { (snapshot) throws(StorageError) in
      try LedgerAudit.verify(snapshot, namespace: namespace, currencies: currencies)
    }
  }

  // MARK: Doors

  func read<Result>(_ body: (any Snapshot) throws(StorageError) -> Result) throws(LedgerError) -> Result {
    do {
      return try engine.read(body)
    } catch {
      throw LedgerError(error)
    }
  }

  /// Commits transfers.
  ///
  /// - Returns: their entries, in the same order.
  func commit(_ transfers: [LedgerTransfer], in namespace: NamespaceID, by actor: Actor) async throws(CommitRefusal)
    -> [LedgerEntry]
  {
    var request = CommitRequest(namespace: namespace, actor: actor)
    request.transfers = transfers
    let sent = request
    let receipt = try await withCheckedContinuation { continuation in
      writer.submit(sent) { continuation.resume(returning: $0) }
    }.get()
    // Found by their keys: an adjustment may stand between them.
    let entries = transfers.compactMap { transfer in receipt.entries.first { $0.transfer.key == transfer.key } }
    precondition(entries.count == transfers.count, "A LedgerParticipant must be among the participants of the writer.")
    return entries
  }

  private func place(of purse: Purse) throws(LedgerError) -> Path? {
    do {
      return try currencies.path(of: purse)
    } catch {
      throw LedgerError(error)
    }
  }
}
