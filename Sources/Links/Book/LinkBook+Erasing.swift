public import StorageCore
import TreeModel

/// What goes when a player leaves: the links that the player invites with, their codes, and of the claims all but who invited
/// whom, which rewards rest on.
extension LinkBook: PlayerRecordsErasing {
  public func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, _ snapshot: any Snapshot)
    throws(StorageError) -> RoomErasure
  {
    guard home.known() == namespace else { return RoomErasure() }
    var changes: [RoomChange] = []
    var links: Set<String> = []
    try snapshot.forEachRecord(in: namespace, kind: Kind.link) { row in
      guard let link = LinkRecord(key: row.key, value: row.value), link.owner == uid else { return }
      links.insert(link.key)
      changes.append(RoomChange(kind: Kind.link, key: link.key, value: nil))
      if let code = link.code { changes.append(RoomChange(kind: Kind.code, key: code, value: nil)) }
    }
    if !links.isEmpty {
      try snapshot.forEachRecord(in: namespace, kind: Kind.same) { row in
        if links.contains(row.value) { changes.append(RoomChange(kind: Kind.same, key: row.key, value: nil)) }
      }
    }
    return RoomErasure(records: changes + (try claims(of: uid, in: namespace, snapshot)))
  }

  public func didErase() { cache.removeAll() }

  /// The player's claim, and the click that it used up, without where and when the click was made.
  private func claims(of uid: String, in namespace: NamespaceID, _ snapshot: any Snapshot) throws(StorageError)
    -> [RoomChange]
  {
    let key = "player/\(uid)"
    guard let value = try snapshot.record(in: namespace, kind: Kind.claim, key: key), let claim = LinkClaim(stored: value),
      claim.evidence != .code(Self.erasedEvidence)
    else { return [] }
    let kept = LinkClaim(
      player: claim.player, inviter: claim.inviter, link: "", evidence: .code(Self.erasedEvidence), at: claim.at
    ).json.text
    var changes = [RoomChange(kind: Kind.claim, key: key, value: kept)]
    if case .click(let id, _, _) = claim.evidence {
      changes.append(RoomChange(kind: Kind.claim, key: "click/\(id)", value: kept))
    }
    return changes
  }

  /// Stands for the evidence of a claim that was erased; no code can be this.
  private static let erasedEvidence = "erased"
}
