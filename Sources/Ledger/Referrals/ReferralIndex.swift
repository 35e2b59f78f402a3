public import StorageCore
public import TreeModel

/// Keeps the index of who brought whom: one record for each player whose place names a referrer, put and removed in the
/// transaction of the write, no matter who wrote, and how deep.
///
/// The index holds nothing that the tree does not say, so it is right after replays, imports and merges, and
/// ``ReferralBuild`` can make it again at any time.
public struct ReferralIndex: CommitParticipant {
  /// The kind of the index's records; their key is `REFERRER/PLAYER`.
  static let kind = "referral"
  private static let value = "true"

  let place: ReferralPlace

  /// The index over a place.
  public init(_ place: ReferralPlace) {
    self.place = place
  }

  /// Nothing: the index follows what others write.
  public func assignments(for request: CommitRequest, at time: Int64, in session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
  { [] }

  /// Moves the players whose referrer the commit changes.
  public func participate(in draft: inout CommitDraft, session: any WriteSession) throws(CommitRefusal) {
    // What is kept from the beginning need not be made at the next start.
    if draft.revision == Revision(1) { session.put(ReferralBuild.mark(of: place), in: draft.request.namespace) }
    for change in draft.treeChanges {
      guard let player = place.player(at: change.path) else { continue }
      let before = ReferralPlace.referrer(change.before)
      let after = ReferralPlace.referrer(change.after)
      if let before { session.put(Self.removal(before, player), in: draft.request.namespace) }
      if let after { session.put(Self.record(after, player), in: draft.request.namespace) }
    }
  }

  static func key(_ referrer: String, _ player: String) -> String { "\(referrer)/\(player)" }

  static func record(_ referrer: String, _ player: String) -> RoomChange {
    RoomChange(kind: kind, key: key(referrer, player), value: value)
  }

  private static func removal(_ referrer: String, _ player: String) -> RoomChange {
    RoomChange(kind: kind, key: key(referrer, player), value: nil)
  }

  /// The two players of a record's key: keys of the tree hold no slash.
  static func players(in key: String) -> (referrer: String, player: String)? {
    let parts = key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }
}
