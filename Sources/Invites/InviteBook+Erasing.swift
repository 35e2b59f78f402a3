public import StorageCore
import TreeModel

/// What goes when a player leaves: the invitations that the player sent, with their mails and marks; the player's address in
/// invitations of others; what limits counted. An address that wants no invitations stays on its list: it still wants none.
extension InviteBook: PlayerRecordsErasing {
  public func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, _ snapshot: any Snapshot)
    throws(StorageError) -> RoomErasure
  {
    guard home.known() == namespace else { return RoomErasure() }
    let addresses = Set(addresses.map { EmailAddress($0)?.text ?? $0 })
    var erasure = RoomErasure()
    try snapshot.forEachRecord(in: namespace, kind: Kind.invite) { row in
      guard let invite = InviteRecord(stored: row.value) else { return }
      if invite.sender == uid {
        erasure.records.append(RoomChange(kind: Kind.invite, key: row.key, value: nil))
        for state in [InviteState.opened, .clicked, .converted] {
          erasure.records.append(RoomChange(kind: Kind.mark, key: "\(row.key)/\(state.rawValue)", value: nil))
        }
      } else if let recipient = invite.recipient, addresses.contains(recipient) {
        erasure.records.append(RoomChange(kind: Kind.invite, key: row.key, value: invite.withoutRecipient.json.text))
      } else {
        return
      }
      if invite.recipient != nil { erasure.messages.append("invite/\(row.key)") }
    }
    let mailboxes = addresses.union(addresses.compactMap { EmailAddress($0)?.deliveryIdentity })
    for key in ["sender/\(uid)"] + mailboxes.sorted().map({ "recipient/\($0)" })
    where try snapshot.record(in: namespace, kind: Kind.quota, key: key) != nil {
      erasure.records.append(RoomChange(kind: Kind.quota, key: key, value: nil))
    }
    return erasure
  }

  public func didErase() {}
}

extension InviteRecord {
  fileprivate var withoutRecipient: InviteRecord {
    InviteRecord(
      id: id, channel: channel, campaign: campaign, locale: locale, sender: sender, recipient: nil, link: link,
      createdAt: createdAt)
  }
}
