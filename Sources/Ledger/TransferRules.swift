import RewardModel
import StorageCore

/// Judges the form of a request's transfers, and what they say about earlier entries: reversals and holds.
struct TransferRules {
  let session: any CommitSession
  let namespace: NamespaceID
  let time: Int64
  private var reversed: Set<Int64> = []
  private var holdEnds = HoldEnds()

  init(session: any CommitSession, namespace: NamespaceID, time: Int64) {
    self.session = session
    self.namespace = namespace
    self.time = time
  }

  mutating func check(_ transfer: LedgerTransfer) throws(CommitError) {
    try checkForm(transfer)
    if let sequence = transfer.reverses { try checkReversal(transfer, of: sequence) }
    if transfer.debit.isHold {
      guard let sequence = HoldEnds.sequence(in: transfer.key) else {
        throw .invalidTransfer(
          "Coins leave \(transfer.debit) only when a hold is released, voided or expires. Do that, naming the hold's entry.")
      }
      try holdEnds.add(transfer, at: time, sequence: sequence, hold: try entry(sequence))
    }
  }

  /// To be called after the last transfer.
  func finish() throws(CommitError) {
    try holdEnds.finish()
  }

  private func checkForm(_ transfer: LedgerTransfer) throws(CommitError) {
    guard transfer.amount > 0 else {
      throw .invalidTransfer("An amount is above zero; \(transfer.amount) is not. To move coins back, exchange the accounts.")
    }
    guard transfer.debit != transfer.credit else {
      throw .invalidTransfer("\(transfer.debit) stands on both sides. A transfer needs two accounts.")
    }
    for account in [transfer.debit, transfer.credit] where account.kind.isEmpty {
      throw .invalidTransfer("\"\(account)\" is no account: a name begins with its kind, as in user:bob.")
    }
    for account in [transfer.debit, transfer.credit] where account.name.utf8.count > LedgerAccount.bytesMax {
      throw .invalidTransfer(
        "An account's name has at most \(LedgerAccount.bytesMax) bytes; this one has \(account.name.utf8.count).")
    }
    guard CurrencyTable.isName(transfer.unit) else {
      throw .invalidTransfer("\"\(transfer.unit)\" is no unit: use 1-64 letters, digits, '_', '-' or '.'.")
    }
    guard !transfer.code.isEmpty else {
      throw .invalidTransfer("A transfer needs a code: why it is made, in one word.")
    }
    if let expiresAt = transfer.expiresAt {
      guard transfer.credit.isHold else {
        throw .invalidTransfer("Only a hold expires; \(transfer.credit) is none. Leave the expiry out.")
      }
      guard expiresAt > time else {
        throw .invalidTransfer("The hold would expire at \(expiresAt), which has passed. Give a later time, in milliseconds.")
      }
    }
  }

  /// One reversal for an entry, and it mirrors the entry.
  private mutating func checkReversal(_ transfer: LedgerTransfer, of sequence: Int64) throws(CommitError) {
    guard let original = try entry(sequence)?.transfer else {
      throw .invalidTransfer("There is no entry \(sequence) to reverse.")
    }
    guard original.reverses == nil else {
      throw .invalidTransfer("Entry \(sequence) is itself a reversal. Post a new transfer instead.")
    }
    let earlier = try refusing { () throws(StorageError) in try session.reversal(in: namespace, of: sequence) }
    if let earlier {
      throw .invalidTransfer("Entry \(sequence) was reversed by entry \(earlier.sequence). An entry is reversed once.")
    }
    guard reversed.insert(sequence).inserted else {
      throw .invalidTransfer("The request reverses entry \(sequence) twice. An entry is reversed once.")
    }
    guard !original.debit.isHold, !original.credit.isHold else {
      throw .invalidTransfer(
        "Entry \(sequence) is part of a hold. Void the hold, or post a transfer from where it was released to.")
    }
    guard transfer.debit == original.credit, transfer.credit == original.debit, transfer.amount == original.amount,
      transfer.unit == original.unit
    else {
      throw .invalidTransfer(
        """
        A reversal of entry \(sequence) moves \(original.amount) \(original.unit) from \(original.credit) to \
        \(original.debit). For another amount, post a transfer without reverses.
        """)
    }
  }

  private func entry(_ sequence: Int64) throws(CommitError) -> LedgerEntry? {
    try refusing { () throws(StorageError) in try session.entry(in: namespace, sequence: sequence) }
  }
}

/// Judges the business keys of a request's transfers.
struct TransferKeys {
  let session: any CommitSession
  let namespace: NamespaceID

  func check(_ transfers: [LedgerTransfer]) throws(CommitError) {
    var seen: Set<BusinessKey> = []
    for transfer in transfers {
      try checkForm(of: transfer)
      guard seen.insert(transfer.key).inserted else {
        throw .invalidTransfer("Two transfers of one request have the key \"\(transfer.key)\". Give each a key of its own.")
      }
      let taken = try refusing { () throws(StorageError) in try session.entry(in: namespace, key: transfer.key) }
      if let taken {
        let first = taken.transfer
        throw CommitError(
          .keyTaken(taken),
          """
          The key "\(transfer.key)" was used by entry \(taken.sequence): \(first.amount) \(first.unit) from \(first.debit) to \
          \(first.credit). Nothing was posted; a new transfer needs a new key.
          """)
      }
    }
  }

  private func checkForm(of transfer: LedgerTransfer) throws(CommitError) {
    let key = transfer.key
    // The ledger's own keys must be free when it needs them: a collision in the file would stop the writer.
    let isOwn =
      switch key.firstWord {
      case "reversal": transfer.reverses.map { key == .reversal(of: $0) } ?? false
      case "hold-end": transfer.debit.isHold
      default: false
      }
    if !isOwn, let problem = Self.problem(ofNewKey: key) { throw .invalidTransfer(problem) }
  }

  /// Why a transfer that is neither reversal nor the end of a hold cannot have this key; nil if it can.
  static func problem(ofNewKey key: BusinessKey) -> String? {
    guard !key.text.isEmpty else {
      return "A transfer needs a business key: what makes it the same transfer when it is asked for again."
    }
    guard key.text.utf8.count <= BusinessKey.bytesMax else {
      return "A business key has at most \(BusinessKey.bytesMax) bytes; this one has \(key.text.utf8.count)."
    }
    guard !["reversal", "hold-end", LedgerAccount.adjustment.name, LedgerAccount.opening.name].contains(key.firstWord) else {
      return "Keys that begin with \"\(key.firstWord)/\" are the ledger's own. Choose another beginning."
    }
    return nil
  }
}

extension BusinessKey {
  /// What stands before the first slash.
  fileprivate var firstWord: String { String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "/") })) }
}

extension CommitError {
  /// The refusal of a transfer that cannot be taken as it is.
  static func invalidTransfer(_ message: String) -> CommitError { CommitError(.invalidTransfer, message) }
}
