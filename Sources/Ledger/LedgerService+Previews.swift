package import RewardModel
package import StorageCore

/// What a transfer would do if it were made now.
package struct TransferPreview: Sendable {
  /// A balance before and after; the same where the transfer would change nothing.
  package struct Change: Sendable, Hashable {
    package let account: LedgerAccount
    package let unit: String
    package let before: Int64
    package let after: Int64
  }

  /// Of the account that gives, then of the one that gets; one that cannot be is left out.
  package let changes: [Change]
  /// Whether a player's balance would go below zero: the coins are spent.
  package let isSpent: Bool
  /// The entry that was made under its key before, for the same: nothing would happen.
  package let earlier: LedgerEntry?
  /// Why it would be refused; nil if it would not.
  package let refusal: LedgerError?
}

/// What a reversal would do if it were made now.
package struct ReversalPreview: Sendable {
  /// The entry that it takes back.
  package let entry: LedgerEntry
  /// The entry that took it back already; nil if none did.
  package let reversal: LedgerEntry?
  /// What it does to the balances.
  package let transfer: TransferPreview
}

extension LedgerService {
  /// Judges a transfer as ``transfer(_:in:by:)`` does, on the writer, and takes it back: nothing changes, nobody is told.
  ///
  /// - Throws: ``LedgerError`` with `unavailable`; every other refusal is part of the preview.
  package func preview(_ transfer: LedgerTransfer, in namespace: NamespaceID, by actor: Actor) async throws -> TransferPreview {
    var request = CommitRequest(namespace: namespace, actor: actor)
    request.ledger.transfers = [transfer]
    switch await rehearse(request) {
    case .success(let committed):
      guard let entry = committed.receipt.entries.first(where: { $0.transfer.key == transfer.key }) else {
        preconditionFailure("A LedgerParticipant must be among the participants of the writer.")
      }
      let given = TransferPreview.Change(
        account: transfer.debit, unit: transfer.unit, before: entry.debitAfter + transfer.amount, after: entry.debitAfter)
      let taken = TransferPreview.Change(
        account: transfer.credit, unit: transfer.unit, before: entry.creditAfter - transfer.amount, after: entry.creditAfter)
      return TransferPreview(
        changes: [given, taken], isSpent: entry.debitAfter < 0 && currencies.isHolder(transfer.debit), earlier: nil,
        refusal: nil)
    case .failure(let error):
      if case .keyTaken(let entry) = error.code, entry.transfer.hasSameBody(as: transfer) {
        return TransferPreview(changes: unchanged(transfer, in: namespace), isSpent: false, earlier: entry, refusal: nil)
      }
      let refusal = LedgerError(error)
      if refusal.code == .unavailable { throw refusal }
      return TransferPreview(
        changes: unchanged(transfer, in: namespace),
        isSpent: refusal.code == .insufficientFunds && currencies.isHolder(transfer.debit), earlier: nil, refusal: refusal)
    }
  }

  /// Judges a hold as ``hold(_:in:by:)`` does, and takes it back.
  package func preview(_ order: HoldOrder, in namespace: NamespaceID, by actor: Actor) async throws -> TransferPreview {
    try await preview(order.transfer, in: namespace, by: actor)
  }

  /// Judges a reversal as ``reverse(_:in:by:reason:policy:)`` does, and takes it back.
  ///
  /// - `reason`: nil where nobody has given one yet.
  /// - Throws: ``LedgerError`` with `notFound` or `unavailable`; every other refusal is part of the preview.
  package func previewReversal(
    of sequence: Int64, in namespace: NamespaceID, by actor: Actor, reason: String?, policy: ReversalPolicy = .allowNegative
  ) async throws -> ReversalPreview {
    let original = try original(of: sequence, in: namespace)
    let reversal = original.reversal(reason: reason, policy: policy)
    let preview = try await preview(reversal, in: namespace, by: actor)
    guard let earlier = try read({ snapshot in try snapshot.reversal(in: namespace, of: sequence) }) else {
      return ReversalPreview(entry: original, reversal: nil, transfer: preview)
    }
    let repeated = TransferPreview(
      changes: unchanged(reversal, in: namespace), isSpent: false, earlier: preview.earlier,
      refusal: preview.earlier == nil ? LedgerError(reversalOf: sequence, was: earlier) : nil)
    return ReversalPreview(entry: original, reversal: earlier, transfer: repeated)
  }

  /// The balances as they are; of an account that has no place there is none.
  private func unchanged(_ transfer: LedgerTransfer, in namespace: NamespaceID) -> [TransferPreview.Change] {
    [transfer.debit, transfer.credit].compactMap { account in
      guard let balance = try? balance(in: namespace, of: account, unit: transfer.unit) else { return nil }
      return TransferPreview.Change(account: account, unit: transfer.unit, before: balance, after: balance)
    }
  }

  private func rehearse(_ request: CommitRequest) async -> Result<CommittedRequest, CommitError> {
    await rehearse([request])[0]
  }

  /// What would become of each request, as many results as requests.
  func rehearse(_ requests: [CommitRequest]) async -> [Result<CommittedRequest, CommitError>] {
    await withCheckedContinuation { continuation in
      writer.rehearse(requests) { results in
        let ending = CommitError(.unavailable, "The server is shutting down. Try again later.")
        continuation.resume(returning: results.count == requests.count ? results : requests.map { _ in .failure(ending) })
      }
    }
  }
}
