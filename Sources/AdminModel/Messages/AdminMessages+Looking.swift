package import TreeModel

extension AdminMessages {
  package static let explain = Endpoint<NoQuery, ExplainOrder, Explanation>(
    .post, "/admin/v1/messages/{id}/explain",
    "Why a device, or a player, gets a campaign or does not: each condition, and the first that fails.", captures: [campaign])
  package static let statistics = Endpoint<StatisticsQuery, NoBody, Statistics>(
    .get, "/admin/v1/messages/{id}/stats", "What came of a campaign, by variant and by day.", captures: [campaign])
  package static let images = Endpoint<NoQuery, NoBody, ImageList>(
    .get, "/admin/v1/messages/images", "Pictures that the server itself serves, with their addresses.")
  package static let devices = Endpoint<DeviceQuery, NoBody, DeviceList>(
    .get, "/admin/v1/messages/devices", "Instances of apps, those that fetched last first: how the own device is found.")
  package static let forgetDevice = Endpoint<ReasonQuery, NoBody, Done>(
    .delete, "/admin/v1/messages/devices/{instance}", "Forgets an instance and what it has seen.", access: .admin,
    captures: [.capture("instance", text: "An instance's id.")])
  package static let events = Endpoint<EventQuery, NoBody, EventList>(
    .get, "/admin/v1/messages/events", "Events of a player that wait for a message, or were shown one.")
  package static let raise = Endpoint<NoQuery, EventOrder, RaisedEvent>(
    .post, "/admin/v1/messages/events", "Raises an event for a player by hand; nothing is kept where no campaign waits for it.",
    access: .support)
  package static let settings = Endpoint<NoQuery, NoBody, Settings>(
    .get, "/admin/v1/messages/settings", "The settings of in-app messages.")
  package static let putSettings = Endpoint<NoQuery, SettingsOrder, Settings>(
    .put, "/admin/v1/messages/settings", "Replaces the settings of in-app messages; what is not named takes its default.",
    access: .admin)

  /// The settings to be. What is not named takes its default.
  package struct SettingsOrder: AdminValue {
    package var fetchInterval: JSON?
    package var foregroundInterval: JSON?
    package var minInterval: JSON?
    package var impressionSeconds: JSON?
    package var bannerSeconds: JSON?
    package var eventDays: JSON?
    package var instanceDays: JSON?
    package var streams: JSON?
    package var maxPublished: JSON?
    package var hosts: JSON?
    package var projectNumber: JSON?

    package static let notes: [String: FieldNote] = settingsNotes
  }

  /// The settings that hold; times are texts such as `30s` and `1h`.
  package struct Settings: AdminValue {
    package var fetchInterval: String
    package var foregroundInterval: String
    package var minInterval: String
    package var impressionSeconds: Int64
    package var bannerSeconds: Int64
    package var eventDays: Int64
    package var instanceDays: Int64
    package var streams: Bool
    package var maxPublished: Int64
    package var hosts: [String]
    package var projectNumber: String?

    package static let notes: [String: FieldNote] = settingsNotes
  }

  private static let settingsNotes: [String: FieldNote] = [
    "fetchInterval": .text("how long apps wait before they fetch again: 30s, 10min, 1h"),
    "foregroundInterval": .text("how long after a message at a start or in the foreground the next one may come"),
    "minInterval": .text("between any two messages"),
    "impressionSeconds": .text("how long a message must be seen to count"),
    "bannerSeconds": .text("when a banner closes by itself"),
    "eventDays": .text("how long an event waits for its player"),
    "instanceDays": .text("after how many days without a fetch an instance is forgotten"),
    "streams": .text("whether open apps are told at once"),
    "maxPublished": .text("how many campaigns may be published"),
    "hosts": .text("host names at which POST /log is the messages' own"),
    "projectNumber": .text("the number in app ids; any if it is not given"),
  ]

  /// For whom it is asked: exactly one of the two.
  package struct ExplainOrder: AdminValue {
    package var instance: String?
    package var uid: String?

    package init(instance: String? = nil, uid: String? = nil) {
      self.instance = instance
      self.uid = uid
    }

    package static let notes: [String: FieldNote] = [
      "instance": .only(.filled, text: "an instance's id"),
      "uid": .only(.form(JSONSchema.keyForm), text: "a player: the instance that fetched last is judged"),
    ]
  }

