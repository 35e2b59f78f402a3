/// Listings of accounts, for a snapshot; bounded like all listings.
public protocol AccountListing: AccountReading {
  /// By uid, after the one given.
  func accounts(in namespace: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [AccountRecord]
  /// Anonymous accounts that were not used since `time`, the longest unused first.
  func anonymousAccounts(in namespace: NamespaceID, unusedSince time: Int64, limit: Int) throws(StorageError)
    -> [AccountRecord]
  func accountCount(in namespace: NamespaceID) throws(StorageError) -> Int64
  /// Every revocation that is kept.
  func accountRevocations(in namespace: NamespaceID) throws(StorageError) -> [AccountRevocation]
}
