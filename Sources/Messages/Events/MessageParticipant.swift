import Crypto
import RewardModel
package import StorageCore
import TextFormats
package import TreeModel

/// Writes the events that campaigns wait for, in the commits that cause them: once, or not at all.
///
/// Nothing is stored where no published campaign waits for it. An event's id is made of its cause, so a commit that comes again
/// makes no second one.
package struct MessageParticipant: CommitParticipant {
  private let waiting: WaitingCampaigns
  /// Where it stands who invited a player; nil where nobody says so.
  private let referrer: PathPattern?

  package init(waiting: WaitingCampaigns, referrer: PathPattern?) {
    self.waiting = waiting
    self.referrer = referrer
  }

  /// Events of requests that may change nothing in the tree: claims, opened invitations, and what was raised by hand.
  package func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  {
    guard !waiting.isIdle, !(request.rows.records.isEmpty && request.rows.playerEvents.isEmpty),
      let content = waiting.content(of: request.namespace)
    else { return [] }
    var writing = MessageWriting(session: session, namespace: request.namespace, time: time, content: content)
    do throws(StorageError) {
      for event in request.rows.playerEvents {
        let digest = SHA256.hash(data: Array("\(event.name)\n\(event.once)".utf8))
        let parameters = event.parameters.map { JSON.Member(key: $0.name, value: JSON($0.value)) }
        let id = "raised-\(Hex.encode(Array(digest).prefix(16)))"
        try writing.put(MessageCause(id: id, uid: event.uid, name: event.name, parameters: parameters))
      }
      for change in request.rows.records { try put(change, with: &writing) }
      try touch(writing, at: session.head(of: request.namespace).revision)
    } catch {
      throw CommitError(error)
    }
    return []
  }

  /// Events of ledger entries and accounts; and what a reversal takes back.
  package func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {
    do throws(StorageError) {
      for entry in draft.entries { try takeBack(entry, in: draft.request.namespace, session: session) }
      guard !waiting.isIdle, let content = waiting.content(of: draft.request.namespace) else { return }
      var writing = MessageWriting(session: session, namespace: draft.request.namespace, time: draft.time, content: content)
      for entry in draft.entries {
        try put(entry, with: &writing)
        try writing.grant(entry)
      }
      if draft.treeChanges.count < draft.changes.count {
        for change in draft.changes.dropFirst(draft.treeChanges.count) { try put(change, with: &writing) }
      }
      touch(writing, at: draft.revision)
    } catch {
      throw CommitError(error)
    }
  }

  private func touch(_ writing: MessageWriting, at revision: Revision) {
    for uid in writing.touched { waiting.touch(uid, at: revision) }
  }

  // MARK: The ledger

  private func put(_ entry: LedgerEntry, with writing: inout MessageWriting) throws(StorageError) {
    let transfer = entry.transfer
    let (debit, credit) = (transfer.debit, transfer.credit)
    let fromIssuance = debit.kind.utf8.elementsEqual("issuance".utf8)
    if transfer.reverses != nil {
      guard let uid = Self.player(debit), !writing.isIdle("reward_reversed") else { return }
      return try put("reward_reversed", of: entry, to: uid, balance: entry.debitAfter, with: &writing)
    }
    if credit.isHold, fromIssuance {
      guard let uid = credit.ownerParts.first, !writing.isIdle("reward_held") else { return }
      return try put("reward_held", of: entry, to: uid, balance: nil, with: &writing)
    }
    guard let uid = Self.player(credit) else { return }
    let isReleased = debit.isHold && transfer.code == "release"
    guard fromIssuance || isReleased else { return }
    if !writing.isIdle("reward") { try put("reward", of: entry, to: uid, balance: entry.creditAfter, with: &writing) }
    if isReleased, !writing.isIdle("reward_released") {
      try put("reward_released", of: entry, to: uid, balance: entry.creditAfter, with: &writing)
    }
  }

  private func put(
    _ name: String, of entry: LedgerEntry, to uid: String, balance: Int64?, with writing: inout MessageWriting
  ) throws(StorageError) {
    let transfer = entry.transfer
    let inviter = transfer.subject == nil ? try writing.text(at: referrer, uid: uid) : uid
    let parameters = JSON(fields: [
      ("currency", .string(transfer.unit)), ("amount", .int(transfer.amount)), ("code", .string(transfer.code)),
      ("key", .string(transfer.key.text)), ("balance", balance.map(JSON.int)), ("function", transfer.function.map(JSON.string)),
      ("inviter", inviter.map(JSON.string)), ("invitee", (transfer.subject ?? (inviter == nil ? nil : uid)).map(JSON.string)),
      ("reason", transfer.reason.map(JSON.string)),
    ])
    try writing.put(
      MessageCause(id: "\(name)-\(entry.sequence)", uid: uid, name: name, parameters: parameters.object ?? []))
  }

  /// Removes the events of an entry that was reversed, and of a hold that has ended, as far as they were not shown.
  private func takeBack(_ entry: LedgerEntry, in namespace: NamespaceID, session: any CommitSession) throws(StorageError) {
    let transfer = entry.transfer
    if let sequence = transfer.reverses, let uid = Self.player(transfer.debit) {
      for name in ["reward", "reward_released"] {
        try Self.takeBack("\(uid)/\(name)-\(sequence)", in: namespace, session: session)
      }
    } else if transfer.debit.isHold, let uid = transfer.debit.ownerParts.first, let hold = Self.endedHold(transfer.key) {
      try Self.takeBack("\(uid)/reward_held-\(hold)", in: namespace, session: session)
    }
  }

  private static func takeBack(_ key: String, in namespace: NamespaceID, session: any CommitSession) throws(StorageError) {
    guard let stored = try session.record(in: namespace, kind: MessageEvent.kind, key: key),
      MessageEvent(stored: stored)?.shownAt == nil
    else { return }
    session.put(KeyedRecordChange(kind: MessageEvent.kind, key: key, value: nil), in: namespace)
  }

  /// The hold that a transfer under this key ends: `hold-end/7`.
  private static func endedHold(_ key: BusinessKey) -> Int64? {
    guard let sequence = key.text.split(separator: "/").dropFirst().first.flatMap({ Int64($0) }),
      BusinessKey.holdEnd(of: sequence) == key
    else { return nil }
    return sequence
  }

  /// The player whose account it is; nil for accounts of the program.
  static func player(_ account: LedgerAccount) -> String? {
    let isProgram = [LedgerAccount.holdKind, "issuance", "redemption", "adjustment", "opening"].contains {
      account.kind.utf8.elementsEqual($0.utf8)
    }
    return isProgram ? nil : account.ownerParts.first.flatMap { $0.isEmpty ? nil : $0 }
  }

  // MARK: Accounts, claims and invitations

  /// An identity that was added to an account: `/.accounts/UID/links/PROVIDER`.
  private func put(_ change: LeafChange, with writing: inout MessageWriting) throws(StorageError) {
    guard !writing.isIdle("account_linked"), change.before == nil, let state = change.after?.stringValue,
      let keys = change.path.keys(), keys.count == 4, keys[2].text == "links"
    else { return }
    let place = PathBytes(Path(keys: [keys[0], keys[1], Key(unchecked: "uid")]))
    guard let uid = try writing.session.leaf(in: writing.namespace, at: place)?.leaf.scalar.stringValue else { return }
    try writing.put(
      MessageCause(
        id: "account_linked-\(keys[3].text)-\(writing.time)", uid: uid, name: "account_linked",
        parameters: [
          JSON.Member(key: "provider", value: .string(keys[3].text)),
          JSON.Member(key: "wasAnonymous", value: .bool(state == "anonymous")),
        ]))
  }

  private func put(_ change: KeyedRecordChange, with writing: inout MessageWriting) throws(StorageError) {
    switch change.kind {
    case "link_claim" where change.key.hasPrefix("player/") && change.expectation == .absent:
      guard let claim = change.value.flatMap({ try? JSONParser.parse($0) }), let player = claim["player"]?.string,
        let inviter = claim["inviter"]?.string
      else { return }
      let code = claim["code"].map { JSON.Member(key: "code", value: $0) }
      try writing.put(
        MessageCause(
          id: "referral_claimed", uid: player, name: "referral_claimed",
          parameters: [JSON.Member(key: "inviter", value: .string(inviter))] + [code].compactMap(\.self)))
      try writing.put(
        MessageCause(
          id: "friend_joined-\(player)", uid: inviter, name: "friend_joined",
          parameters: [JSON.Member(key: "invitee", value: .string(player))] + [code].compactMap(\.self)))
    case "invite_mark" where change.value != nil:
      let parts = change.key.split(separator: "/").map(String.init)
      guard parts.count == 2, let name = ["opened": "invite_opened", "converted": "invite_converted"][parts[1]],
        !writing.isIdle(name),
        // An invitation is opened again and again; the first time is the one that counts.
        try writing.session.record(in: writing.namespace, kind: change.kind, key: change.key) == nil,
        let stored = try writing.session.record(in: writing.namespace, kind: "invite", key: parts[0]),
        let invite = try? JSONParser.parse(stored), let sender = invite["sender"]?.string
      else { return }
      let channel = invite["channel"].map { JSON.Member(key: "channel", value: $0) }
      try writing.put(
        MessageCause(
          id: "\(name)-\(parts[0])", uid: sender, name: name,
          parameters: [JSON.Member(key: "invite", value: .string(parts[0]))] + [channel].compactMap(\.self)))
    default: return
    }
  }
}

