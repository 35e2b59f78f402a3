/// What can be looked up about accounts, in a snapshot and by the writer.
public protocol AccountReading {
  /// The row of a key; nil if there is none.
  func accountRow(in namespace: NamespaceID, _ key: AccountRow.Key) throws(StorageError) -> AccountRow?
  /// The sessions of an account, the oldest first. The writer gives those that were stored before the batch it is in.
  func refreshTokens(in namespace: NamespaceID, of uid: String) throws(StorageError) -> [RefreshTokenRecord]
}

extension AccountReading {
  /// The account of a uid.
  public func account(in namespace: NamespaceID, uid: String) throws(StorageError) -> AccountRecord? {
    guard case .account(let record)? = try accountRow(in: namespace, .account(uid)) else { return nil }
    return record
  }

  /// The account that an identifier leads to.
  public func account(in namespace: NamespaceID, _ identifier: AccountIdentifier) throws(StorageError) -> AccountRecord? {
    guard case .identifier(_, let uid)? = try accountRow(in: namespace, .identifier(identifier)) else { return nil }
    return try account(in: namespace, uid: uid)
  }
}
