/// The name of what holds coins: `user:bob`, `issuance:signup`, `adjustment`.
///
/// The part before the first colon is the kind. Accounts whose kind is a currency's holder (`user` by default) have their
/// balance in the tree; all others keep it in the ledger alone, and may go below zero (`hold:…` excepted). Two accounts are
/// the same only if their names' bytes are.
public struct LedgerAccount: Sendable, CustomStringConvertible {
  /// The whole name.
  public let name: String

  /// A name's largest size in a transfer, in UTF-8 bytes.
  public static let bytesMax = 2048

  /// The kind of the accounts that hold coins.
  public static let holdKind = "hold"

  /// An account of this name. Accounts exist by being used.
  public init(_ name: String) {
    self.name = name
  }

  /// The part before the first colon.
  public var kind: Substring {
    // By bytes: a name may begin with a combining mark, which Swift would make one character with the colon.
    guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return name[...] }
    return name[..<colon]
  }

  /// The part after the first colon; empty if there is none.
  public var owner: Substring {
    guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return "" }
    return name[name.utf8.index(after: colon)...]
  }

  /// The parts of the owner between slashes: one for each capture of a currency's pattern.
  public var ownerParts: [String] {
    owner.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
  }

  /// Whether coins are kept here until a hold is released, voided or expires.
  public var isHold: Bool { kind.utf8.elementsEqual(Self.holdKind.utf8) }

  /// Where rewards come from; minus its balance is what was issued under this code.
  public static func issuance(_ code: String) -> LedgerAccount { LedgerAccount("issuance:\(code)") }
  /// Where coins go that are taken under this code.
  public static func redemption(_ code: String) -> LedgerAccount { LedgerAccount("redemption:\(code)") }
  /// Where coins wait that are held for a player.
  public static func hold(_ owner: String) -> LedgerAccount { LedgerAccount("\(holdKind):\(owner)") }
  /// The other side of a balance that was written into the tree.
  public static let adjustment = LedgerAccount("adjustment")
  /// The other side of balances that were imported.
  public static let opening = LedgerAccount("opening")

  /// The whole name.
  public var description: String { name }
}

extension LedgerAccount: Hashable {
  /// Equality by bytes.
  public static func == (a: LedgerAccount, b: LedgerAccount) -> Bool { a.name.hasSameBytes(as: b.name) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { name.hashBytes(into: &hasher) }
}

/// What makes a transfer the same transfer, in the words of the business: `level5/bob`.
///
/// Unique in its namespace, for ever. Two keys are the same only if their bytes are.
public struct BusinessKey: Sendable, CustomStringConvertible {
  /// The key as text.
  public let text: String

  /// A key's largest size, in UTF-8 bytes.
  public static let bytesMax = 1024

  /// A key. Whether the ledger takes it is judged when the transfer is.
  public init(_ text: String) {
    self.text = text
  }

  /// The key of the entry that takes the entry `sequence` back.
  public static func reversal(of sequence: Int64) -> BusinessKey { BusinessKey("reversal/\(sequence)") }

  /// The key of the entry that ends the hold made by the entry `sequence`: it is used once, so a hold ends once.
  public static func holdEnd(of sequence: Int64) -> BusinessKey { BusinessKey("hold-end/\(sequence)") }

  /// The key of what a release leaves over and gives back; only used beside ``holdEnd(of:)``.
  public static func holdRest(of sequence: Int64) -> BusinessKey { BusinessKey("hold-end/\(sequence)/rest") }

  /// The key as text.
  public var description: String { text }
}

extension BusinessKey: Hashable {
  /// Equality by bytes.
  public static func == (a: BusinessKey, b: BusinessKey) -> Bool { a.text.hasSameBytes(as: b.text) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
