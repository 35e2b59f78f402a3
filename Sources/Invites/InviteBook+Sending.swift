import MailContent
import StorageCore
public import TreeModel

extension InviteBook {
  /// An invitation that is to be sent.
  public struct Order: Sendable {
    public let id: String
    /// What it says.
    public let content: InviteContent
    /// By its name in the settings.
    public let campaign: String
    /// The reader's language, as it was asked for.
    public let locale: String
    /// The player who invites.
    public let sender: String
    /// The address, for mails; nil where the player passes it on.
    public let recipient: String?
    /// The https address that takes the recipient off the list.
    public let unsubscribe: String?

    public init(
      id: String, content: InviteContent, campaign: String, locale: String, sender: String, recipient: String?,
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
  public func checked(recipient text: String) throws(InviteFault) -> String {
    guard let address = EmailAddress(text) else {
      throw InviteFault(.invalid, "\"to\" must be one plain mail address: bob@example.com.")
    }
    let isSuppressed = try looking { (snapshot, namespace) throws(StorageError) in
      for key in Self.listKeys(address)
      where try snapshot.record(in: namespace, kind: Kind.suppressed, key: key) != nil { return true }
      return false
    }
    guard isSuppressed != true else {
      throw InviteFault(.suppressed, "This address gets no invitations any more; pass the link on another way.")
    }
    return address.text
  }

  /// Records an invitation and, if it is a mail, puts it into the outbox: both or neither.
  ///
  /// - Throws: ``InviteFault/Kind/tooMany`` beyond the limits of the sender or the recipient.
  public func send(_ order: Order) async throws(InviteFault) -> InviteRecord {
    let record = InviteRecord(
      id: order.id, channel: order.content.channel, campaign: order.campaign, locale: order.locale, sender: order.sender,
      recipient: order.recipient, link: order.content.link, createdAt: clock.now())
    for _ in 0..<16 {
      let quotas = order.recipient == nil ? [] : try quotas(order)
      let mail = try outboxRecord(order)
      let isDone = try await commit { request in
        request.records =
          [RoomChange(kind: Kind.invite, key: record.id, value: record.json.text, expecting: .absent)] + quotas
        if let mail { request.outbox = [mail] }
      }
      if isDone { return record }
      // Another invitation of the same sender was counted in between: look again.
    }
    throw InviteFault(.unavailable, "Too many invitations at once; try again.")
  }

  private func outboxRecord(_ order: Order) throws(InviteFault) -> OutboxRecord? {
    guard let recipient = order.recipient else { return nil }
    let mail = MailOrder(
      kind: .invite, to: recipient, subject: order.content.subject ?? "", text: order.content.body ?? "",
      html: order.content.html, fromName: settings.appName, unsubscribe: order.unsubscribe)
    return OutboxRecord(
      key: "invite/\(order.id)", outlet: MailOrder.outlet, payload: mail.payload, cause: nil, state: .waiting, attempts: 0,
      nextAttemptAt: 0, lastError: nil, createdAt: clock.now())
  }

  /// What the invitation adds to the counts that limit its sender and its recipient.
  private func quotas(_ order: Order) throws(InviteFault) -> [RoomChange] {
    let now = clock.now()
    let settings = settings
    let sent = try count("sender/\(order.sender)", since: now - 86_400_000)
    guard sent.times.count < settings.perSenderPerDay else {
      throw InviteFault(.tooMany, "\(settings.perSenderPerDay) invitations a day are enough; go on tomorrow.")
    }
    // One mailbox with many spellings gets no more than one with a single spelling.
    let mailbox = order.recipient.map { EmailAddress($0)?.deliveryIdentity ?? $0 } ?? ""
    let got = try count("recipient/\(mailbox)", since: now - 7 * 86_400_000)
    guard got.times.count < settings.perRecipientPerWeek else {
      throw InviteFault(.tooMany, "This address got \(settings.perRecipientPerWeek) invitations within a week; that is enough.")
    }
    return [sent, got].map { quota in
      let value = JSON.array((quota.times + [now]).map(JSON.int)).text
      return RoomChange(
        kind: Kind.quota, key: quota.key, value: value, expecting: quota.stored.map { .value($0) } ?? .absent)
    }
  }

  private func count(_ key: String, since time: Int64) throws(InviteFault) -> (key: String, stored: String?, times: [Int64]) {
    let stored =
      try looking { (snapshot, namespace) throws(StorageError) in
        try snapshot.record(in: namespace, kind: Kind.quota, key: key)
      } ?? nil
    let times = stored.flatMap { try? JSONParser.parse($0) }?.array?.compactMap(\.int).filter { $0 > time } ?? []
    return (key, stored, times)
  }

  // MARK: How far it came

  /// An invitation with its state.
  public struct Standing: Sendable {
    public let record: InviteRecord
    /// How far it came.
    public let state: InviteState
    /// When it was opened, clicked, converted.
    public let marks: [InviteState: Int64]
    /// Of the mail: attempts, and why the last one failed.
    public let attempts: Int
    /// Why the last attempt failed; nil if none did.
    public let lastError: String?

    /// As the API answers.
    public var json: JSON {
      var members = record.json.object ?? []
      members.append(.init(key: "state", value: .string(state.rawValue)))
      if attempts > 0 { members.append(.init(key: "attempts", value: .int(Int64(attempts)))) }
      if let lastError { members.append(.init(key: "lastError", value: .string(lastError))) }
      for state in [InviteState.opened, .clicked, .converted] {
        if let at = marks[state] { members.append(.init(key: "\(state.rawValue)At", value: .int(at))) }
      }
      return .object(members)
    }
  }

  /// An invitation by its id; nil if there is none.
  public func invitation(_ id: String) throws(InviteFault) -> Standing? {
    try looking { (snapshot, namespace) throws(StorageError) -> Standing? in
      guard let value = try snapshot.record(in: namespace, kind: Kind.invite, key: id),
        let record = InviteRecord(stored: value)
      else { return nil }
      return try Self.standing(record, snapshot, namespace)
    } ?? nil
  }

  /// Invitations, newest first, before the one given.
  public func invitations(before id: String?, limit: Int) throws(InviteFault) -> [Standing] {
    try looking { (snapshot, namespace) throws(StorageError) -> [Standing] in
      let rows = try snapshot.records(in: namespace, kind: Kind.invite, after: id, isDescending: true, limit: limit)
      return try rows.compactMap { InviteRecord(stored: $0.value) }.map { record throws(StorageError) in
        try Self.standing(record, snapshot, namespace)
      }
    } ?? []
  }

  private static func standing(_ record: InviteRecord, _ snapshot: any Snapshot, _ namespace: NamespaceID)
    throws(StorageError) -> Standing
  {
    var marks: [InviteState: Int64] = [:]
    for state in [InviteState.opened, .clicked, .converted] {
      guard let value = try snapshot.record(in: namespace, kind: Kind.mark, key: "\(record.id)/\(state.rawValue)") else {
        continue
      }
      marks[state] = (try? JSONParser.parse(value))?["at"]?.int ?? 0
    }
    let mail = try snapshot.outbox(in: namespace, key: "invite/\(record.id)")
    var state: InviteState =
      switch mail?.state {
      case .waiting: .queued
      case .dead: .failed
      case .delivered, nil: .sent
      }
    // Whoever converted has clicked, whatever is known of the mail.
    for further in [InviteState.opened, .clicked, .converted] where marks[further] != nil { state = further }
    return Standing(
      record: record, state: state, marks: marks, attempts: mail?.attempts ?? 0, lastError: mail?.lastError)
  }

  // MARK: Who gets nothing any more

  /// Takes the recipient of an invitation off the list.
  ///
  /// - Returns: the address; nil if there is no such invitation, or it went to nobody.
  public func unsubscribe(_ id: String) async throws(InviteFault) -> String? {
    guard let address = try invitation(id)?.record.recipient else { return nil }
    try await suppress(address, because: "unsubscribed by invitation \(id)")
    return address
  }

  /// Takes an address off the list: no invitation is sent to it any more.
  public func suppress(_ text: String, because reason: String) async throws(InviteFault) {
    guard let address = EmailAddress(text) else {
      throw InviteFault(.invalid, "\"email\" must be one plain mail address: bob@example.com.")
    }
    let value: JSON = ["at": .int(clock.now()), "reason": .string(String(reason.prefix(200)))]
    try await commit { $0.records = [RoomChange(kind: Kind.suppressed, key: address.deliveryIdentity, value: value.text)] }
  }

  /// Lets an address get invitations again.
  public func release(_ text: String) async throws(InviteFault) {
    let keys = EmailAddress(text).map(Self.listKeys) ?? [text]
    try await commit { $0.records = keys.map { RoomChange(kind: Kind.suppressed, key: $0, value: nil) } }
  }

  /// Where an address may stand on the list: its mailbox, whatever the spelling; and, from earlier versions, as it was given.
  private static func listKeys(_ address: EmailAddress) -> [String] {
    address.text == address.deliveryIdentity ? [address.text] : [address.deliveryIdentity, address.text]
  }

  /// The addresses that get nothing any more, in order, after the one given.
  public func suppressed(after address: String?, limit: Int) throws(InviteFault) -> [(address: String, json: JSON)] {
    let rows =
      try looking { (snapshot, namespace) throws(StorageError) in
        try snapshot.records(in: namespace, kind: Kind.suppressed, after: address, isDescending: false, limit: limit)
      } ?? []
    return rows.map { ($0.key, (try? JSONParser.parse($0.value)) ?? .null) }
  }
}
