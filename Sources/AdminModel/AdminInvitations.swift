package import TreeModel

/// Invitations, and who brought whom.
package enum AdminInvitations {
  package static let settings = Endpoint<NoQuery, NoBody, Settings>(
    .get, "/admin/v1/invites/settings", "The settings of invitations.")
  package static let putSettings = Endpoint<NoQuery, SettingsOrder, Settings>(
    .put, "/admin/v1/invites/settings", "Replaces the settings of invitations.", access: .admin)
  package static let list = Endpoint<ListQuery, NoBody, List>(.get, "/admin/v1/invites", "Invitations, newest first.")
  package static let suppressions = Endpoint<ListQuery, NoBody, SuppressionList>(
    .get, "/admin/v1/invites/suppressions", "Addresses that get no invitations any more.")
  package static let suppress = Endpoint<NoQuery, SuppressOrder, Done>(
    .post, "/admin/v1/invites/suppressions", "Takes an address off the list, or lets it back.", access: .admin)

  package static let referrals = Endpoint<ReferralQuery, NoBody, ReferralList>(
    .get, "/admin/v1/referrals", "Whom a player brought, and who brought the player.", isScoped: true)
  package static let top = Endpoint<TopQuery, NoBody, Top>(
    .get, "/admin/v1/referrals/top", "Who brought most.", isScoped: true)

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

    package init(invites: [Invitation], next: String? = nil) {
      self.invites = invites
      self.next = next
    }
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

  /// Whose referrals are wanted.
  package struct ReferralQuery: AdminValue {
    package var uid: String
    package var limit: Int64?
    package var cursor: String?

    package init(uid: String, limit: Int64? = nil, cursor: String? = nil) {
      self.uid = uid
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "uid": .only(.form(JSONSchema.keyForm), text: "The player."),
      "limit": .limit(50),
      "cursor": .cursor,
    ]
  }

  /// Whom a player brought, and who brought the player.
  package struct ReferralList: AdminValue {
    package var player: String
    package var referredBy: String?
    package var referrals: [Referral]
    package var next: String?

    package init(player: String, referredBy: String?, referrals: [Referral], next: String? = nil) {
      self.player = player
      self.referredBy = referredBy
      self.referrals = referrals
      self.next = next
    }
  }

  /// How many referrers are wanted.
  package struct TopQuery: AdminValue {
    package var limit: Int64?

    package init(limit: Int64? = nil) {
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "limit": .limit(20)
    ]
  }

  /// A player who brought others.
  package struct Referrer: AdminValue {
    package var player: String
    package var count: Int64
    /// In all, by unit.
    package var coins: NamedValues<Int64>

    package init(player: String, count: Int64, coins: NamedValues<Int64>) {
      self.player = player
      self.count = count
      self.coins = coins
    }

    package static let notes: [String: FieldNote] = [
      "coins": .text("in all, by unit")
    ]
  }

  /// Who brought most.
  package struct Top: AdminValue {
    package var top: [Referrer]

    package init(top: [Referrer]) {
      self.top = top
    }
  }
}
