import TreeModel

/// An invitation as it is stored.
package struct InvitationRecord: Sendable, Hashable {
  /// Sorts by time.
  package let id: String
  /// How it is passed on.
  package let channel: InvitationChannel
  /// By its name in the settings of its time.
  package let campaign: String
  /// The language that was asked for.
  package let locale: String
  /// The player who invites.
  package let sender: String
  /// Who gets it; nil where the player passes it on.
  package let recipient: String?
  /// Its own link, below `i/`.
  package let link: String
  /// In milliseconds since 1970.
  package let createdAt: Int64

  package init(
    id: String, channel: InvitationChannel, campaign: String, locale: String, sender: String, recipient: String?, link: String,
    createdAt: Int64
  ) {
    self.id = id
    self.channel = channel
    self.campaign = campaign
    self.locale = locale
    self.sender = sender
    self.recipient = recipient
    self.link = link
    self.createdAt = createdAt
  }
}

extension InvitationRecord {
  /// The stored form.
  var stored: String {
    var members: [JSON.Member] = [
      .init(key: "id", value: .string(id)), .init(key: "channel", value: .string(channel.rawValue)),
      .init(key: "campaign", value: .string(campaign)), .init(key: "locale", value: .string(locale)),
      .init(key: "sender", value: .string(sender)),
    ]
    if let recipient { members.append(.init(key: "to", value: .string(recipient))) }
    members.append(.init(key: "link", value: .string(link)))
    members.append(.init(key: "createdAt", value: .int(createdAt)))
    return JSON.object(members).compactText
  }

  /// Reads the stored form; nil if it is damaged.
  init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let id = json["id"]?.string,
      let channel = json["channel"]?.string.flatMap(InvitationChannel.init), let campaign = json["campaign"]?.string,
      let sender = json["sender"]?.string, let link = json["link"]?.string, let createdAt = json["createdAt"]?.int
    else { return nil }
    self.init(
      id: id, channel: channel, campaign: campaign, locale: json["locale"]?.string ?? "en", sender: sender,
      recipient: json["to"]?.string, link: link, createdAt: createdAt)
  }
}

/// How far an invitation has come. The order is that of a life.
package enum InvitationState: String, Sendable, Hashable, CaseIterable {
  case queued, sent, failed, opened, clicked, converted
}

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
}

/// A mail address that gets no invitations.
package struct SuppressedAddress: Sendable, Hashable {
  /// The mailbox, or the address as an earlier version kept it.
  package let address: String
  /// Since when, in milliseconds since 1970.
  package let at: Int64?
  /// Who asked for it.
  package let reason: String?
}

extension SuppressedAddress {
  /// The stored form.
  var stored: String {
    var members: [JSON.Member] = []
    if let at { members.append(.init(key: "at", value: .int(at))) }
    if let reason { members.append(.init(key: "reason", value: .string(reason))) }
    return JSON.object(members).compactText
  }

  /// Reads the stored form; of a damaged one only the address counts.
  init(address: String, stored text: String) {
    let json = try? JSONParser.parse(text)
    self.init(address: address, at: json?["at"]?.int, reason: json?["reason"]?.string)
  }
}
