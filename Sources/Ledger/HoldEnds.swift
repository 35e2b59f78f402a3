import RewardModel
import StorageCore

/// Judges transfers out of hold accounts: coins leave a hold whole, once, and not late (spec: triggers-ledger §4, L6).
struct HoldEnds {
  /// What a release is called; it is refused after the hold's expiry.
  static let releaseCode = "release"
  /// What giving everything back is called.
  static let voidCode = "void"
  /// What giving everything back after the expiry is called.
  static let expiryCode = "expiry"

  private struct End {
    let hold: LedgerEntry
    var amount: Int64
    var hasMainKey: Bool
  }

  private var ends: [Int64: End] = [:]

  /// Adds a transfer out of a hold account.
  ///
  /// - Parameters:
  ///   - sequence: the entry that the transfer's key names.
  ///   - hold: that entry; nil if there is none.
  mutating func add(_ transfer: LedgerTransfer, at time: Int64, sequence: Int64, hold: LedgerEntry?) throws(CommitRefusal) {
    guard let hold, hold.transfer.credit == transfer.debit, hold.transfer.unit == transfer.unit else {
      throw .invalidTransfer("Entry \(sequence) is no hold of \(transfer.unit) in \(transfer.debit).")
    }
    // Whatever it is called, what does not give the coins back is a release.
    let isRelease = transfer.code == Self.releaseCode || transfer.credit != hold.transfer.debit
    if isRelease, let expiresAt = hold.transfer.expiresAt, expiresAt <= time {
      throw .invalidTransfer("Hold \(sequence) expired at \(expiresAt); its coins go back. Make a new hold.")
    }
    var end = ends[sequence] ?? End(hold: hold, amount: 0, hasMainKey: false)
    let (amount, overflow) = end.amount.addingReportingOverflow(transfer.amount)
    guard !overflow, amount <= hold.transfer.amount else {
      throw .invalidTransfer("Hold \(sequence) has \(hold.transfer.amount) \(transfer.unit); no more can be taken from it.")
    }
    end.amount = amount
    if transfer.key == .holdEnd(of: sequence) { end.hasMainKey = true }
    ends[sequence] = end
  }

  /// To be called after the last transfer.
  func finish() throws(CommitRefusal) {
    for (sequence, end) in ends.sorted(by: { $0.key < $1.key }) {
      guard end.hasMainKey, end.amount == end.hold.transfer.amount else {
        throw .invalidTransfer(
          """
          Hold \(sequence) ends at once: all \(end.hold.transfer.amount) leave it in one request, one part under the key \
          \(BusinessKey.holdEnd(of: sequence)).
          """)
      }
    }
  }

  /// The hold that a key ends.
  static func sequence(in key: BusinessKey) -> Int64? {
    let parts = key.text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 2, let sequence = Int64(parts[1]),
      key == .holdEnd(of: sequence) || key == .holdRest(of: sequence)
    else { return nil }
    return sequence
  }
}
