import MailContent
package import StorageCore
import TreeModel

/// An invitation that is to be sent.
package struct InvitationDraft: Sendable {
  /// See ``InvitationService/newID()``.
  package let id: String
  /// What it says.
  package let content: InvitationContent
  /// By its name in the settings.
  package let campaign: String
  /// The reader's language, as it was asked for.
  package let locale: String
  /// The player who invites.
  package let sender: String
  /// The address, for mails; nil where the player passes it on.
  package let recipient: String?
  /// The https address by which the recipient asks for no more invitations.
  package let unsubscribe: String?

  package init(
    id: String, content: InvitationContent, campaign: String, locale: String, sender: String, recipient: String?,
    unsubscribe: String?
  ) {
    self.id = id
    self.content = content
    self.campaign = campaign
    self.locale = locale
    self.sender = sender
    self.recipient = recipient
    self.unsubscribe = unsubscribe
  }
}

extension InvitationService {
  /// Whether a mail may go to an address: it is one, and its owner wants invitations.
  ///
  /// - Returns: the address in the form in which it is kept.
  /// - Throws: ``InvitationError/suppressed``.
  package func checked(recipient text: String) throws -> String {
    guard let address = EmailAddress(text) else {
      throw InvitationError.invalid("\"to\" must be one plain mail address: bob@example.com.")
    }
    let isSuppressed = try read { snapshot, namespace in
      for key in Self.suppressionKeys(address)
      where try snapshot.record(in: namespace, kind: Kind.suppressed, key: key) != nil { return true }
      return false
    }
    guard isSuppressed != true else { throw InvitationError.suppressed }
    return address.text
  }

  /// Records an invitation and, if it is a mail, puts it into the outbox: both or neither.
  ///
  /// - Throws: ``InvitationError/tooManyFromSender(max:)`` and ``InvitationError/tooManyToRecipient(max:)`` beyond the limits.
  package func send(_ invitation: InvitationDraft) async throws -> InvitationRecord {
    let record = InvitationRecord(
      id: invitation.id, channel: invitation.content.channel, campaign: invitation.campaign, locale: invitation.locale,
      sender: invitation.sender, recipient: invitation.recipient, link: invitation.content.link, createdAt: clock.now())
    for _ in 0..<16 {
      let counts = try invitation.recipient.map { try quotas(sender: invitation.sender, recipient: $0) } ?? []
      let mail = outboxRecord(invitation)
      let isDone = try await commit { request in
        request.rows.records =
          [KeyedRecordChange(kind: Kind.invite, key: record.id, value: record.stored, expecting: .absent)] + counts
        if let mail { request.rows.outbox = [mail] }
      }
      if isDone { return record }
      // Another invitation of the same sender was counted in between: look again.
    }
    throw InvitationError.unavailable("Too many invitations at once; try again.")
  }

  private func outboxRecord(_ invitation: InvitationDraft) -> OutboxRecord? {
    guard let recipient = invitation.recipient else { return nil }
    let content = invitation.content
    let mail = MailOrder(
      kind: .invite, to: recipient, subject: content.subject ?? "", text: content.body ?? "", html: content.html,
      fromName: settings.appName, unsubscribe: invitation.unsubscribe)
    return OutboxRecord(
      key: "invite/\(invitation.id)", outlet: MailOrder.outlet, payload: mail.payload, cause: nil, state: .waiting, attempts: 0,
      nextAttemptAt: 0, lastError: nil, createdAt: clock.now())
  }

  /// What a mail adds to the counts that limit its sender and its recipient.
  private func quotas(sender: String, recipient: String) throws -> [KeyedRecordChange] {
    let now = clock.now()
    let settings = settings
    let sent = try quota("sender/\(sender)", since: now - 86_400_000)
    guard sent.times.count < settings.perSenderPerDay else {
      throw InvitationError.tooManyFromSender(max: settings.perSenderPerDay)
    }
    // One mailbox with many spellings gets no more than one with a single spelling.
    let mailbox = EmailAddress(recipient)?.deliveryIdentity ?? recipient
    let got = try quota("recipient/\(mailbox)", since: now - 7 * 86_400_000)
    guard got.times.count < settings.perRecipientPerWeek else {
      throw InvitationError.tooManyToRecipient(max: settings.perRecipientPerWeek)
    }
    return [sent, got].map { quota in
      let value = JSON.array((quota.times + [now]).map(JSON.int)).compactText
      return KeyedRecordChange(
        kind: Kind.quota, key: quota.key, value: value, expecting: quota.stored.map { .value($0) } ?? .absent)
    }
  }

