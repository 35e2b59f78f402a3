/// Listings of accounts, for a snapshot; bounded like all listings.
public protocol AccountListing: AccountReading {
  /// By uid, after the one given.
  func accounts(in namespace: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [AccountRecord]
  /// Anonymous accounts that were not used since `time`, the longest unused first, behind the one given.
  func anonymousAccounts(in namespace: NamespaceID, unusedSince time: Int64, after last: AccountRecord?, limit: Int)
    throws(StorageError) -> [AccountRecord]
  /// Sessions by the hash of their tokens, after the one given.
  func refreshTokens(in namespace: NamespaceID, after hash: [UInt8]?, limit: Int) throws(StorageError)
    -> [RefreshTokenRecord]
  func accountCount(in namespace: NamespaceID) throws(StorageError) -> Int64
  /// Every revocation that is kept.
  func accountRevocations(in namespace: NamespaceID) throws(StorageError) -> [AccountRevocation]
}
