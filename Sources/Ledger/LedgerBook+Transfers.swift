public import RewardModel
public import StorageCore

extension LedgerBook {
  /// Posts a transfer, once: asked again with the same key and the same body it answers with the first entry.
  ///
  /// - Throws: ``LedgerError`` with `keyConflict` (naming the entry) for the same key with another body,
  ///   `insufficientFunds`, `balanceType`, `balanceOverflow`, `invalid` or `unavailable`.
  public func transfer(_ transfer: LedgerTransfer, in namespace: NamespaceID, by actor: Actor) async throws(LedgerError)
    -> PostedTransfer
  {
    do throws(CommitRefusal) {
      let entries = try await commit([transfer], in: namespace, by: actor)
      return PostedTransfer(entry: entries[0], isRepeated: false)
    } catch {
      guard case .keyTaken(let entry) = error.code, entry.transfer.hasSameBody(as: transfer) else { throw LedgerError(error) }
      return PostedTransfer(entry: entry, isRepeated: true)
    }
  }

  /// Takes an entry back by a new one the other way; the entry itself stays as it is.
  ///
  /// - Parameters:
  ///   - reason: a person's words; part of what a repetition must repeat.
  ///   - policy: what to do if the coins were spent.
  /// - Throws: ``LedgerError`` with `notFound`, `alreadyReversed` (naming the reversal), `insufficientFunds`, `invalid` for
  ///   a reversal of a reversal or of a hold, or as ``transfer(_:in:by:)``.
  public func reverse(
    _ sequence: Int64, in namespace: NamespaceID, by actor: Actor, reason: String, policy: ReversalPolicy = .allowNegative
  ) async throws(LedgerError) -> PostedTransfer {
    guard let original = try entry(in: namespace, sequence: sequence)?.transfer else {
      throw LedgerError(.notFound, "There is no entry \(sequence). Look it up in the account's statement.")
    }
    let reversal = LedgerTransfer(
      debit: original.credit, credit: original.debit, amount: original.amount, unit: original.unit, code: "reversal",
      key: .reversal(of: sequence), subject: original.subject, reverses: sequence, reason: reason,
      allowsNegative: policy == .allowNegative)
    do {
      return try await transfer(reversal, in: namespace, by: actor)
    } catch {
      let earlier = try read { (snapshot) throws(StorageError) in try snapshot.reversal(in: namespace, of: sequence) }
      guard let earlier else { throw error }
      throw LedgerError(
        .alreadyReversed, "Entry \(sequence) was reversed by entry \(earlier.sequence). An entry is reversed once.",
        entry: earlier)
    }
  }
}
