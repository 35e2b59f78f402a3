import RewardModel
import StorageCore

/// Counts how pairs ended, and what they paid.
struct ReplayTally: Sendable {
  private(set) var outcomes: [String: Int64] = [:]
  private(set) var coins: [String: Int64] = [:]

  /// Adds one pair, as it stands in the snapshot.
  mutating func add(_ item: ReplayItem, in namespace: NamespaceID, from snapshot: any Snapshot) throws(StorageError) {
    if let execution = try snapshot.execution(in: namespace, of: item.event, by: item.function) {
      outcomes[Self.word(execution), default: 0] += 1
      guard let effect = execution.effect else { return }
      for entry in try snapshot.entries(in: namespace, of: effect) where entry.transfer.function == item.function {
        coins[entry.transfer.unit] = (coins[entry.transfer.unit] ?? 0).addingUpTo(entry.transfer.signedAmount)
      }
    } else if let delivery = try snapshot.delivery(in: namespace, of: item.event, to: item.function) {
      outcomes[delivery.state.rawValue, default: 0] += 1
    } else {
      outcomes["underway", default: 0] += 1
    }
  }

  /// An end in one word, or two: `done`, `skipped: not_referred`.
  static func word(_ execution: ExecutionRecord) -> String {
    guard execution.outcome == .skipped else { return execution.outcome.rawValue }
    return "skipped: \(firstWord(execution.reason ?? "no reason"))"
  }

  /// A reason without its particulars.
  static func firstWord(_ reason: String) -> String {
    String(reason.prefix { $0 != ":" && $0 != " " })
  }
}

extension Int64 {
  /// The sum, or the nearest number that there is: for reports, which add up what each fits and together need not.
  func addingUpTo(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other > 0 ? .max : .min) : sum
  }
}

extension LedgerTransfer {
  /// What the players get by it: below zero where they pay.
  var signedAmount: Int64 { debit.kind == "issuance" ? amount : credit.kind == "redemption" ? -amount : 0 }
}

extension Snapshot {
  /// The entries of one commit. Sequences and revisions grow together, so the first is found by halving.
  func entries(in namespace: NamespaceID, of revision: Revision) throws(StorageError) -> [LedgerEntry] {
    var low: Int64 = 1
    var high = try head(of: namespace).entrySequence + 1
    while low < high {
      let middle = low + (high - low) / 2
      guard let entry = try entry(in: namespace, sequence: middle) else { return [] }
      if entry.revision < revision.rawValue { low = middle + 1 } else { high = middle }
    }
    var found: [LedgerEntry] = []
    while true {
      let page = try entries(in: namespace, after: low - 1 + Int64(found.count), limit: 1000)
      let own = page.prefix { $0.revision == revision.rawValue }
      found += own
      if own.count < 1000 { return found }
    }
  }
}
