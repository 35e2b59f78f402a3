internal import StorageCore
internal import TreeModel

extension SQLiteSnapshot {
  func rules(of namespace: NamespaceID) throws(StorageError) -> RulesRecord? {
    try db.rules(namespace)
  }

  func indexes(in namespace: NamespaceID) throws(StorageError) -> [IndexRecord] {
    try db.indexes(namespace)
  }

  func index(in namespace: NamespaceID, id: IndexID) throws(StorageError) -> IndexRecord? {
    try db.index(namespace, id)
  }

  func places(
    in namespace: NamespaceID, of index: IndexID, below parent: PathBytes, from lower: IndexPlace, to upper: IndexPlace,
    isDescending: Bool, limit: Int
  ) throws(StorageError) -> [IndexPlace] {
    try db.places(namespace, of: index, below: parent, from: lower, to: upper, isDescending: isDescending, limit: limit)
  }
}
