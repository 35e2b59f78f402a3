public import RewardModel
public import StorageCore

/// Why the ledger did not do what was asked. Nothing was posted.
public struct LedgerError: Error, Sendable, CustomStringConvertible {
  /// What kind of reason; more may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code as surfaces write it, such as `key_conflict`.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The business key was used for another transfer.
    public static let keyConflict = Code("key_conflict")
    /// The giving account would go below zero.
    public static let insufficientFunds = Code("insufficient_funds")
    /// What stands at a balance's place is no integer.
    public static let balanceType = Code("balance_type")
    /// A balance would not fit an Int64.
    public static let balanceOverflow = Code("balance_overflow")
    /// There is no entry, or no hold, of this sequence.
    public static let notFound = Code("not_found")
    /// The entry was reversed before.
    public static let alreadyReversed = Code("already_reversed")
    /// The hold was released, voided or freed before.
    public static let holdEnded = Code("hold_ended")
    /// The transfer cannot be taken as it is.
    public static let invalid = Code("invalid_transfer")
    /// The currencies cannot be declared like this.
    public static let invalidCurrency = Code("invalid_currency")
    /// The store or its queue does not take it now.
    public static let unavailable = Code("unavailable")
  }

  /// What kind of reason.
  public let code: Code
  /// What happened, and what to do.
  public let message: String
  /// The entry that stands in the way: the key's first, the reversal, the hold's end.
  public let entry: LedgerEntry?

  /// An error.
  public init(_ code: Code, _ message: String, entry: LedgerEntry? = nil) {
    self.code = code
    self.message = message
    self.entry = entry
  }

  /// The error for a failure of the store.
  public init(_ error: StorageError) {
    self.init(.unavailable, error.message)
  }

  /// The error for a transfer that the write pipeline refused.
  public init(_ refusal: CommitRefusal) {
    switch refusal.code {
    case .keyTaken(let entry): self.init(.keyConflict, refusal.message, entry: entry)
    case .insufficientFunds: self.init(.insufficientFunds, refusal.message)
    case .balanceType: self.init(.balanceType, refusal.message)
    case .balanceOverflow: self.init(.balanceOverflow, refusal.message)
    case .overloaded, .unavailable: self.init(.unavailable, refusal.message)
    default: self.init(.invalid, refusal.message)
    }
  }

  /// The message.
  public var description: String { message }
}
