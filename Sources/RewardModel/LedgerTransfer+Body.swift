extension LedgerTransfer {
  /// Whether `other` asks for the same: what a repetition under the same key must do to be answered with the first entry
  /// (spec: triggers-ledger §4, L4).
  ///
  /// ``allowsNegative`` is left out: it is a permission for the moment of posting, not a part of what is asked.
  public func hasSameBody(as other: LedgerTransfer) -> Bool {
    debit == other.debit && credit == other.credit && amount == other.amount && reverses == other.reverses
      && expiresAt == other.expiresAt && unit.hasSameBytes(as: other.unit) && code.hasSameBytes(as: other.code)
      && same(event, other.event) && same(function, other.function) && same(subject, other.subject)
      && same(reason, other.reason)
  }

  private func same(_ a: String?, _ b: String?) -> Bool {
    switch (a, b) {
    case (let a?, let b?): a.hasSameBytes(as: b)
    case (nil, nil): true
    default: false
    }
  }
}
