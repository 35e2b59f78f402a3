import TreeModel

extension AdminLinks {
  package static let create = Endpoint<NoQuery, Order, MadeLink>(
    .post, "/admin/v1/links", "Creates a short link; one that says the same is given again.", access: .support)
  package static let preview = Endpoint<NoQuery, PreviewOrder, Preview>(
    .post, "/admin/v1/links/preview",
    "What visitors get of a link, by device and step by step, with what is doubtful; nothing is created or counted.")
  package static let funnel = Endpoint<FunnelQuery, NoBody, Funnel>(
    .get, "/admin/v1/links/funnel",
    "What came of a link, of a player's links, or of a campaign's: clicks, installs, sign-ups, the goal, coins, by day.")

  /// How the suffix of a link is chosen.
  package enum SuffixOption: String, AdminWord {
    case unguessable = "UNGUESSABLE"
    case short = "SHORT"
    case custom = "CUSTOM"
  }

  /// A link to create.
  package struct Order: AdminValue {
    /// One of the domains: `https://go.acme.test/r`.
    package var prefix: String
    /// Parameters of a long link (link, apn, st, …) as texts.
    package var parameters: NamedValues<String>
    package var option: SuffixOption?
    /// With the option CUSTOM.
    package var suffix: String?
    package var name: String?
    /// The player who invites with it.
    package var inviter: String?

    package init(
      prefix: String, parameters: NamedValues<String>, option: SuffixOption? = nil, suffix: String? = nil,
      name: String? = nil, inviter: String? = nil
    ) {
      self.prefix = prefix
      self.parameters = parameters
      self.option = option
      self.suffix = suffix
      self.name = name
      self.inviter = inviter
    }

    package static let notes: [String: FieldNote] = [
      "prefix": .only(.filled, text: "one of the domains: https://go.acme.test/r"),
      "parameters": .text("parameters of a long link (link, apn, st, …) as texts"),
      "option": .text("how the suffix is chosen; UNGUESSABLE if it is not given"),
      "suffix": .only(.filled, text: "the suffix itself, with CUSTOM"),
      "name": .text("what listings call it; at most 200 bytes"),
      "inviter": .only(.form(JSONSchema.keyForm), text: "the player who invites with it"),
    ]
  }

  /// A link that was created, or was there.
  package struct MadeLink: AdminValue {
    package var link: Link
    package var warnings: [Warning]
    /// Whether one that says the same was there before.
    package var repeated: Bool

    private enum CodingKeys: String, CodingKey {
      case link
      case warnings = "warning"
      case repeated
    }

    package init(link: Link, warnings: [Warning], repeated: Bool) {
      self.link = link
      self.warnings = warnings
      self.repeated = repeated
    }

    package static let notes: [String: FieldNote] = [
      "repeated": .text("whether one that says the same was there before")
    ]
  }

  /// A link to look at: one that is there, or one that might be created.
  package struct PreviewOrder: AdminValue {
    /// A short link that is there.
    package var link: String?
    package var prefix: String?
    package var parameters: NamedValues<String>?
    /// The player who is to invite with it.
    package var inviter: String?

    package init(
      link: String? = nil, prefix: String? = nil, parameters: NamedValues<String>? = nil, inviter: String? = nil
    ) {
      self.link = link
      self.prefix = prefix
      self.parameters = parameters
      self.inviter = inviter
    }

    package static let notes: [String: FieldNote] = [
      "link": .only(.filled, text: "a short link that is there"),
      "prefix": .only(.filled, text: "one of the domains, of a link that is not there yet"),
      "parameters": .text("parameters of a long link (link, apn, st, …) as texts"),
      "inviter": .only(.form(JSONSchema.keyForm), text: "the player who is to invite with it"),
    ]
  }

  /// What is shown on a page, or on a card in a chat.
  package struct Card: AdminValue {
    package var title: String
    package var text: String
    /// The address of the picture, which the server never loads.
    package var image: String?

    package init(title: String, text: String, image: String?) {
      self.title = title
      self.text = text
      self.image = image
    }
  }

