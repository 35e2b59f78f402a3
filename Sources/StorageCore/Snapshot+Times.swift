extension Snapshot {
  /// The last revision that was committed before a time (in milliseconds since 1970); zero if none was.
  ///
  /// Times never go back within a namespace, so it is found by halving.
  public func lastRevision(in namespace: NamespaceID, before time: Int64) throws(StorageError) -> Revision {
    var low: Int64 = 1
    var high = try head(of: namespace).revision.rawValue + 1
    while low < high {
      let middle = low + (high - low) / 2
      guard let commit = try commit(in: namespace, at: Revision(middle)) else {
        throw StorageError(.damaged, "Commit \(middle) is missing. Run \"doubloon log verify\", or restore a backup.")
      }
      if commit.time < time { low = middle + 1 } else { high = middle }
    }
    return Revision(low - 1)
  }
}