/// Puts the events of one commit.
struct MessageWriting {
  let session: any CommitSession
  let namespace: NamespaceID
  let time: Int64
  let content: WaitingCampaigns.Content
  /// Players for whom something was put.
  private(set) var touched: [String] = []

  init(session: any CommitSession, namespace: NamespaceID, time: Int64, content: WaitingCampaigns.Content) {
    self.session = session
    self.namespace = namespace
    self.time = time
    self.content = content
  }

  /// Whether nothing waits for an event of this name.
  func isIdle(_ name: String) -> Bool { content.triggers[name] == nil && content.goals[name] == nil }

  /// Puts an event if a campaign waits for it, and it was not put before; and notes that the goals of campaigns are reached.
  mutating func put(_ cause: MessageCause) throws(StorageError) {
    for campaign in content.goals[cause.name] ?? [] { try convert(campaign, uid: cause.uid) }
    guard content.triggers[cause.name]?.contains(where: { $0.holds(cause.parameters) }) == true else { return }
    // The events of a uid with a slash would stand among those of the player whose uid is what is before it.
    guard (try? Key(cause.uid)) != nil else { return }
    let event = MessageEvent(
      id: cause.id, uid: cause.uid, name: cause.name, parameters: cause.parameters, at: time,
      expires: time + content.lifetime)
    for kind in [MessageEvent.kind, MessageEvent.toldKind] {
      guard try session.record(in: namespace, kind: kind, key: event.key) == nil else { return }
    }
    session.put(KeyedRecordChange(kind: MessageEvent.kind, key: event.key, value: event.json.compactText), in: namespace)
    touched.append(cause.uid)
  }

