import Foundation
import TreeModel

/// What makes a campaign show.
enum MessageTrigger: Sendable, Equatable {
  /// The first answer of a process.
  case launch
  /// The app comes to the foreground.
  case foreground
  /// An event of this name.
  case event(String)
}

/// A campaign, as the server's answer holds it: what shows, when, how often.
///
/// What an answer lacks, or says in an unknown way, leaves out that one campaign and nothing else.
struct MessageCampaign: Sendable, Equatable {
  /// What shows, by its form. Texts are plain; colours are `#RRGGBB`.
  struct Content: Sendable, Equatable {
    var type: InAppMessagingDisplayMessageType
    var title: String?
    var body: String?
    var textColor = "#000000"
    var background = "#FFFFFF"
    /// Card: the upright picture; else the only one.
    var image: String?
    var landscapeImage: String?
    var primary: InAppMessagingActionButton?
    var secondary: InAppMessagingActionButton?
    var primaryURL: URL?
    var secondaryURL: URL?
  }

  /// A trigger, and what must hold beside.
  struct Condition: Sendable, Equatable {
    var trigger: MessageTrigger
    var parameters: MessageConditions
  }

  var id: String
  var name: String
  var isTest: Bool
  /// Milliseconds since 1970, both ends within.
  var start: Int64
  var end: Int64
  /// What makes it show, each with what it asks of an event's parameters.
  var triggers: [Condition]
  var content: Content
  /// Whether it shows nothing, and is only counted: what an experiment is compared with.
  var isControl: Bool
  var data: [String: String]?
  /// Of an experiment, for the log.
  var variant: String?
  /// The server's event that this message answers.
  var eventID: String?
  /// Nil where the server keeps count alone.
  var frequency: MessageFrequency?
  var presentation: InAppMessagingPresentation

  /// - Returns: nil for what cannot be shown.
  init?(_ json: JSON) {
    isTest = json["isTestCampaign"]?.bool ?? false
    let experiment = json["experimentalPayload"]
    let own = json["doubloon"]
    isControl = own?["control"]?.bool ?? false
    guard let payload = experiment ?? json["vanillaPayload"], let id = payload["campaignId"]?.string, !id.isEmpty else {
      return nil
    }
    // A control has no content; what it has here nobody sees.
    let content = json["content"]?.object?.lazy.compactMap({ Content($0.key, $0.value) }).first
    guard let content = content ?? (isControl ? Content(type: .modal) : nil) else { return nil }
    guard let name = payload["campaignName"]?.string ?? (isTest ? id : nil) else { return nil }
    (self.id, self.name, self.content) = (id, name, content)
    variant = own?["variant"]?.string ?? experiment?["experimentPayload"]?["variantId"]?.string
    start = payload["campaignStartTimeMillis"]?.number ?? 0
    end = payload["campaignEndTimeMillis"]?.number ?? .max
    let wheres = own?["where"]?.array ?? []
    triggers = (json["triggeringConditions"]?.array ?? []).enumerated().compactMap { index, condition in
      let trigger: MessageTrigger? =
        switch condition["fiamTrigger"]?.string {
        case "APP_LAUNCH": .launch
        case "ON_FOREGROUND": .foreground
        default: condition["event"]?["name"]?.string.map { .event($0) }
        }
      let parameters = MessageConditions(wheres.indices.contains(index) ? wheres[index] : .null)
      return trigger.map { Condition(trigger: $0, parameters: parameters) }
    }
    guard isTest || !triggers.isEmpty else { return nil }
    if let pairs = json["dataBundle"]?.object {
      data = Dictionary(pairs.compactMap { pair in pair.value.string.map { (pair.key, $0) } }) { $1 }
    }
    eventID = own?["eventId"]?.string
    frequency = own?["frequency"].flatMap { $0.object == nil ? nil : MessageFrequency($0) }
    presentation = InAppMessagingPresentation(own)
  }

  /// Whether it answers a trigger; parameters count for an event of the app.
  func answers(_ trigger: MessageTrigger, parameters: [String: JSON] = [:]) -> Bool {
    // What waits for an event of the server's shows by that event, not by every foreground.
    if trigger == .foreground, eventID != nil { return false }
    return triggers.contains { $0.trigger == trigger && $0.parameters.hold(parameters) }
  }
}