  /// One condition of a campaign.
  package struct Condition: AdminValue {
    /// What is asked: `state`, `audience.languages`.
    package var name: String
    /// What was found.
    package var value: JSON
    package var holds: Bool

    package init(name: String, value: JSON, holds: Bool) {
      self.name = name
      self.value = value
      self.holds = holds
    }

    package static let notes: [String: FieldNote] = [
      "name": .text("what is asked: state, audience.languages"), "value": .text("what was found"),
    ]
  }

  /// Why somebody gets a campaign or does not.
  package struct Explanation: AdminValue {
    package var id: String
    package var instance: String?
    package var uid: String?
    /// Whether the next fetch brings it.
    package var eligible: Bool
    /// The name of the first condition that fails.
    package var failed: String?
    package var conditions: [Condition]

    package init(id: String, instance: String?, uid: String?, eligible: Bool, failed: String?, conditions: [Condition]) {
      self.id = id
      self.instance = instance
      self.uid = uid
      self.eligible = eligible
      self.failed = failed
      self.conditions = conditions
    }

    package static let notes: [String: FieldNote] = [
      "eligible": .text("whether the next fetch brings it"),
      "failed": .text("the name of the first condition that fails"),
      "conditions": .text("in the order in which they are judged"),
    ]
  }

  /// How far back it is looked.
  package struct StatisticsQuery: AdminValue {
    package var days: Int64?

    package init(days: Int64? = nil) { self.days = days }

    package static let notes: [String: FieldNote] = [
      "days": .only(.integer(1...400), text: "So many days back, today is one; 7 if it is not given.")
    ]
  }

  /// How many clicks and conversions came of impressions.
  package struct Rate: AdminValue {
    /// Of one day (UTC); nil of all days together.
    package var day: String?
    package var variant: String?
    package var impressions: Int64
    package var clicks: Int64
    /// 0 to 1, as `low` and `high`, the ends of the interval in which it is with 95 % certainty (Wilson).
    package var rate: JSON?
    package var low: JSON?
    package var high: JSON?
    package var conversions: Int64
    /// Of the displays; of those that a control would have had, too.
    package var conversionRate: JSON?
    package var conversionLow: JSON?
    package var conversionHigh: JSON?

    package static let notes: [String: FieldNote] = [
      "day": .text("the day (UTC); missing where it is of all days together"),
      "rate": .text("clicks by impressions, 0 to 1; missing without impressions"),
      "low": .text("the lower end of the 95 % interval (Wilson)"),
      "high": .text("the upper end of the 95 % interval (Wilson)"),
      "conversions": .text("how often the goal was reached"),
      "conversionRate": .text("conversions by displays, 0 to 1; of a control by the displays that it would have had"),
      "conversionLow": .text("the lower end of its 95 % interval"),
      "conversionHigh": .text("the upper end of its 95 % interval"),
    ]
  }

  /// What was counted in all.
  package struct Total: AdminValue {
    package var variant: String?
    package var kind: String
    /// Of a click the button; of a dismissal and an error its type.
    package var detail: String?
    package var count: Int64

    package static let notes: [String: FieldNote] = [
      "kind": .text(
        "served, impression, instance (a device that saw it), click, dismissal, error, suppressed, control, conversion, coins"),
      "detail": .text("of a click the button; of a dismissal and an error its type; of coins their currency"),
      "count": .text("how many; of coins the amount that was granted to players who reached the goal, in minor units"),
    ]
  }

  /// What was counted on a day (UTC).
  package struct DayCount: AdminValue {
    package var day: String
    package var variant: String?
    package var kind: String
    package var detail: String?
    package var count: Int64

    package init(day: String, variant: String?, kind: String, detail: String?, count: Int64) {
      self.day = day
      self.variant = variant
      self.kind = kind
      self.detail = detail
      self.count = count
    }
  }

