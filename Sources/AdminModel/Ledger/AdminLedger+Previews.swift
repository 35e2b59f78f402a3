import TreeModel

extension AdminLedger {
  /// A balance, and what would become of it.
  package struct BalanceChange: AdminValue {
    package var account: String
    package var unit: String
    package var before: Int64
    package var after: Int64

    package init(account: String, unit: String, before: Int64, after: Int64) {
      self.account = account
      self.unit = unit
      self.before = before
      self.after = after
    }

    package static let notes: [String: FieldNote] = [
      "before": .only(.int64), "after": .only(.int64, text: "the same as before where nothing would change"),
    ]
  }

  /// An entry that may be taken back.
  package struct ReversePreviewOrder: AdminValue {
    /// The entry.
    package var sequence: Int64
    /// Why; needed for the reversal itself, not to look.
    package var reason: String?
    /// What if the coins were spent.
    package var policy: ReversalPolicy?

    package init(sequence: Int64, reason: String? = nil, policy: ReversalPolicy? = nil) {
      self.sequence = sequence
      self.reason = reason
      self.policy = policy
    }

    package static let notes: [String: FieldNote] = [
      "sequence": .text("the entry"),
      "reason": .text("why; needed for the reversal itself, not to look"),
      "policy": .text("what if the coins were spent"),
    ]
  }

  /// What a reversal would do.
  package struct ReversalPreview: AdminValue {
    /// The entry that it takes back.
    package var entry: Entry
    /// The entry that took it back already.
    package var reversedBy: Int64?
    package var balances: [BalanceChange]
    /// Whether the player's balance would go below zero.
    package var spent: Bool
    /// Why it would be refused.
    package var refusal: AdminRefusal?

    package init(
      entry: Entry, reversedBy: Int64? = nil, balances: [BalanceChange], spent: Bool, refusal: AdminRefusal? = nil
    ) {
      self.entry = entry
      self.reversedBy = reversedBy
      self.balances = balances
      self.spent = spent
      self.refusal = refusal
    }

    package static let notes: [String: FieldNote] = [
      "reversedBy": .text("the entry that took it back already"),
      "spent": .text("whether the player's balance would go below zero"),
      "refusal": .text("why it would be refused"),
    ]
  }

  /// What a transfer would do.
  package struct TransferPreview: AdminValue {
    /// The entry that was made under its key before, for the same: nothing would happen.
    package var repeats: Int64?
    package var balances: [BalanceChange]
    /// Whether the player's balance would go below zero.
    package var spent: Bool
    /// Why it would be refused.
    package var refusal: AdminRefusal?

    package init(repeats: Int64? = nil, balances: [BalanceChange], spent: Bool, refusal: AdminRefusal? = nil) {
      self.repeats = repeats
      self.balances = balances
      self.spent = spent
      self.refusal = refusal
    }

    package static let notes: [String: FieldNote] = [
      "repeats": .text("the entry that was made under its key before, for the same: nothing would happen"),
      "spent": .text("whether the player's balance would go below zero"),
      "refusal": .text("why it would be refused"),
    ]
  }
}
