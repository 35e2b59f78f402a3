internal import StorageCore
internal import TreeModel

extension SQLiteConnection {
  func rules(_ ns: NamespaceID) throws(StorageError) -> RulesRecord? {
    try statement(.rules).bind(ns.rawValue).first { row throws(StorageError) in
      RulesRecord(source: try row.text(0), updatedAt: row.int(1), lastIndex: row.int(2))
    }
  }

  func indexes(_ ns: NamespaceID) throws(StorageError) -> [IndexRecord] {
    try statement(.indexes).bind(ns.rawValue).all(readIndex)
  }

  func index(_ ns: NamespaceID, _ id: IndexID) throws(StorageError) -> IndexRecord? {
    try statement(.index).bind(ns.rawValue).bind(id.rawValue).first(readIndex)
  }

  private func readIndex(_ row: SQLiteStatement) throws(StorageError) -> IndexRecord {
    IndexRecord(
      id: IndexID(rawValue: row.int(0)), pattern: try row.text(1), order: try row.text(2),
      state: try value(row.text(3), "an index's state"), cursor: row.isNull(4) ? nil : PathBytes(bytes: row.bytes(4)),
      childCount: row.int(5))
  }

  func places(
    _ ns: NamespaceID, of index: IndexID, below parent: PathBytes, from lower: IndexPlace, to upper: IndexPlace,
    isDescending: Bool, limit: Int
  ) throws(StorageError) -> [IndexPlace] {
    try statement(isDescending ? .placesDescending : .placesAscending).bind(ns.rawValue).bind(index.rawValue)
      .bind(parent.bytes).bind(lower.bytes).bind(upper.bytes)
      .all(limit: limit) { row throws(StorageError) in IndexPlace(bytes: row.bytes(0)) }
  }

  func hasPlaces(_ ns: NamespaceID, of index: IndexID) throws(StorageError) -> Bool {
    try statement(.anyPlace).bind(ns.rawValue).bind(index.rawValue).first { _ throws(StorageError) in true } ?? false
  }
}
