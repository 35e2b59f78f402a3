internal import StorageCore

extension SQLiteSnapshot {
  func accountRow(in namespace: NamespaceID, _ key: AccountRow.Key) throws(StorageError) -> AccountRow? {
    try db.accountRow(namespace, key)
  }

  func accounts(in namespace: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [AccountRecord] {
    try db.accounts(namespace, after: uid, limit: limit)
  }

  func anonymousAccounts(in namespace: NamespaceID, unusedSince time: Int64, after last: AccountRecord?, limit: Int)
    throws(StorageError) -> [AccountRecord]
  {
    try db.anonymousAccounts(namespace, unusedSince: time, after: last, limit: limit)
  }

  func refreshTokens(in namespace: NamespaceID, after hash: [UInt8]?, limit: Int) throws(StorageError)
    -> [RefreshTokenRecord]
  {
    try db.refreshTokens(namespace, after: hash, limit: limit)
  }

  func refreshTokens(in namespace: NamespaceID, of uid: String) throws(StorageError) -> [RefreshTokenRecord] {
    try db.refreshTokens(namespace, of: uid)
  }

  func accountCount(in namespace: NamespaceID) throws(StorageError) -> Int64 {
    try db.accountCount(namespace)
  }

  func accountRevocations(in namespace: NamespaceID) throws(StorageError) -> [AccountRevocation] {
    try db.accountRevocations(namespace)
  }
}
