/// A room that keeps records of players beside the tree, and can say which of them go when one leaves.
public protocol PlayerRecordsErasing: Sendable {
  /// What there is of a player's. Asked again after it was carried out, it is empty.
  ///
  /// - Parameter addresses: the mail addresses that were known as the player's.
  func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, _ snapshot: any Snapshot) throws(StorageError)
    -> RoomErasure
  /// Told when what ``erasure(of:addresses:in:_:)`` said was carried out: what is held in memory of it goes too.
  func didErase()
}
