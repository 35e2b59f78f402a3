/// What a reversal does when the player has spent the coins (spec: triggers-ledger §4).
public enum ReversalPolicy: String, Sendable, Hashable, CaseIterable {
  /// The balance goes below zero; later rewards pay the debt.
  case allowNegative
  /// The reversal is refused with `insufficient_funds`.
  case refuse
}