extension MessageCampaign.Content {
  fileprivate init?(_ layout: String, _ json: JSON) {
    switch layout {
    case "card": type = .card
    case "modal": type = .modal
    case "banner": type = .banner
    case "imageOnly": type = .imageOnly
    default: return nil
    }
    title = json["title"]?["text"]?.string
    body = json["body"]?["text"]?.string
    textColor = Self.color(json["title"]?["hexColor"]) ?? textColor
    background = Self.color(json["backgroundHexColor"]) ?? background
    image = Self.image(json[type == .card ? "portraitImageUrl" : "imageUrl"])
    landscapeImage = type == .card ? Self.image(json["landscapeImageUrl"]) : nil
    primary = Self.button(json[type == .card ? "primaryActionButton" : "actionButton"])
    primaryURL = Self.url(json[type == .card ? "primaryAction" : "action"])
    if type == .card {
      secondary = Self.button(json["secondaryActionButton"])
      secondaryURL = Self.url(json["secondaryAction"])
    }
    guard type == .imageOnly || title?.isEmpty == false else { return nil }
    guard image != nil || type == .modal || type == .banner else { return nil }
    guard type != .card || primary != nil else { return nil }
  }

  private static func button(_ json: JSON?) -> InAppMessagingActionButton? {
    guard let text = json?["text"]?["text"]?.string, !text.isEmpty else { return nil }
    return InAppMessagingActionButton(
      buttonText: text, buttonTextColor: color(json?["text"]?["hexColor"]) ?? "#FFFFFF",
      buttonBackgroundColor: color(json?["buttonHexColor"]) ?? "#000000")
  }

  private static func color(_ json: JSON?) -> String? {
    guard let text = json?.string, text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#") else { return nil }
    return text.utf8.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } ? text : nil
  }

  /// Pictures come over TLS, or from this machine for a developer; anything else is no picture.
  private static func image(_ json: JSON?) -> String? {
    guard let url = url(json), let scheme = url.scheme?.lowercased() else { return nil }
    let isLocal = scheme == "http" && ["127.0.0.1", "localhost"].contains(url.host ?? "")
    return scheme == "https" || isLocal ? url.absoluteString : nil
  }

  /// Blanks are removed, as Firebase's SDK does. What runs code instead of leading somewhere is no action.
  private static func url(_ json: JSON?) -> URL? {
    guard let text = json?.string ?? json?["actionUrl"]?.string else { return nil }
    guard let url = URL(string: text.filter { !$0.isWhitespace }), let scheme = url.scheme?.lowercased() else { return nil }
    return ["javascript", "data", "vbscript", "file"].contains(scheme) ? nil : url
  }
}

/// An event of the server's that waits for a display: a reward, a friend who joined.
struct MessageEvent: Sendable, Equatable {
  var id: String
  var name: String
  var parameters: [String: JSON]

  init?(_ json: JSON) {
    guard let id = json["id"]?.string, let name = json["name"]?.string else { return nil }
    (self.id, self.name) = (id, name)
    parameters = Dictionary((json["params"]?.object ?? []).map { ($0.key, $0.value) }) { $1 }
  }

  /// How campaigns name it.
  var trigger: MessageTrigger { .event("doubloon_" + name) }
}

/// What a fetch brought.
struct MessageAnswer: Sendable {
  var campaigns: [MessageCampaign]
  var events: [MessageEvent]
  /// When the next fetch is due, by the server's word in milliseconds since 1970; nil if it says none.
  var expiration: Int64?
  /// What the server decides of times, in milliseconds.
  var impressionAfter: Int64?
  var bannerFor: Int64?
  var minInterval: Int64?
  var foregroundInterval: Int64?

  /// - `json`: as it came; campaigns that cannot be shown are left out.
  init(_ json: JSON) {
    campaigns = (json["messages"]?.array ?? []).compactMap { MessageCampaign($0) }
    events = (json["doubloon"]?["pendingEvents"]?.array ?? []).compactMap { MessageEvent($0) }
    expiration = json["expirationEpochTimestampMillis"]?.number
    let settings = json["doubloon"]?["settings"]
    func milliseconds(_ name: String) -> Int64? {
      settings?[name]?.double.flatMap { (0...2_592_000).contains($0) ? Int64($0 * 1000) : nil }
    }
    impressionAfter = milliseconds("impressionSeconds")
    bannerFor = milliseconds("bannerSeconds")
    minInterval = milliseconds("minInterval")
    foregroundInterval = milliseconds("foregroundInterval")
  }
}
