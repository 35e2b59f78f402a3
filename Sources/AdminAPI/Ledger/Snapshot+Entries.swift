package import RewardModel
package import StorageCore

extension Snapshot {
  /// The entries of one commit, at most a hundred. Sequences and revisions grow together, so the first is found by halving.
  package func entries(in namespace: NamespaceID, of revision: Revision) throws(StorageError) -> [LedgerEntry] {
    var low: Int64 = 1
    var high = try head(of: namespace).entrySequence + 1
    while low < high {
      let middle = low + (high - low) / 2
      guard let entry = try entry(in: namespace, sequence: middle) else { return [] }
      if entry.revision < revision.rawValue { low = middle + 1 } else { high = middle }
    }
    return try entries(in: namespace, after: low - 1, limit: 100).filter { $0.revision == revision.rawValue }
  }
}
