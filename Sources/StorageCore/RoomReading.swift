/// What a snapshot knows of the rooms' records. Listings are bounded, as in ``Snapshot``.
public protocol RoomReading {
  /// Records of a kind by key, after the one given (nil: from the first) or, descending, before it.
  func records(in namespace: NamespaceID, kind: String, after key: String?, isDescending: Bool, limit: Int)
    throws(StorageError) -> [RoomRecord]
  /// The counts of a link from a day on, by day, platform and event.
  func linkCounts(in namespace: NamespaceID, of link: String, since day: Int64) throws(StorageError) -> [LinkCount]
}
