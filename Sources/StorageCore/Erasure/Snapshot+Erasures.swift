public import TreeModel

/// What was erased, for those who look into the past.
extension Snapshot {
  /// The erasure of a player; nil if there was none.
  public func erasure(in namespace: NamespaceID, of uid: String) throws(StorageError) -> ErasureRecord? {
    try record(in: namespace, kind: ErasureRecord.kind, key: uid).flatMap { ErasureRecord(uid: uid, value: $0) }
  }

  /// Erasures by uid, after the one given.
  public func erasures(in namespace: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [ErasureRecord] {
    try records(in: namespace, kind: ErasureRecord.kind, after: uid, isDescending: false, limit: limit)
      .compactMap { ErasureRecord(uid: $0.key, value: $0.value) }
  }

  /// The erased place that a path lies in, if what stood there at a revision is not known any more.
  public func erasedPlace(in namespace: NamespaceID, around path: Path, asOf revision: Revision) throws(StorageError)
    -> ErasedPlace?
  {
    var found: ErasedPlace?
    for depth in stride(from: path.depth, to: 0, by: -1) {
      let key = Path(keys: Array(path.keys[..<depth])).description
      guard let value = try record(in: namespace, kind: ErasedPlace.kind, key: key),
        let place = ErasedPlace(RoomRecord(kind: ErasedPlace.kind, key: key, value: value)), place.through >= revision
      else { continue }
      if found.map({ $0.through < place.through }) ?? true { found = place }
    }
    return found
  }

  /// The erased places below a path of which something is missing at a revision, by path, at most `limit`.
  public func erasedPlaces(in namespace: NamespaceID, below path: Path, asOf revision: Revision, limit: Int)
    throws(StorageError) -> [ErasedPlace]
  {
    let prefix = path.keys.isEmpty ? "/" : path.description + "/"
    var found: [ErasedPlace] = []
    var last = prefix
    while true {
      let page = try records(in: namespace, kind: ErasedPlace.kind, after: last, isDescending: false, limit: 500)
      for record in page {
        guard record.key.utf8.starts(with: prefix.utf8) else { return found }
        last = record.key
        guard let place = ErasedPlace(record), place.path.isAccounts == path.isAccounts, place.through >= revision else {
          continue
        }
        found.append(place)
        if found.count == limit { return found }
      }
      if page.count < 500 { return found }
    }
  }
}