  /// What came of a campaign.
  package struct Statistics: AdminValue {
    package var campaign: String
    package var days: [DayCount]
    package var totals: [Total]
    package var rates: [Rate]
    package var daily: [Rate]

    package init(campaign: String, days: [DayCount], totals: [Total], rates: [Rate], daily: [Rate]) {
      self.campaign = campaign
      self.days = days
      self.totals = totals
      self.rates = rates
      self.daily = daily
    }

    package static let notes: [String: FieldNote] = [
      "rates": .text("clicks and conversions of displays, by variant"), "daily": .text("the same by day and variant"),
    ]
  }

  /// A picture of the folder `messages.images`.
  package struct Image: AdminValue {
    package var name: String
    package var address: String
    package var type: String
    package var bytes: Int64

    package init(name: String, address: String, type: String, bytes: Int64) {
      self.name = name
      self.address = address
      self.type = type
      self.bytes = bytes
    }

    package static let notes: [String: FieldNote] = [
      "address": .text("what a campaign names; a path alone where the configuration has no accounts.publicURL"),
      "type": .text("its media type: image/png"),
    ]
  }

  /// Pictures, by name.
  package struct ImageList: AdminValue {
    package var images: [Image]

    package init(images: [Image]) { self.images = images }
  }

  /// Which devices are wanted.
  package struct DeviceQuery: AdminValue {
    package var uid: String?
    package var limit: Int64?

    package init(uid: String? = nil, limit: Int64? = nil) {
      self.uid = uid
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "uid": .only(.form(JSONSchema.keyForm), text: "Only devices of this player."),
      "limit": .limit(50),
    ]
  }

  /// An app on a device, or in a browser.
  package struct Device: AdminValue {
    package var instance: String
    package var appId: String
    package var platform: String
    package var appVersion: String
    package var osVersion: String
    package var language: String
    package var timeZone: String
    package var uid: String?
    package var firstSeen: Timestamp
    package var lastSeen: Timestamp
    package var sessions: Int64

    package static let notes: [String: FieldNote] = [
      "uid": .text("the player who was signed in at the last fetch"),
      "sessions": .text("visits with half an hour and more between"),
    ]
  }

  /// Devices, those that fetched last first.
  package struct DeviceList: AdminValue {
    package var devices: [Device]
  }

  /// Whose events are wanted.
  package struct EventQuery: AdminValue {
    package var uid: String

    package init(uid: String) { self.uid = uid }

    package static let notes: [String: FieldNote] = [
      "uid": .only(.form(JSONSchema.keyForm), text: "The player.")
    ]
  }

  /// Something that happened at the server, for a player.
  package struct Event: AdminValue {
    package var id: String
    package var uid: String
    package var name: String
    package var params: JSON
    package var at: Timestamp
    package var expires: Timestamp
    /// The campaign that was shown because of it.
    package var campaign: String?
    package var shownAt: Timestamp?

    package static let notes: [String: FieldNote] = [
      "params": .only(.object([])),
      "campaign": .text("the campaign that was shown because of it"),
    ]
  }

  /// Events, oldest first.
  package struct EventList: AdminValue {
    package var events: [Event]

    package init(events: [Event]) { self.events = events }
  }

  /// An event to raise.
  package struct EventOrder: AdminValue {
    package var name: String
    package var uid: String
    package var params: NamedValues<JSON>?
    /// The same key raises it once.
    package var key: String?
    package var reason: String?

    package init(name: String, uid: String, params: NamedValues<JSON>? = nil, key: String? = nil, reason: String? = nil) {
      self.name = name
      self.uid = uid
      self.params = params
      self.key = key
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "name": .only(.filled, text: "what campaigns wait for: reward, or a name of your own"),
      "uid": .only(.form(JSONSchema.keyForm), text: "the player"),
      "params": .only(.object([]), text: "at most 20 texts, numbers and booleans"),
      "key": .only(.filled, text: "the same key raises it once; a new one is made if it is not given"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// What became of an event that was raised.
  package struct RaisedEvent: AdminValue {
    /// Nil where no published campaign waits for it.
    package var event: Event?

    package init(event: Event?) { self.event = event }

    package static let notes: [String: FieldNote] = [
      "event": .text("missing where no published campaign waits for it: nothing is kept then")
    ]
  }
}
