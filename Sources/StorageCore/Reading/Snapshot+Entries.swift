public import RewardModel

extension Snapshot {
  /// Entries of one page of ``entries(in:of:limit:)``.
  private static var entriesPage: Int { 1000 }

  /// The number of the first ledger entry that a commit of this revision or a later one made, and one behind the last entry
  /// where none did. Sequences and revisions grow together, so it is found by bisection: about 20 reads for a million entries.
  public func firstEntry(in namespace: NamespaceID, since revision: Revision) throws(StorageError) -> Int64 {
    let end = try head(of: namespace).entrySequence + 1
    var low: Int64 = 1
    var high = end
    while low < high {
      let middle = low + (high - low) / 2
      guard let entry = try entry(in: namespace, sequence: middle) else { return end }
      if entry.revision < revision.rawValue { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The ledger entries that one commit made, in their order.
  public func entries(in namespace: NamespaceID, of revision: Revision, limit: Int = .max) throws(StorageError)
    -> [LedgerEntry]
  {
    let low = try firstEntry(in: namespace, since: revision)
    var found: [LedgerEntry] = []
    while found.count < limit {
      let page = try entries(
        in: namespace, after: low - 1 + Int64(found.count), limit: min(Self.entriesPage, limit - found.count))
      let own = page.prefix { $0.revision == revision.rawValue }
      found += own
      if own.count < Self.entriesPage { break }
    }
    return found
  }
}