  private func quota(_ key: String, since time: Int64) throws -> (key: String, stored: String?, times: [Int64]) {
    let stored =
      try read { snapshot, namespace in
        try snapshot.record(in: namespace, kind: Kind.quota, key: key)
      } ?? nil
    let times = stored.flatMap { try? JSONParser.parse($0) }?.array?.compactMap(\.int).filter { $0 > time } ?? []
    return (key, stored, times)
  }

  // MARK: How far it came

  /// An invitation by its id; nil if there is none.
  package func invitation(_ id: String) throws -> InvitationStatus? {
    try read { (snapshot, namespace) -> InvitationStatus? in
      guard let value = try snapshot.record(in: namespace, kind: Kind.invite, key: id),
        let record = InvitationRecord(stored: value)
      else { return nil }
      return try Self.status(record, snapshot: snapshot, in: namespace)
    } ?? nil
  }

  /// Which invitations are wanted: all of what is set must be true.
  package struct Filter: Sendable {
    package var state: InvitationState?
    package var sender: String?
    package var campaign: String?

    package init(state: InvitationState? = nil, sender: String? = nil, campaign: String? = nil) {
      self.state = state
      self.sender = sender
      self.campaign = campaign
    }

    fileprivate func admits(_ record: InvitationRecord) -> Bool {
      (sender.map { $0.utf8.elementsEqual(record.sender.utf8) } ?? true)
        && (campaign.map { $0.utf8.elementsEqual(record.campaign.utf8) } ?? true)
    }
  }

  /// A part of the invitations.
  package struct Page: Sendable {
    package var invitations: [InvitationStatus] = []
    /// Where to go on; nil if all were looked at.
    package var next: String?
    /// So many invitations were looked at.
    package var scanned = 0
  }

  /// So many invitations are looked at for one page.
  package static let scanMax = 5000

  /// Invitations, newest first, before the one given: at most `limit`, of at most ``scanMax`` that are looked at.
  package func invitations(where filter: Filter = Filter(), before id: String? = nil, limit: Int) throws -> Page {
    try read { (snapshot, namespace) -> Page in
      var page = Page()
      page.next = id
      while page.scanned < Self.scanMax {
        let rows = try snapshot.records(in: namespace, kind: Kind.invite, after: page.next, isDescending: true, limit: 500)
        for row in rows {
          if page.invitations.count == limit { return page }
          page.scanned += 1
          page.next = row.key
          guard let record = InvitationRecord(stored: row.value), filter.admits(record) else { continue }
          let status = try Self.status(record, snapshot: snapshot, in: namespace)
          if filter.state == nil || filter.state == status.state { page.invitations.append(status) }
        }
        if rows.count < 500 {
          page.next = nil
          return page
        }
      }
      return page
    } ?? Page()
  }

  private static func status(_ record: InvitationRecord, snapshot: any Snapshot, in namespace: NamespaceID)
    throws -> InvitationStatus
  {
    var marks: [InvitationState: Int64] = [:]
    for state in [InvitationState.opened, .clicked, .converted] {
      guard let value = try snapshot.record(in: namespace, kind: Kind.mark, key: "\(record.id)/\(state.rawValue)") else {
        continue
      }
      marks[state] = (try? JSONParser.parse(value))?["at"]?.int ?? 0
    }
    let mail = try snapshot.outbox(in: namespace, key: "invite/\(record.id)")
    var state: InvitationState =
      switch mail?.state {
      case .waiting: .queued
      case .dead: .failed
      case .delivered, nil: .sent
      }
    // Marks tell more than the mail: an invitation that was converted was clicked, even if its mail failed.
    for further in [InvitationState.opened, .clicked, .converted] where marks[further] != nil { state = further }
    return InvitationStatus(
      record: record, state: state, marks: marks, attempts: mail?.attempts ?? 0, lastError: mail?.lastError)
  }

