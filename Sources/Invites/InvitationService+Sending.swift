import MailContent
package import StorageCore
package import TreeModel

extension InvitationService {
  /// An invitation that is to be sent.
  package struct Order: Sendable {
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
    /// The https address that takes the recipient off the list.
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

  /// Whether a mail may go to an address: it is one, and has not been taken off the list.
  ///
  /// - Returns: the address in the form in which it is kept.
  package func checked(recipient text: String) throws(InvitationError) -> String {
    guard let address = EmailAddress(text) else {
      throw InvitationError(.invalid, "\"to\" must be one plain mail address: bob@example.com.")
    }
    let isSuppressed = try looking { (snapshot, namespace) throws(StorageError) in
      for key in Self.listKeys(address)
      where try snapshot.record(in: namespace, kind: Kind.suppressed, key: key) != nil { return true }
      return false
    }
    guard isSuppressed != true else {
      throw InvitationError(.suppressed, "This address gets no invitations any more; pass the link on another way.")
    }
    return address.text
  }

  /// Records an invitation and, if it is a mail, puts it into the outbox: both or neither.
  ///
  /// - Throws: ``InvitationError/Kind/tooMany`` beyond the limits of the sender or the recipient.
  package func send(_ order: Order) async throws(InvitationError) -> InvitationRecord {
    let record = InvitationRecord(
      id: order.id, channel: order.content.channel, campaign: order.campaign, locale: order.locale, sender: order.sender,
      recipient: order.recipient, link: order.content.link, createdAt: clock.now())
    for _ in 0..<16 {
      let quotas = order.recipient == nil ? [] : try quotas(order)
      let mail = try outboxRecord(order)
      let isDone = try await commit { request in
        request.rows.records =
          [KeyedRecordChange(kind: Kind.invite, key: record.id, value: record.json.text, expecting: .absent)] + quotas
        if let mail { request.rows.outbox = [mail] }
      }
      if isDone { return record }
      // Another invitation of the same sender was counted in between: look again.
    }
    throw InvitationError(.unavailable, "Too many invitations at once; try again.")
  }

  private func outboxRecord(_ order: Order) throws(InvitationError) -> OutboxRecord? {
    guard let recipient = order.recipient else { return nil }
    let mail = MailOrder(
      kind: .invite, to: recipient, subject: order.content.subject ?? "", text: order.content.body ?? "",
      html: order.content.html, fromName: settings.appName, unsubscribe: order.unsubscribe)
    return OutboxRecord(
      key: "invite/\(order.id)", outlet: MailOrder.outlet, payload: mail.payload, cause: nil, state: .waiting, attempts: 0,
      nextAttemptAt: 0, lastError: nil, createdAt: clock.now())
  }

  /// What the invitation adds to the counts that limit its sender and its recipient.
  private func quotas(_ order: Order) throws(InvitationError) -> [KeyedRecordChange] {
    let now = clock.now()
    let settings = settings
    let sent = try count("sender/\(order.sender)", since: now - 86_400_000)
    guard sent.times.count < settings.perSenderPerDay else {
      throw InvitationError(.tooMany, "\(settings.perSenderPerDay) invitations a day are enough; go on tomorrow.")
    }
    // One mailbox with many spellings gets no more than one with a single spelling.
    let mailbox = order.recipient.map { EmailAddress($0)?.deliveryIdentity ?? $0 } ?? ""
    let got = try count("recipient/\(mailbox)", since: now - 7 * 86_400_000)
    guard got.times.count < settings.perRecipientPerWeek else {
      throw InvitationError(
        .tooMany, "This address got \(settings.perRecipientPerWeek) invitations within a week; that is enough.")
    }
    return [sent, got].map { quota in
      let value = JSON.array((quota.times + [now]).map(JSON.int)).text
      return KeyedRecordChange(
        kind: Kind.quota, key: quota.key, value: value, expecting: quota.stored.map { .value($0) } ?? .absent)
    }
  }

  private func count(_ key: String, since time: Int64) throws(InvitationError) -> (key: String, stored: String?, times: [Int64])
  {
    let stored =
      try looking { (snapshot, namespace) throws(StorageError) in
        try snapshot.record(in: namespace, kind: Kind.quota, key: key)
      } ?? nil
    let times = stored.flatMap { try? JSONParser.parse($0) }?.array?.compactMap(\.int).filter { $0 > time } ?? []
    return (key, stored, times)
  }

  // MARK: How far it came

  /// An invitation with its state.
  package struct InvitationStatus: Sendable {
    package let record: InvitationRecord
    /// How far it came.
    package let state: InvitationState
    /// When it was opened, clicked, converted.
    package let marks: [InvitationState: Int64]
    /// Of the mail: attempts, and why the last one failed.
    package let attempts: Int
    /// Why the last attempt failed; nil if none did.
    package let lastError: String?

    /// As the API answers.
    package var json: JSON {
      var members = record.json.object ?? []
      members.append(.init(key: "state", value: .string(state.rawValue)))
      if attempts > 0 { members.append(.init(key: "attempts", value: .int(Int64(attempts)))) }
      if let lastError { members.append(.init(key: "lastError", value: .string(lastError))) }
      for state in [InvitationState.opened, .clicked, .converted] {
        if let at = marks[state] { members.append(.init(key: "\(state.rawValue)At", value: .int(at))) }
      }
      return .object(members)
    }
  }

  /// An invitation by its id; nil if there is none.
  package func invitation(_ id: String) throws(InvitationError) -> InvitationStatus? {
    try looking { (snapshot, namespace) throws(StorageError) -> InvitationStatus? in
      guard let value = try snapshot.record(in: namespace, kind: Kind.invite, key: id),
        let record = InvitationRecord(stored: value)
      else { return nil }
      return try Self.standing(record, snapshot, namespace)
    } ?? nil
  }

  /// Invitations, newest first, before the one given.
  package func invitations(before id: String?, limit: Int) throws(InvitationError) -> [InvitationStatus] {
    try looking { (snapshot, namespace) throws(StorageError) -> [InvitationStatus] in
      let rows = try snapshot.records(in: namespace, kind: Kind.invite, after: id, isDescending: true, limit: limit)
      return try rows.compactMap { InvitationRecord(stored: $0.value) }.map { record throws(StorageError) in
        try Self.standing(record, snapshot, namespace)
      }
    } ?? []
  }

  private static func standing(_ record: InvitationRecord, _ snapshot: any Snapshot, _ namespace: NamespaceID)
    throws(StorageError) -> InvitationStatus
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
    // Whoever converted has clicked, whatever is known of the mail.
    for further in [InvitationState.opened, .clicked, .converted] where marks[further] != nil { state = further }
    return InvitationStatus(
      record: record, state: state, marks: marks, attempts: mail?.attempts ?? 0, lastError: mail?.lastError)
  }

