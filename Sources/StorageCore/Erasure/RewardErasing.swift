/// What goes with a player who leaves of the records beside payments: what waited for the player's confirmed address (the
/// erasure has given it back by then), and what was counted for the player as a referrer is forgotten. The keyed hashes of identities
/// that were paid stay for their time; the preview of an erasure names them.
public struct RewardErasing: PlayerRecordsErasing {
  /// The kind of records that wait for a confirmed address; their keys begin with the player.
  static let unconfirmedKind = "reward-unconfirmed"
  /// The kind of counts; a referrer's key ends with the referrer.
  static let countKind = "reward-count"

  public init() {}

  public func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> KeyedRecordErasure
  {
    var erasure = KeyedRecordErasure()
    erasure.records = try Self.unconfirmed(of: uid, in: namespace, snapshot: snapshot).map {
      KeyedRecordChange(kind: Self.unconfirmedKind, key: "\(uid)/\($0)", value: nil)
    }
    // The account's removal takes it with the account; here goes that of a player who never had one.
    if try snapshot.account(in: namespace, uid: uid) == nil,
      try snapshot.record(in: namespace, kind: PaidRewards.playerKind, key: uid) != nil
    {
      erasure.records.append(KeyedRecordChange(kind: PaidRewards.playerKind, key: uid, value: nil))
    }
    // Nothing is under way any more that could still be paid.
    if try snapshot.record(in: namespace, kind: FormerIdentities.kind, key: uid) != nil {
      erasure.records.append(KeyedRecordChange(kind: FormerIdentities.kind, key: uid, value: nil))
    }
    let end = Array("/perReferrer/\(uid)".utf8)
    try snapshot.forEachRecord(in: namespace, kind: Self.countKind) { record in
      if Array(record.key.utf8.suffix(end.count)) == end { erasure.records.append(record.removal) }
    }
    return erasure
  }

  public func didErase() {}

  /// The business keys of the payments, the player's own and others', that wait until the player's address is confirmed.
  public static func unconfirmed(of uid: String, in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> [String]
  {
    let start = Array("\(uid)/".utf8)
    var keys: [String] = []
    try snapshot.forEachRecord(in: namespace, kind: unconfirmedKind) { record in
      guard record.key.utf8.starts(with: start) else { return }
      keys.append(String(Substring(record.key.utf8.dropFirst(start.count))))
    }
    return keys
  }
}

extension KeyedRecord {
  fileprivate var removal: KeyedRecordChange { KeyedRecordChange(kind: kind, key: key, value: nil) }
}

/// A module that keeps records of players beside the tree, and can say which of them go when one leaves.
public protocol PlayerRecordsErasing: Sendable {
  /// What there is of a player's. Asked again after it was carried out, it is empty.
  ///
  /// - `addresses`: the mail addresses that were known as the player's.
  func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, snapshot: any Snapshot) throws(StorageError)
    -> KeyedRecordErasure
  /// Told when what ``erasure(of:addresses:in:snapshot:)`` said was carried out: what is held in memory of it goes too.
  func didErase()
}

/// What of a module's keyed records goes when a player leaves.
public struct KeyedRecordErasure: Sendable {
  /// Records that are removed, or replaced by what may stay.
  public var records: [KeyedRecordChange]
  /// Keys of messages of the outbox whose words go.
  public var messages: [String]

  public init(records: [KeyedRecordChange] = [], messages: [String] = []) {
    self.records = records
    self.messages = messages
  }
}
