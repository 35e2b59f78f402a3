import Messages
import TreeModel

/// The answer to a fetch. Times are texts: on iOS a number reads as 0, and 0 is over.
struct FetchAnswer {
  let answer: MessageAnswer
  /// Whether the client is one of this server's: it is told more.
  let isOwn: Bool

  var json: JSON {
    let messages = answer.messages.filter { isOwn || !$0.isControl }
    return JSON(fields: [
      ("messages", .array(messages.map(message))), ("expirationEpochTimestampMillis", .string(String(answer.expires))),
      ("doubloon", isOwn ? own : JSON?.none),
    ])
  }

  private var own: JSON {
    let settings = answer.settings
    return [
      "pendingEvents": .array(answer.pending.map(\.clientJSON)),
      "settings": [
        "impressionSeconds": .int(settings.impressionTime / 1000), "bannerSeconds": .int(settings.bannerTime / 1000),
        "minInterval": .int(settings.minInterval / 1000), "foregroundInterval": .int(settings.foregroundInterval / 1000),
      ],
    ]
  }

  private func message(_ served: ServedMessage) -> JSON {
    let document = served.campaign.document
    let triggers = shownTriggers(served)
    return JSON(fields: [
      ("vanillaPayload", served.variant == nil ? .object(payload(served)) : JSON?.none),
      ("experimentalPayload", served.variant.map { experiment(served, variant: $0) }),
      ("content", served.isControl ? JSON?.none : [document.layout.rawValue: content(served)]),
      ("priority", ["value": .int(Int64(document.priority))]), ("triggeringConditions", .array(triggers.map(\.json))),
      ("dataBundle", document.attachments.isEmpty ? JSON?.none : .object(document.attachments)),
      ("isTestCampaign", .bool(served.isTest)), ("doubloon", isOwn ? own(served, triggers: triggers) : JSON?.none),
    ])
  }

  private func payload(_ served: ServedMessage) -> [JSON.Member] {
    [
      JSON.Member(key: "campaignId", value: .string(served.campaign.id)),
      JSON.Member(key: "campaignName", value: .string(served.campaign.document.name)),
      JSON.Member(key: "campaignStartTimeMillis", value: .string(String(served.start))),
      JSON.Member(key: "campaignEndTimeMillis", value: .string(String(served.end ?? .max))),
    ]
  }

  private func experiment(_ served: ServedMessage, variant: String) -> JSON {
    let payload: JSON = [
      "experimentId": .string(served.campaign.id), "variantId": .string(variant),
      "experimentStartTimeMillis": .string(String(served.start)), "triggerTimeoutMillis": "15552000000",
      "timeToLiveMillis": "15552000000",
    ]
    return .object(self.payload(served) + [JSON.Member(key: "experimentPayload", value: payload)])
  }

  // MARK: Triggers

  private struct ShownTrigger {
    let json: JSON
    var conditions: [ParameterCondition] = []
  }

  /// What can fire at this client: conditions on the app's own events are for clients that look at them.
  private func shownTriggers(_ served: ServedMessage) -> [ShownTrigger] {
    var shown: [ShownTrigger] = []
    for trigger in served.triggers {
      switch trigger {
      case .launch: shown.append(ShownTrigger(json: ["fiamTrigger": "APP_LAUNCH"]))
      case .foreground: shown.append(ShownTrigger(json: ["fiamTrigger": "ON_FOREGROUND"]))
      case .event(let name, let conditions):
        guard conditions.isEmpty || isOwn else { continue }
        shown.append(ShownTrigger(json: ["event": ["name": .string(name)]], conditions: conditions))
      case .server(let name, _):
        shown.append(ShownTrigger(json: ["fiamTrigger": "ON_FOREGROUND"]))
        shown.append(ShownTrigger(json: ["event": ["name": .string("doubloon_\(name)")]]))
      }
    }
    return shown
  }

  // MARK: Content

  private func content(_ served: ServedMessage) -> JSON {
    let (content, texts, colors) = (served.content, served.texts, served.content.colors)
    let title = texts.title.map { Self.text($0, colors.text) }
    let body = texts.body.map { Self.text($0, colors.text) }
    let background = JSON.string(colors.background)
    func button(_ text: String?, color: String) -> JSON? {
      text.map { ["text": Self.text($0, color), "buttonHexColor": .string(colors.button)] }
    }
    let primary = button(texts.primary, color: colors.primaryText)
    switch served.campaign.document.layout {
    case .card:
      return JSON(fields: [
        ("title", title), ("body", body), ("portraitImageUrl", content.portraitImage.map(JSON.string)),
        ("landscapeImageUrl", content.landscapeImage.map(JSON.string)), ("backgroundHexColor", background),
        ("primaryActionButton", primary), ("primaryAction", Self.action(content.primaryAction)),
        ("secondaryActionButton", texts.secondary.map { ["text": Self.text($0, colors.secondaryText)] }),
        ("secondaryAction", texts.secondary == nil ? JSON?.none : Self.action(content.secondaryAction)),
      ])
    case .modal:
      return JSON(fields: [
        ("title", title), ("body", body), ("imageUrl", content.image.map(JSON.string)), ("backgroundHexColor", background),
        ("actionButton", primary), ("action", primary == nil ? JSON?.none : Self.action(content.primaryAction)),
      ])
    case .banner:
      return JSON(fields: [
        ("title", title), ("body", body), ("imageUrl", content.image.map(JSON.string)), ("backgroundHexColor", background),
        ("action", content.action == nil ? JSON?.none : Self.action(content.action)),
      ])
    case .imageOnly:
      return JSON(fields: [
        ("imageUrl", content.image.map(JSON.string)),
        ("action", content.action == nil ? JSON?.none : Self.action(content.action)),
      ])
    }
  }

  private static func text(_ text: String, _ color: String) -> JSON { ["text": .string(text), "hexColor": .string(color)] }

  /// Where it leads; an empty address closes.
  private static func action(_ action: String?) -> JSON {
    guard let action, action != MessageContent.dismissal else { return ["actionUrl": ""] }
    return ["actionUrl": .string(action)]
  }

  private func own(_ served: ServedMessage, triggers: [ShownTrigger]) -> JSON {
    let document = served.campaign.document
    let conditions = triggers.map { trigger -> JSON in
      trigger.conditions.isEmpty
        ? .null : .object(trigger.conditions.map { JSON.Member(key: $0.name, value: $0.comparison.json) })
    }
    return JSON(fields: [
      ("eventId", served.events.first.map { .string($0.id) }),
      ("events", served.events.isEmpty ? JSON?.none : .array(served.events.map { .string($0.id) })),
      ("where", triggers.contains { !$0.conditions.isEmpty } ? .array(conditions) : nil),
      ("imageAlt", served.imageAlt.map(JSON.string)), ("language", .string(served.language)),
      ("direction", .string(served.isRightToLeft ? "rtl" : "ltr")), ("frequency", document.frequency.json),
      ("dismissOutside", .bool(document.dismissesOutside)), ("variant", served.variant.map(JSON.string)),
      ("control", served.isControl ? .bool(true) : nil), ("hash", .string(served.digest)),
    ])
  }
}