  // MARK: Who wants no invitations

  /// Sends the recipient of an invitation no more of them.
  ///
  /// - Returns: the address; nil if there is no such invitation, or it went to nobody.
  package func unsubscribe(_ id: String) async throws -> String? {
    guard let address = try invitation(id)?.record.recipient else { return nil }
    try await suppress(address, because: "unsubscribed by invitation \(id)")
    return address
  }

  /// Sends no more invitations to an address.
  package func suppress(_ text: String, because reason: String) async throws {
    guard let address = EmailAddress(text) else {
      throw InvitationError.invalid("\"email\" must be one plain mail address: bob@example.com.")
    }
    let key = address.deliveryIdentity
    let value = SuppressedAddress(address: key, at: clock.now(), reason: String(reason.prefix(200))).stored
    try await commit { $0.rows.records = [KeyedRecordChange(kind: Kind.suppressed, key: key, value: value)] }
  }

  /// Lets an address get invitations again.
  package func release(_ text: String) async throws {
    let keys = EmailAddress(text).map(Self.suppressionKeys) ?? [text]
    try await commit { $0.rows.records = keys.map { KeyedRecordChange(kind: Kind.suppressed, key: $0, value: nil) } }
  }

  /// The keys that an address may be suppressed by: its mailbox, whatever the spelling; and, from earlier versions, its own text.
  private static func suppressionKeys(_ address: EmailAddress) -> [String] {
    address.text == address.deliveryIdentity ? [address.text] : [address.deliveryIdentity, address.text]
  }

  /// The addresses that get no invitations, in order, after the one given.
  package func suppressed(after address: String?, limit: Int) throws -> [SuppressedAddress] {
    let rows =
      try read { snapshot, namespace in
        try snapshot.records(in: namespace, kind: Kind.suppressed, after: address, isDescending: false, limit: limit)
      } ?? []
    return rows.map { SuppressedAddress(address: $0.key, stored: $0.value) }
  }
}

/// What is erased with a player: the invitations that the player sent, with their mails and marks; the player's address in
/// invitations of others; the counts for limits. A suppressed address stays suppressed: its owner still wants no invitations.
extension InvitationService: PlayerRecordsErasing {
  package func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> KeyedRecordErasure
  {
    guard home.known() == namespace else { return KeyedRecordErasure() }
    let addresses = Set(addresses.map { EmailAddress($0)?.text ?? $0 })
    var erasure = KeyedRecordErasure()
    try snapshot.forEachRecord(in: namespace, kind: Kind.invite) { row in
      guard let invite = InvitationRecord(stored: row.value) else { return }
      if invite.sender == uid {
        erasure.records.append(KeyedRecordChange(kind: Kind.invite, key: row.key, value: nil))
        for state in [InvitationState.opened, .clicked, .converted] {
          erasure.records.append(KeyedRecordChange(kind: Kind.mark, key: "\(row.key)/\(state.rawValue)", value: nil))
        }
      } else if let recipient = invite.recipient, addresses.contains(recipient) {
        erasure.records.append(KeyedRecordChange(kind: Kind.invite, key: row.key, value: invite.withoutRecipient.stored))
      } else {
        return
      }
      if invite.recipient != nil { erasure.messages.append("invite/\(row.key)") }
    }
    let mailboxes = addresses.union(addresses.compactMap { EmailAddress($0)?.deliveryIdentity })
    for key in ["sender/\(uid)"] + mailboxes.sorted().map({ "recipient/\($0)" })
    where try snapshot.record(in: namespace, kind: Kind.quota, key: key) != nil {
      erasure.records.append(KeyedRecordChange(kind: Kind.quota, key: key, value: nil))
    }
    return erasure
  }

  package func didErase() {}
}

extension InvitationRecord {
  fileprivate var withoutRecipient: InvitationRecord {
    InvitationRecord(
      id: id, channel: channel, campaign: campaign, locale: locale, sender: sender, recipient: nil, link: link,
      createdAt: createdAt)
  }
}
