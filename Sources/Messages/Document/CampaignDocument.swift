package import TreeModel

/// What a campaign says, to whom, when and how often: its document, read and checked.
package struct CampaignDocument: Sendable {
  /// The document as it was sent, without what the server adds.
  package let source: JSON
  /// The length of the document as JSON.
  var bytes = 0
  /// Its own name for programs; nil where the server is to make one.
  package var id: String?
  /// For people.
  package var name = ""
  package var layout = MessageLayout.modal
  package var content = MessageContent()
  package var triggers: [MessageTrigger] = []
  package var schedule = MessageSchedule()
  /// 1, the first, to 10.
  package var priority = 5
  package var audience = MessageAudience()
  package var frequency = MessageFrequency()
  /// Handed to the app as it is.
  package var attachments: [JSON.Member] = []
  package var conversion: MessageConversion?
  package var variants: [MessageVariant] = []
  /// Instances that get it as a test.
  package var testDevices: [String] = []
  /// What templates may say beside the event's values: names, and paths with `{uid}`.
  package var variables: [String: PathPattern] = [:]
  /// Whether a tap beside the message closes it.
  package var dismissesOutside = true

  init(source: JSON) {
    self.source = source
  }

  /// The triggers that the server itself fires.
  var serverTriggers: [(name: String, conditions: [ParameterCondition])] {
    triggers.compactMap { if case .server(let name, let conditions) = $0 { (name, conditions) } else { nil } }
  }

  /// What a variant shows; the campaign's own content where there are no variants.
  func content(of variant: String?) -> MessageContent {
    variants.first { $0.name == variant }?.content ?? content
  }
}

/// How a message looks.
package enum MessageLayout: String, Sendable, Hashable, CaseIterable {
  case banner, card, modal, imageOnly
}

/// What a message shows.
package struct MessageContent: Sendable, Hashable {
  /// The language of readers of none of the others.
  package var defaultLanguage = ""
  /// By language tag.
  package var texts: [String: MessageTexts] = [:]
  package var portraitImage: String?
  package var landscapeImage: String?
  package var image: String?
  /// What is said in the place of the image, by language tag.
  package var imageAlt: [String: String] = [:]
  package var colors = MessageColors()
  /// An address, `dismiss:`, or nil, which closes too.
  package var primaryAction: String?
  package var secondaryAction: String?
  package var action: String?

  /// Whether following it leads somewhere.
  var hasURL: Bool { [primaryAction, secondaryAction, action].contains { $0 != nil && $0 != MessageContent.dismissal } }

  /// An action that only closes.
  package static let dismissal = "dismiss:"
}

/// The words of a message in one language, with templates.
package struct MessageTexts: Sendable, Hashable {
  package var title: String?
  package var body: String?
  package var primary: String?
  package var secondary: String?

  /// All of them, with their names.
  var named: [(name: String, text: String)] {
    [("title", title), ("body", body), ("primary", primary), ("secondary", secondary)].compactMap { name, text in
      text.map { (name, $0) }
    }
  }
}

/// `#RRGGBB` each.
package struct MessageColors: Sendable, Hashable {
  package var text = "#000000"
  package var background = "#ffffff"
  package var button = "#000000"
  package var primaryText = "#ffffff"
  package var secondaryText = "#000000"
}

/// What makes a message appear.
package enum MessageTrigger: Sendable, Hashable {
  /// The first answer that a process of the app gets.
  case launch
  /// The app comes to the foreground.
  case foreground
  /// The app reports it.
  case event(String, where: [ParameterCondition])
  /// The server writes it for a player.
  case server(String, where: [ParameterCondition])
}

/// A condition on one parameter of an event.
package struct ParameterCondition: Sendable, Hashable {
  /// The parameter.
  package let name: String
  package let comparison: Comparison
}

/// When a campaign runs, in the campaign's time zone or the device's.
package struct MessageSchedule: Sendable, Hashable {
  /// nil: from its publication.
  package var start: LocalTime?
  /// nil: for ever.
  package var end: LocalTime?
  /// An IANA name; nil for the device's own.
  package var timeZone: String?
}

/// How often one instance, or one player, may see a campaign.
package struct MessageFrequency: Sendable, Hashable {
  /// At most so many in so many days.
  package struct Cap: Sendable, Hashable {
    package let count: Int
    package let days: Int
  }

  /// Displays altogether; nil for any number.
  package var lifetime: Int? = 1
  package var caps: [Cap] = []
  /// Whether the displays on all instances of the player count together.
  package var isPerPlayer = false

  /// As clients get it.
  package var json: JSON {
    JSON(fields: [
      ("lifetime", lifetime.map { .int(Int64($0)) }),
      (
        "caps",
        caps.isEmpty ? JSON?.none : .array(caps.map { ["count": .int(Int64($0.count)), "days": .int(Int64($0.days))] })
      ),
    ])
  }
}

/// What a campaign is for, as far as it can be counted.
package struct MessageConversion: Sendable, Hashable {
  package let event: String
  /// Whether the server's own events are meant.
  package let isServer: Bool
  /// How long after a display it still counts.
  package let days: Int
}

/// One of several forms of a message that are compared.
package struct MessageVariant: Sendable, Hashable {
  package let name: String
  /// Of 100.
  package let weight: Int
  /// Whether nothing is shown.
  package let isControl: Bool
  /// The campaign's content with the variant's over it.
  package let content: MessageContent
}
