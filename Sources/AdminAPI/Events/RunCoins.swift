import AdminModel
import RewardModel
import StorageCore

/// What the runs of listed events gave to players.
///
/// A list that is looked at while things happen shows what was paid last: the newest entries are read once for all its rows. An
/// older run's entries are found by its commit.
struct RunCoins {
  /// Entries that are read ahead, and those of one older commit that are added up.
  private static let (newestMax, commitMax) = (200, 100)

  private let namespace: NamespaceID
  private let snapshot: any Snapshot
  /// The kinds of accounts that are players'.
  private let kinds: Set<String>
  private let newest: [LedgerEntry]
  /// The newest entries are all there are of later revisions than this.
  private let edge: Int64

  /// - `currencies`: those whose holders are players.
  init(of namespace: NamespaceID, currencies: [Currency], in snapshot: any Snapshot) throws {
    (self.namespace, self.snapshot) = (namespace, snapshot)
    kinds = Set(currencies.map(\.holder)).union([LedgerAccount.holdKind])
    newest = try snapshot.entries(in: namespace, before: nil, limit: Self.newestMax)
    edge = newest.count < Self.newestMax ? -1 : newest.last?.revision ?? -1
  }

  /// By unit; nil if no player's coins moved.
  func moved(by executions: [ExecutionRecord]) throws -> NamedValues<Int64>? {
    var units: [String: Int64] = [:]
    for revision in Set(executions.compactMap(\.effect)) {
      let isNew = revision.rawValue > edge
      let entries =
        isNew
        ? newest.filter { $0.revision == revision.rawValue }
        : try snapshot.entries(in: namespace, of: revision, limit: Self.commitMax)
      for entry in entries {
        let (given, taken) = (isPlayers(entry.transfer.credit), isPlayers(entry.transfer.debit))
        guard given != taken else { continue }
        units[entry.transfer.unit, default: 0] += given ? entry.transfer.amount : -entry.transfer.amount
      }
    }
    let moved = units.filter { $0.value != 0 }
    return moved.isEmpty ? nil : NamedValues(counts: moved)
  }

  private func isPlayers(_ account: LedgerAccount) -> Bool { kinds.contains(String(account.kind)) }
}
