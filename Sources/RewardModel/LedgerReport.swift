/// What an audit of one namespace's ledger found.
public struct LedgerReport: Sendable, Hashable {
  /// Something that is not as it must be.
  public struct Finding: Sendable, Hashable {
    /// Which rule is broken of those that <doc:Ledger> lists.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// An entry is missing, or the last ones are.
      case sequence
      /// An entry's hash is not that of its content, or it does not follow on the entry before it (L7).
      case chain
      /// An entry that should never have been taken: no amount, one account on both sides.
      case entry
      /// A balance after an entry is not the sum of the entries so far (L2).
      case balance
      /// A reversal that does not mirror its entry, or is not its only one (L8).
      case reversal
      /// The accounts of a unit do not sum to zero (L1).
      case sum
      /// The stored balance of an account that the ledger alone keeps is not the sum of its entries (L2).
      case stored
      /// The balance in the tree is not the sum of the account's entries (L3).
      case tree
    }

    /// Which rule is broken.
    public let kind: Kind
    /// The entry at which it shows; nil where it is no single one.
    public let sequence: Int64?
    /// The account whose balance is wrong.
    public let account: LedgerAccount?
    /// What was found, what was expected.
    public let message: String

    /// A fault.
    public init(_ kind: Kind, sequence: Int64? = nil, account: LedgerAccount? = nil, message: String) {
      self.kind = kind
      self.sequence = sequence
      self.account = account
      self.message = message
    }
  }

  /// A balance's path whose value is no Int64: it counts as 0.
  public struct Unbacked: Sendable, Hashable {
    /// The path in the tree.
    public let path: String
    /// Whose balance should be there.
    public let account: LedgerAccount
    /// The currency.
    public let unit: String
    /// The value there, in a few words.
    public let found: String

    /// A path without an integer.
    public init(path: String, account: LedgerAccount, unit: String, found: String) {
      self.path = path
      self.account = account
      self.unit = unit
      self.found = found
    }
  }

  /// How many faults, and how many unbacked paths, are listed; more are only counted.
  public static let listedMax = 1000

  /// How many entries were read.
  public private(set) var entryCount: Int64 = 0
  /// The hash of the last entry. Who keeps it elsewhere can later show that no entry before it was touched, not even by
  /// one who rewrote the whole file.
  public var lastHash: [UInt8] = []
  /// How many pairs of account and unit the entries name.
  public var accountCount = 0
  /// The first faults, in the order of the audit: entry by entry, then the balances.
  public private(set) var faults: [Finding] = []
  /// All faults, listed or not.
  public private(set) var faultCount = 0
  /// The first unbacked paths, in the order of the tree.
  public private(set) var unbacked: [Unbacked] = []
  /// All unbacked paths, listed or not.
  public private(set) var unbackedCount = 0

  /// A report in which nothing was found yet.
  public init() {}

  /// Whether every rule holds. Unbacked paths do not break one: they count as 0.
  public var isSound: Bool { faultCount == 0 }

  /// The first entry at which something is wrong.
  public var firstBrokenEntry: Int64? { faults.lazy.compactMap(\.sequence).first }

  /// Counts an entry that was read.
  public mutating func countEntry() { entryCount += 1 }

  /// Notes a fault.
  public mutating func note(_ finding: Finding) {
    faultCount += 1
    if faults.count < Self.listedMax { faults.append(finding) }
  }

  /// Notes a path without an integer.
  public mutating func note(_ value: Unbacked) {
    unbackedCount += 1
    if unbacked.count < Self.listedMax { unbacked.append(value) }
  }
}
