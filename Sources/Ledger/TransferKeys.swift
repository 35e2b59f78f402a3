import RewardModel
import StorageCore

/// Judges the business keys of a request's transfers.
struct TransferKeys {
  let session: any WriteSession
  let namespace: NamespaceID

  func check(_ transfers: [LedgerTransfer]) throws(CommitRefusal) {
    var seen: Set<BusinessKey> = []
    for transfer in transfers {
      try checkForm(of: transfer)
      guard seen.insert(transfer.key).inserted else {
        throw .invalidTransfer("Two transfers of one request have the key \"\(transfer.key)\". Give each a key of its own.")
      }
      let taken = try refusing { () throws(StorageError) in try session.entry(in: namespace, key: transfer.key) }
      if let taken {
        let first = taken.transfer
        throw CommitRefusal(
          .keyTaken(taken),
          """
          The key "\(transfer.key)" was used by entry \(taken.sequence): \(first.amount) \(first.unit) from \(first.debit) to \
          \(first.credit). Nothing was posted; a new transfer needs a new key.
          """)
      }
    }
  }

  private func checkForm(of transfer: LedgerTransfer) throws(CommitRefusal) {
    let key = transfer.key.text
    guard !key.isEmpty else {
      throw .invalidTransfer("A transfer needs a business key: what makes it the same transfer when it is asked for again.")
    }
    guard key.utf8.count <= BusinessKey.bytesMax else {
      throw .invalidTransfer("A business key has at most \(BusinessKey.bytesMax) bytes; this one has \(key.utf8.count).")
    }
    // The ledger's own keys must be free when it needs them: a collision in the file would stop the writer.
    let word = key.utf8.prefix { $0 != UInt8(ascii: "/") }
    let isFree: Bool
    switch String(Substring(word)) {
    case LedgerAccount.adjustment.name, LedgerAccount.opening.name: isFree = false
    case "reversal": isFree = transfer.reverses.map { transfer.key == .reversal(of: $0) } ?? false
    case "hold-end": isFree = transfer.debit.isHold
    default: isFree = true
    }
    guard isFree else {
      throw .invalidTransfer("Keys that begin with \"\(Substring(word))/\" are the ledger's own. Choose another beginning.")
    }
  }
}

extension CommitRefusal {
  /// The refusal of a transfer that cannot be taken as it is.
  static func invalidTransfer(_ message: String) -> CommitRefusal { CommitRefusal(.invalidTransfer, message) }
}