  // MARK: Who gets nothing any more

  /// Takes the recipient of an invitation off the list.
  ///
  /// - Returns: the address; nil if there is no such invitation, or it went to nobody.
  package func unsubscribe(_ id: String) async throws(InvitationError) -> String? {
    guard let address = try invitation(id)?.record.recipient else { return nil }
    try await suppress(address, because: "unsubscribed by invitation \(id)")
    return address
  }

  /// Takes an address off the list: no invitation is sent to it any more.
  package func suppress(_ text: String, because reason: String) async throws(InvitationError) {
    guard let address = EmailAddress(text) else {
      throw InvitationError(.invalid, "\"email\" must be one plain mail address: bob@example.com.")
    }
    let value: JSON = ["at": .int(clock.now()), "reason": .string(String(reason.prefix(200)))]
    try await commit {
      $0.rows.records = [KeyedRecordChange(kind: Kind.suppressed, key: address.deliveryIdentity, value: value.text)]
    }
  }

  /// Lets an address get invitations again.
  package func release(_ text: String) async throws(InvitationError) {
    let keys = EmailAddress(text).map(Self.listKeys) ?? [text]
    try await commit { $0.rows.records = keys.map { KeyedRecordChange(kind: Kind.suppressed, key: $0, value: nil) } }
  }

  /// Where an address may stand on the list: its mailbox, whatever the spelling; and, from earlier versions, as it was given.
  private static func listKeys(_ address: EmailAddress) -> [String] {
    address.text == address.deliveryIdentity ? [address.text] : [address.deliveryIdentity, address.text]
  }

  /// The addresses that get nothing any more, in order, after the one given.
  package func suppressed(after address: String?, limit: Int) throws(InvitationError) -> [(address: String, json: JSON)] {
    let rows =
      try looking { (snapshot, namespace) throws(StorageError) in
        try snapshot.records(in: namespace, kind: Kind.suppressed, after: address, isDescending: false, limit: limit)
      } ?? []
    return rows.map { ($0.key, (try? JSONParser.parse($0.value)) ?? .null) }
  }
}

/// What goes when a player leaves: the invitations that the player sent, with their mails and marks; the player's address in
/// invitations of others; what limits counted. An address that wants no invitations stays on its list: it still wants none.
extension InvitationService: PlayerRecordsErasing {
  package func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, _ snapshot: any Snapshot)
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
        erasure.records.append(KeyedRecordChange(kind: Kind.invite, key: row.key, value: invite.withoutRecipient.json.text))
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