  private func convert(_ campaign: Campaign, uid: String) throws(StorageError) {
    let marks = MessageMarks(session: session, namespace: namespace, time: time)
    for instance in try instances(of: uid) { try marks.convert(campaign, instance: instance) }
  }

  private func instances(of uid: String) throws(StorageError) -> [String] {
    try session.record(in: namespace, kind: MessageInstance.playerKind, key: uid).map(MessageInstance.list(stored:)) ?? []
  }

  /// Counts the coins that a player gets for the campaigns whose goal the player has reached, or takes back what a reversal
  /// takes.
  func grant(_ entry: LedgerEntry) throws(StorageError) {
    guard !content.converting.isEmpty else { return }
    let transfer = entry.transfer
    let marks = MessageMarks(session: session, namespace: namespace, time: time)
    if let sequence = transfer.reverses {
      guard let uid = MessageParticipant.player(transfer.debit),
        let original = try session.entry(in: namespace, sequence: sequence)
      else { return }
      let instances = try instances(of: uid)
      for campaign in content.converting { try marks.takeBack(original, campaign, instances: instances) }
    } else if transfer.debit.isHold || transfer.debit.kind.utf8.elementsEqual("issuance".utf8),
      let uid = MessageParticipant.player(transfer.credit)
    {
      let instances = try instances(of: uid)
      for campaign in content.converting { try marks.grant(entry, campaign, instances: instances) }
    }
  }

  /// The text of a leaf of a player's.
  func text(at pattern: PathPattern?, uid: String) throws(StorageError) -> String? {
    guard let path = pattern.flatMap({ try? $0.path(filling: [uid]) }) else { return nil }
    return try session.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar.stringValue
  }
}

extension JSON {
  /// A leaf's value.
  init(_ scalar: Scalar) {
    self =
      switch scalar {
      case .bool(let value): .bool(value)
      case .int(let value): .int(value)
      case .double(let value): .double(value)
      case .string(let value): .string(value)
      }
  }
}
