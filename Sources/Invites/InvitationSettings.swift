import TextFormats
import TreeModel

/// Everything that can be set about invitations, as one document (`/admin/v1/invites/settings`).
package struct InvitationSettings: Sendable {
  /// One way to invite: where its links lead, how it looks, what it says.
  package struct Campaign: Sendable {
    /// The long link that invitations lead to; nil: the caller gives a link.
    package let link: String?
    /// A picture for mails; an https URL.
    package let image: String?
    /// The partner app's link, with `{{link}}` and `{{message}}` in it; nil: the channel is off.
    package let partner: String?
    /// The channels that are offered.
    package let channels: [InvitationChannel]
    /// By language.
    let templates: [String: InvitationTemplates]
  }

  /// What the texts call the app.
  package var appName = "our game"
  /// By name; ``standard`` is always there.
  package var campaigns: [String: Campaign] = [:]
  /// Mails that one player may have sent in a day.
  package var perSenderPerDay = 20
  /// Invitations that one address may get in a week, from all players together.
  package var perRecipientPerWeek = 3
  /// Whether mails carry a picture that says that they were opened. Off: it watches people who did not ask for it.
  package var tracksOpening = false

  /// The campaign that is always there.
  package static let standard = "default"

  /// The settings of a project that has none: no campaign has a link.
  package init() {
    campaigns[Self.standard] = Campaign(
      link: nil, image: nil, partner: nil, channels: InvitationChannel.allCases.filter { $0 != .partner }, templates: [:])
  }

  /// Reads the stored form. Earlier versions could be told to send mails for anonymous players; that setting is ignored.
  init(stored text: String) throws {
    let json = try JSONParser.parse(text)
    try self.init(json: json.object.map { .object($0.filter { $0.key != "mailsFromAnonymous" }) } ?? json)
  }

  /// Reads a JSON document.
  ///
  /// - Throws: ``InvitationError/invalid(_:)``, which names the member and says what it must be.
  package init(document text: String) throws {
    let json: JSON
    do {
      json = try JSONParser.parse(text)
    } catch {
      throw InvitationError.invalid("The settings are no JSON: \(error)")
    }
    try self.init(json: json)
  }

  private init(json: JSON) throws {
    self.init()
    let known: Set<String> = [
      "appName", "campaigns", "perSenderPerDay", "perRecipientPerWeek", "trackOpening",
    ]
    guard let members = json.object else { throw InvitationError.invalid("The settings must be a JSON object.") }
    if let unknown = members.first(where: { !known.contains($0.key) }) {
      throw InvitationError.invalid(
        "There is no \"\(unknown.key.prefix(80))\"; there is \(known.sorted().joined(separator: ", ")).")
    }
    if let name = json["appName"] {
      guard let text = name.string, (1...80).contains(text.utf8.count) else {
        throw InvitationError.invalid("appName must be a text of 1 to 80 bytes.")
      }
      appName = text
    }
    perSenderPerDay = try Self.number(json, "perSenderPerDay") ?? perSenderPerDay
    perRecipientPerWeek = try Self.number(json, "perRecipientPerWeek") ?? perRecipientPerWeek
    tracksOpening = json["trackOpening"]?.bool ?? false
    guard let campaigns = json["campaigns"], !campaigns.isNull else { return }
    guard let list = campaigns.object, list.count <= 100 else {
      throw InvitationError.invalid("campaigns must be an object of names and campaigns, 100 at most.")
    }
    for member in list { self.campaigns[member.key] = try Self.campaign(member.value, name: member.key) }
  }

  private static func number(_ json: JSON, _ name: String) throws -> Int? {
    guard let value = json[name], !value.isNull else { return nil }
    guard let number = value.int, (0...1_000_000).contains(number) else {
      throw InvitationError.invalid("\(name) must be an integer from 0 to 1000000.")
    }
    return Int(number)
  }

  private static func campaign(_ json: JSON, name: String) throws -> Campaign {
    let known: Set<String> = ["link", "image", "partner", "channels", "templates"]
    guard let members = json.object, members.allSatisfy({ known.contains($0.key) }) else {
      throw InvitationError.invalid(
        "campaigns.\(name.prefix(80)) must be an object of \(known.sorted().joined(separator: ", ")).")
    }
    let image = json["image"]?.string
    if let image, !image.hasPrefix("https://") {
      throw InvitationError.invalid("campaigns.\(name): image must be an https URL.")
    }
    let partner = json["partner"]?.string
    if let partner, !isPartner(partner) {
      throw InvitationError.invalid(
        "campaigns.\(name): partner must be an app's link with {{link}} in it: theirapp://invite?url={{link}}.")
    }
    var channels = InvitationChannel.allCases.filter { $0 != .partner || partner != nil }
    if let list = json["channels"]?.array {
      channels = try list.map { value in
        guard let channel = value.string.flatMap(InvitationChannel.init), channel != .partner || partner != nil else {
          throw InvitationError.invalid(
            "campaigns.\(name): channels are email, sms, copy, share, and partner if its link is given.")
        }
        return channel
      }
    }
    var templates: [String: InvitationTemplates] = [:]
    for member in json["templates"]?.object ?? [] {
      var sources: [String: String] = [:]
      for text in member.value.object ?? [] {
        guard let source = text.value.string, InvitationTemplates.names.contains(text.key) else {
          throw InvitationError.invalid(
            "campaigns.\(name).templates.\(member.key): templates are \(InvitationTemplates.names.joined(separator: ", ")).")
        }
        sources[text.key] = source
      }
      templates[member.key.lowercased()] = try InvitationTemplates(sources, over: base(member.key))
    }
    let link = json["link"]?.string
    if let link, !(link.hasPrefix("https://") || link.hasPrefix("http://")) || link.utf8.count > 7168 {
      throw InvitationError.invalid(
        "campaigns.\(name): link must be a long link: https://go.example.com/?link=https%3A%2F%2Fexample.com.")
    }
    return Campaign(link: link, image: image, partner: partner, channels: channels, templates: templates)
  }

  /// Whether a text is a link of an app: a scheme of its own, or the web.
  private static func isPartner(_ text: String) -> Bool {
    guard let scheme = URLParts(text).scheme?.lowercased() else { return false }
    let unsafe: Set<String> = ["javascript", "data", "vbscript", "file", "blob", "about", "http"]
    return text.contains("{{link}}") && !unsafe.contains(scheme) && !text.utf8.contains { $0 <= 32 || $0 >= 127 }
  }

  private static func base(_ locale: String) -> InvitationTemplates? {
    return InvitationTemplates.builtIn[LanguageTag.language(of: locale)] ?? InvitationTemplates.builtIn["en"]
  }

  /// The templates of a campaign for who reads `locales`: of the language with its region, of the language, of the next one,
  /// of English.
  func templates(_ campaign: Campaign, locales: [String]) throws -> InvitationTemplates {
    for locale in locales + ["en"] {
      let name = locale.lowercased().replacing("_", with: "-")
      let language = String(name.prefix { $0 != "-" })
      let own = campaign.templates[name] ?? campaign.templates[language]
      if let found = own ?? InvitationTemplates.builtIn[language] { return found }
    }
    throw InvitationError.unavailable("There are no templates.")
  }

  /// The settings as one JSON document, defaults included: what is stored, and what administrators read and write.
  package var document: String { json.compactText }

  private var json: JSON {
    let list = campaigns.sorted { $0.key < $1.key }.map { name, campaign in
      var members: [JSON.Member] = []
      for (key, text) in [("link", campaign.link), ("image", campaign.image), ("partner", campaign.partner)] {
        if let text { members.append(.init(key: key, value: .string(text))) }
      }
      members.append(.init(key: "channels", value: .array(campaign.channels.map { .string($0.rawValue) })))
      let templates = campaign.templates.sorted { $0.key < $1.key }.map { locale, templates in
        JSON.Member(
          key: locale,
          value: .object(templates.sources.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: .string($0.value)) }))
      }
      members.append(.init(key: "templates", value: .object(templates)))
      return JSON.Member(key: name, value: .object(members))
    }
    return [
      "appName": .string(appName), "campaigns": .object(list), "perSenderPerDay": .int(Int64(perSenderPerDay)),
      "perRecipientPerWeek": .int(Int64(perRecipientPerWeek)), "trackOpening": .bool(tracksOpening),
    ]
  }
}