  /// What a visitor on a device gets.
  package struct DevicePreview: AdminValue {
    package var device: String
    /// `page`, or `redirect`.
    package var outcome: String
    /// Where the visitor goes who does not have the app.
    package var target: String
    package var app: String?
    /// Sentences, in their order.
    package var steps: [String]

    package init(device: String, outcome: String, target: String, app: String?, steps: [String]) {
      self.device = device
      self.outcome = outcome
      self.target = target
      self.app = app
      self.steps = steps
    }

    package static let notes: [String: FieldNote] = [
      "device": .only(.choice(["iphone", "ipad", "android", "desktop"])),
      "outcome": .only(.choice(["page", "redirect"])),
      "target": .text("where the visitor goes who does not have the app"),
      "steps": .text("what happens, in sentences"),
    ]
  }

  /// What visitors get.
  package struct Preview: AdminValue {
    /// Why the link cannot be created or opened; then nothing else is told.
    package var error: String?
    package var devices: [DevicePreview]
    package var card: Card?
    package var code: String?
    package var inviter: String?
    package var warnings: [Warning]

    private enum CodingKeys: String, CodingKey {
      case error
      case devices
      case card
      case code
      case inviter
      case warnings = "warning"
    }

    package init(
      error: String? = nil, devices: [DevicePreview] = [], card: Card? = nil, code: String? = nil, inviter: String? = nil,
      warnings: [Warning] = []
    ) {
      self.error = error
      self.devices = devices
      self.card = card
      self.code = code
      self.inviter = inviter
      self.warnings = warnings
    }

    package static let notes: [String: FieldNote] = [
      "error": .text("why the link cannot be created or opened; then nothing else is told"),
      "inviter": .text("the player who invites with it"),
    ]
  }

  /// Of what the funnel is wanted: exactly one of the three.
  package struct FunnelQuery: AdminValue {
    package var link: String?
    package var inviter: String?
    package var campaign: String?
    package var since: Timestamp?

    package init(link: String? = nil, inviter: String? = nil, campaign: String? = nil, since: Timestamp? = nil) {
      self.link = link
      self.inviter = inviter
      self.campaign = campaign
      self.since = since
    }

    package static let notes: [String: FieldNote] = [
      "link": .only(.filled, text: "A short link, with or without https://."),
      "inviter": .only(.form(JSONSchema.keyForm), text: "The links of this player."),
      "campaign": .only(.filled, text: "The links whose utm_campaign is this."),
      "since": .text("Days and claims not before this time, in milliseconds since 1970."),
    ]
  }

  /// So many came so far.
  package struct Stages: AdminValue {
    package var clicks: Int64
    package var installs: Int64
    package var claims: Int64
    package var signedUp: Int64
    package var reached: Int64
    package var coins: NamedValues<Int64>

    package init(
      clicks: Int64 = 0, installs: Int64 = 0, claims: Int64 = 0, signedUp: Int64 = 0, reached: Int64 = 0,
      coins: NamedValues<Int64> = NamedValues()
    ) {
      self.clicks = clicks
      self.installs = installs
      self.claims = claims
      self.signedUp = signedUp
      self.reached = reached
      self.coins = coins
    }

    package static let notes: [String: FieldNote] = [
      "installs": .text("first openings of the app that the link led to"),
      "claims": .text("players who came by it: by the proof of a click, or the code"),
      "signedUp": .text("of these, players who signed in"),
      "reached": .text("of these, players who came to the goal"),
      "coins": .text("what the inviters got for these, by unit, without what was reversed"),
    ]
  }

  /// What began on a day, by platform.
  package struct FunnelDay: AdminValue {
    package var day: String
    package var platform: String
    package var stages: Stages

    package init(day: String, platform: String, stages: Stages) {
      self.day = day
      self.platform = platform
      self.stages = stages
    }

    package static let notes: [String: FieldNote] = [
      "day": .text("of the clicks and installs, and of the claims, with what became of those players since"),
      "platform": .only(.choice(["ANDROID", "IOS", "DESKTOP", "OTHER", "CODE"]), text: "CODE: the code was typed"),
    ]
  }

  /// What came of links.
  package struct Funnel: AdminValue {
    package var totals: Stages
    package var days: [FunnelDay]
    package var goal: AdminReferrals.Goal?
    /// So many links were looked at.
    package var links: Int64
    package var complete: Bool

    package init(totals: Stages, days: [FunnelDay], goal: AdminReferrals.Goal?, links: Int64, complete: Bool) {
      self.totals = totals
      self.days = days
      self.goal = goal
      self.links = links
      self.complete = complete
    }

    package static let notes: [String: FieldNote] = [
      "days": .text("newest first"),
      "links": .text("so many links were looked at"),
      "complete": .text("false if there were too many links or claims: the first of them are counted"),
    ]
  }
}
