package import TreeModel

/// Invitations.
package enum AdminInvitations {
  package static let settings = Endpoint<NoQuery, NoBody, Settings>(
    .get, "/admin/v1/invites/settings", "The settings of invitations.")
  package static let putSettings = Endpoint<NoQuery, SettingsOrder, Settings>(
    .put, "/admin/v1/invites/settings", "Replaces the settings of invitations.", access: .admin)
  package static let list = Endpoint<FilteredQuery, NoBody, List>(
    .get, "/admin/v1/invites", "Invitations, newest first: all, or those of a state, a sender, a campaign.")
  package static let suppressions = Endpoint<ListQuery, NoBody, SuppressionList>(
    .get, "/admin/v1/invites/suppressions", "Addresses that get no invitations any more.")
  package static let suppress = Endpoint<NoQuery, SuppressOrder, Done>(
    .post, "/admin/v1/invites/suppressions", "Takes an address off the list, or lets it back.", access: .admin)

  /// An invitation, and how far it came.
  package struct Invitation: AdminValue {
    package var id: String
    package var channel: String
    package var campaign: String
    package var locale: String
    package var sender: String
    package var to: String?
    package var link: String
    package var createdAt: Timestamp
    package var state: String
    package var attempts: Int64?
    package var lastError: String?
    package var openedAt: Timestamp?
    package var clickedAt: Timestamp?
    package var convertedAt: Timestamp?

    package init(
      id: String, channel: String, campaign: String, locale: String, sender: String, to: String?, link: String,
      createdAt: Timestamp, state: String, attempts: Int64?, lastError: String?, openedAt: Timestamp?, clickedAt: Timestamp?,
      convertedAt: Timestamp?
    ) {
      self.id = id
      self.channel = channel
      self.campaign = campaign
      self.locale = locale
      self.sender = sender
      self.to = to
      self.link = link
      self.createdAt = createdAt
      self.state = state
      self.attempts = attempts
      self.lastError = lastError
      self.openedAt = openedAt
      self.clickedAt = clickedAt
      self.convertedAt = convertedAt
    }

    package static let notes: [String: FieldNote] = [
      "state": .only(.choice(["queued", "sent", "failed", "opened", "clicked", "converted"]))
    ]
  }

  /// Which invitations are wanted.
  package struct FilteredQuery: AdminValue {
    package var state: String?
    package var sender: String?
    package var campaign: String?
    package var limit: Int64?
    package var cursor: String?

    package init(
      state: String? = nil, sender: String? = nil, campaign: String? = nil, limit: Int64? = nil, cursor: String? = nil
    ) {
      self.state = state
      self.sender = sender
      self.campaign = campaign
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "state": .only(
        .choice(["queued", "sent", "failed", "opened", "clicked", "converted"]), text: "Only those that came exactly so far."),
      "sender": .only(.form(JSONSchema.keyForm), text: "Only those of this player."),
      "campaign": .only(.filled, text: "Only those of this campaign."),
      "limit": .limit(50),
      "cursor": .cursor,
    ]
  }

  /// Which addresses are wanted.
  package struct ListQuery: AdminValue {
    package var limit: Int64?
    package var cursor: String?

    package init(limit: Int64? = nil, cursor: String? = nil) {
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "limit": .limit(50),
      "cursor": .cursor,
    ]
  }

  /// Invitations, newest first.
  package struct List: AdminValue {
    package var invites: [Invitation]
    package var next: String?
    /// Invitations that were looked at for these.
    package var scanned: Int64

    package init(invites: [Invitation], next: String? = nil, scanned: Int64) {
      self.invites = invites
      self.next = next
      self.scanned = scanned
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("there may be more; with filters also behind a page that is not full"),
      "scanned": .text("invitations that were looked at for these"),
    ]
  }

  /// An address that gets no invitations any more.
  package struct Suppression: AdminValue {
    package var email: String
    package var at: Timestamp?
    package var reason: String?

    package init(email: String, at: Timestamp?, reason: String?) {
      self.email = email
      self.at = at
      self.reason = reason
    }
  }

  /// Addresses that get no invitations any more.
  package struct SuppressionList: AdminValue {
    package var suppressions: [Suppression]
    package var next: String?

    package init(suppressions: [Suppression], next: String? = nil) {
      self.suppressions = suppressions
      self.next = next
    }
  }

  /// An address to take off the list, or to let back.
  package struct SuppressOrder: AdminValue {
    package var email: String
    package var reason: String?
    /// True lets the address back.
    package var release: Bool?

    package init(email: String, reason: String? = nil, release: Bool? = nil) {
      self.email = email
      self.reason = reason
      self.release = release
    }

    package static let notes: [String: FieldNote] = [
      "email": .only(.filled),
      "release": .text("true lets the address back"),
    ]
  }

  /// New settings.
  package struct SettingsOrder: AdminValue {
    /// What the texts call the app.
    package var appName: String?
    /// By name: link, image, partner, channels, templates by language.
    package var campaigns: JSON?
    package var perSenderPerDay: Int64?
    package var perRecipientPerWeek: Int64?
    /// Whether mails carry a picture that says that they were opened.
    package var trackOpening: Bool?

    package static let notes: [String: FieldNote] = [
      "appName": .only(.filled, text: "what the texts call the app"),
      "campaigns": .only(.object([]), text: "by name: link, image, partner, channels, templates by language"),
      "perSenderPerDay": .only(.integer(0...1_000_000)),
      "perRecipientPerWeek": .only(.integer(0...1_000_000)),
      "trackOpening": .text("whether mails carry a picture that says that they were opened"),
    ]
  }

  /// The settings of invitations.
  package struct Settings: AdminValue {
    package var appName: String
    package var campaigns: JSON
    package var perSenderPerDay: Int64
    package var perRecipientPerWeek: Int64
    package var trackOpening: Bool

    package static let notes: [String: FieldNote] = [
      "campaigns": .only(.object([]))
    ]
  }

  /// A player who was brought by another.
  package struct Referral: AdminValue {
    package var player: String
    package var state: String
    package var since: Timestamp?
    /// What the referrer got, by unit.
    package var coins: NamedValues<Int64>
    /// What waits, by unit.
    package var held: NamedValues<Int64>

    package init(
      player: String, state: String, since: Timestamp?, coins: NamedValues<Int64>, held: NamedValues<Int64>
    ) {
      self.player = player
      self.state = state
      self.since = since
      self.coins = coins
      self.held = held
    }

    package static let notes: [String: FieldNote] = [
      "state": .only(.choice(["joined", "held", "paid"])),
      "coins": .text("what the referrer got, by unit"),
      "held": .text("what waits, by unit"),
    ]
  }
}
