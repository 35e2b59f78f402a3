/// One line of the ledger: an amount from one account to another. Never changed, never removed.
///
/// `hash` covers every field and the hash of the entry before it in the same namespace, so that a changed, missing or
/// exchanged line breaks the chain at its place.
public struct LedgerEntry: Sendable, Hashable {
  /// 1, 2, 3 … within the namespace.
  public let sequence: Int64
  /// The tree's revision that the entry was committed with.
  public let revision: Int64
  /// Milliseconds since 1970.
  public let time: Int64
  /// What was asked for.
  public let transfer: LedgerTransfer
  /// The balance of the account that gave, after the entry.
  public let debitAfter: Int64
  /// The balance of the account that got, after the entry.
  public let creditAfter: Int64
  /// The hash of the namespace's entry before; 32 zero bytes for the first.
  public let previousHash: [UInt8]
  /// The hash of this entry.
  public let hash: [UInt8]

  /// An entry as it is stored. New ones are made by the initializer without `hash`.
  public init(
    sequence: Int64, revision: Int64, time: Int64, transfer: LedgerTransfer, debitAfter: Int64, creditAfter: Int64,
    previousHash: [UInt8], hash: [UInt8]
  ) {
    self.sequence = sequence
    self.revision = revision
    self.time = time
    self.transfer = transfer
    self.debitAfter = debitAfter
    self.creditAfter = creditAfter
    self.previousHash = previousHash
    self.hash = hash
  }
}
