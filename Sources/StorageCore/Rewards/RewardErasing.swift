/// What goes with a player who leaves of the records beside payments: what waits for the player's confirmed address is paid to
/// nobody by itself any more, and what was counted for the player as a referrer is forgotten. The keyed hashes of identities
/// that were paid stay for their time; the preview of an erasure names them.
public struct RewardErasing: PlayerRecordsErasing {
  /// The kind of records that wait for a confirmed address; their keys begin with the player.
  static let unconfirmedKind = "reward-unconfirmed"
  /// The kind of counts; a referrer's key ends with the referrer.
  static let countKind = "reward-count"

  public init() {}

  public func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, _ snapshot: any Snapshot)
    throws(StorageError) -> RoomErasure
  {
    var erasure = RoomErasure()
    try snapshot.forEachRecord(in: namespace, kind: Self.unconfirmedKind) { record in
      if record.key.utf8.starts(with: "\(uid)/".utf8) { erasure.records.append(record.removal) }
    }
    // The account's removal takes it with the account; here goes that of a player who never had one.
    if try snapshot.account(in: namespace, uid: uid) == nil,
      try snapshot.record(in: namespace, kind: PaidRewards.playerKind, key: uid) != nil
    {
      erasure.records.append(RoomChange(kind: PaidRewards.playerKind, key: uid, value: nil))
    }
    let end = Array("/perReferrer/\(uid)".utf8)
    try snapshot.forEachRecord(in: namespace, kind: Self.countKind) { record in
      if Array(record.key.utf8.suffix(end.count)) == end { erasure.records.append(record.removal) }
    }
    return erasure
  }

  public func didErase() {}
}

extension RoomRecord {
  fileprivate var removal: RoomChange { RoomChange(kind: kind, key: key, value: nil) }
}
