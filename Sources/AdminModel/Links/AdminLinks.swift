package import TreeModel

/// Links: what they say, what was counted, their settings.
package enum AdminLinks {
  package static let settings = Endpoint<NoQuery, NoBody, Settings>(
    .get, "/admin/v1/links/settings", "The settings of links.")
  package static let putSettings = Endpoint<NoQuery, SettingsOrder, Settings>(
    .put, "/admin/v1/links/settings", "Replaces the settings of links.", access: .admin)
  package static let list = Endpoint<ListQuery, NoBody, List>(
    .get, "/admin/v1/links", "Short links, by address: all, or those that a text, an inviter, a campaign finds.")
  package static let show = Endpoint<LinkQuery, NoBody, Link>(
    .get, "/admin/v1/links/link", "One short link, or what a long one says.")
  package static let edit = Endpoint<LinkQuery, Edit, ChangedLink>(
    .patch, "/admin/v1/links/link", "Changes what a short link says, what it is called, or whether it is on.",
    access: .support)
  package static let delete = Endpoint<LinkQuery, NoBody, Link>(
    .delete, "/admin/v1/links/link", "Deletes a short link and its code; what was claimed by it stays.", access: .admin)
  package static let statistics = Endpoint<StatisticsQuery, NoBody, Statistics>(
    .get, "/admin/v1/links/stats", "What was counted of a short link, by day.")
  package static let code = Endpoint<CodeQuery, NoBody, JSON>(
    .get, "/admin/v1/links/qr", "A link as a QR code.", mediaTypes: ["image/svg+xml", "image/png"])
  package static let take = Endpoint<NoQuery, ImportOrder, ImportReport>(
    .post, "/admin/v1/links/import", "Takes links in, each with its suffix.", access: .admin)
  package static let claim = Endpoint<ClaimQuery, NoBody, Claim>(
    .get, "/admin/v1/links/claims", "How a player came: the link, the click, the inviter.")

  /// A short link.
  package struct Link: AdminValue {
    package var shortLink: String
    package var longLink: String
    package var option: String
    package var createdAt: Timestamp
    package var name: String?
    package var inviter: String?
    package var code: String?
    package var invitation: String?
    package var changedAt: Timestamp?
    package var disabledAt: Timestamp?
    /// What it says, as clients write it: a `DynamicLinkInfo` of the Dynamic Links API.
    package var info: JSON

    package init(
      shortLink: String, longLink: String, option: String, createdAt: Timestamp, name: String? = nil, inviter: String? = nil,
      code: String? = nil, invitation: String? = nil, changedAt: Timestamp? = nil, disabledAt: Timestamp? = nil, info: JSON
    ) {
      self.shortLink = shortLink
      self.longLink = longLink
      self.option = option
      self.createdAt = createdAt
      self.name = name
      self.inviter = inviter
      self.code = code
      self.invitation = invitation
      self.changedAt = changedAt
      self.disabledAt = disabledAt
      self.info = info
    }

    /// What it opens.
    package var target: String? { info["link"]?.string }

    package static let notes: [String: FieldNote] = [
      "info": .only(.object([]))
    ]
  }

  /// What is doubtful about a link.
  package struct Warning: AdminValue {
    package var code: String
    package var message: String

    private enum CodingKeys: String, CodingKey {
      case code = "warningCode"
      case message = "warningMessage"
    }

    package init(code: String, message: String) {
      self.code = code
      self.message = message
    }
  }

  /// A link after a change.
  package struct ChangedLink: AdminValue {
    package var link: Link
    package var warnings: [Warning]

    private enum CodingKeys: String, CodingKey {
      case link
      case warnings = "warning"
    }

    package init(link: Link, warnings: [Warning]) {
      self.link = link
      self.warnings = warnings
    }
  }

  /// Which links are wanted.
  package struct ListQuery: AdminValue {
    package var q: String?
    package var inviter: String?
    package var campaign: String?
    package var limit: Int64?
    package var cursor: String?

    package init(
      q: String? = nil, inviter: String? = nil, campaign: String? = nil, limit: Int64? = nil, cursor: String? = nil
    ) {
      self.q = q
      self.inviter = inviter
      self.campaign = campaign
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "q": .only(.filled, text: "Only links in whose address, name, code or long form this text is; capitals do not count."),
      "inviter": .only(.form(JSONSchema.keyForm), text: "Only links of this player."),
      "campaign": .only(.filled, text: "Only links whose utm_campaign is exactly this."),
      "limit": .limit(50),
      "cursor": .cursor,
    ]
  }

  /// Short links, by address.
  package struct List: AdminValue {
    package var links: [Link]
    package var next: String?
    /// Links that were looked at for these.
    package var scanned: Int64

    package init(links: [Link], next: String? = nil, scanned: Int64) {
      self.links = links
      self.next = next
      self.scanned = scanned
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("there may be more; with filters also behind a page that is not full"),
      "scanned": .text("links that were looked at for these"),
    ]
  }

  /// Which link is meant.
  package struct LinkQuery: AdminValue {
    package var link: String

    package init(link: String) {
      self.link = link
    }

    package static let notes: [String: FieldNote] = [
      "link": .only(.filled, text: "A short link, with or without https://.")
    ]
  }

  /// What is changed of a link.
  package struct Edit: AdminValue {
    /// What it is called; an empty text takes the name away.
    package var name: String?
    /// Parameters of the long link (link, apn, st, …) as texts; null takes one away.
    package var parameters: NamedValues<JSON>?
    /// True switches it off: it opens nothing, and names no inviter.
    package var disabled: Bool?

    package init(name: String? = nil, parameters: NamedValues<JSON>? = nil, disabled: Bool? = nil) {
      self.name = name
      self.parameters = parameters
      self.disabled = disabled
    }

    package static let notes: [String: FieldNote] = [
      "name": .text("what it is called; an empty text takes the name away"),
      "parameters": .only(.object([]), text: "parameters of the long link (link, apn, st, …) as texts; null takes one away"),
      "disabled": .text("true switches it off: it opens nothing, and names no inviter"),
    ]
  }

  /// Whose counts are wanted.
  package struct StatisticsQuery: AdminValue {
    package var link: String
    package var days: Int64?

    package init(link: String, days: Int64? = nil) {
      self.link = link
      self.days = days
    }

    package static let notes: [String: FieldNote] = [
      "link": .only(.filled, text: "A short link, with or without https://."),
      "days": .only(.integer(1...36_500), text: "So many days back; 7 if it is not given."),
    ]
  }

  /// What was counted in all.
  package struct Total: AdminValue {
    package var platform: String
    package var event: String
    /// A text, as 64 bits are in the JSON of the Dynamic Links API.
    package var count: String

    package init(platform: String, event: String, count: String) {
      self.platform = platform
      self.event = event
      self.count = count
    }
  }

  /// What was counted on a day.
  package struct DayCount: AdminValue {
    package var day: String
    package var platform: String
    package var event: String
    package var count: Int64

    package init(day: String, platform: String, event: String, count: Int64) {
      self.day = day
      self.platform = platform
      self.event = event
      self.count = count
    }
  }

  /// What was counted of a link.
  package struct Statistics: AdminValue {
    package var link: String
    package var totals: [Total]
    package var days: [DayCount]

    package init(link: String, totals: [Total], days: [DayCount]) {
      self.link = link
      self.totals = totals
      self.days = days
    }
  }

  /// Links to take in.
  package struct ImportOrder: AdminValue {
    /// A table of short and long links; at most 1000 rows.
    package var csv: String
    /// Where the suffixes are to live; the rows' own prefixes if it is not given.
    package var prefix: String?
    package var dryRun: Bool?

    package init(csv: String, prefix: String? = nil, dryRun: Bool? = nil) {
      self.csv = csv
      self.prefix = prefix
      self.dryRun = dryRun
    }

    package static let notes: [String: FieldNote] = [
      "csv": .only(.filled, text: "a table of short and long links; at most 1000 rows"),
      "prefix": .text("where the suffixes are to live; the rows' own prefixes if it is not given"),
    ]
  }

  /// A row that was not taken.
  package struct RefusedRow: AdminValue {
    package var row: Int64
    package var link: String
    package var problem: String

    package init(row: Int64, link: String, problem: String) {
      self.row = row
      self.link = link
      self.problem = problem
    }
  }

  /// What became of the rows.
  package struct ImportReport: AdminValue {
    package var created: Int64
    package var unchanged: Int64
    package var refused: Int64
    /// Those that were refused.
    package var rows: [RefusedRow]

    package init(created: Int64, unchanged: Int64, refused: Int64, rows: [RefusedRow]) {
      self.created = created
      self.unchanged = unchanged
      self.refused = refused
      self.rows = rows
    }

    package static let notes: [String: FieldNote] = [
      "rows": .text("those that were refused")
    ]
  }
}
