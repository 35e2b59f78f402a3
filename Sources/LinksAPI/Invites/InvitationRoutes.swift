import APISupport
import HTTPServer
import Invites
import Links
import NIOHTTP1
import StorageCore
import TreeModel

/// Invitations: what they say, sending them, how far they came (spec: links-messaging §5).
package enum InvitationRoutes {
  package static let routes: [Route] = [
    post("/invites/render", "What an invitation says on a channel.", render),
    post("/v1/invites:render", "The same.", render),
    post("/v1/invites:send", "Makes an invitation of a player's; mails are sent.", send),
    get("/v1/invites/channels", "The channels that are offered on a device.", channels),
    get("/v1/invites/{id}", "How far an invitation came.", show),
    .get("/v1/invites/{id}/image.png", "Notes that a mail was opened, where that is on.", opened),
    .get("/v1/invites/{id}/unsubscribe", "Asks whether the recipient wants no more invitations.", confirm),
    .mutate(
      .POST, "/v1/invites/{id}/unsubscribe", audit: nil, "Takes the recipient off the list, with one click (RFC 8058).",
      access: .open, unsubscribe),
  ]

  private typealias Body = @Sendable (InvitationAccess, JSON) async throws(LinkError) -> JSON

  private static func post(_ template: RouteTemplate, _ summary: String, _ body: @escaping Body) -> Route {
    .mutate(.POST, template, audit: nil, summary, access: .open) { (call: RouteCall) async throws(APIError) in
      await answer(call, body)
    }
  }

  private static func get(_ template: RouteTemplate, _ summary: String, _ body: @escaping Body) -> Route {
    .mutate(.GET, template, audit: nil, summary, access: .open) { (call: RouteCall) async throws(APIError) in
      await answer(call, body)
    }
  }

  private static func answer(_ call: RouteCall, _ body: Body) async -> HTTPResponse {
    do throws(LinkError) {
      let json: JSON
      do throws(APIError) {
        json = try call.body()
      } catch {
        throw LinkError(.invalidArgument, error.message)
      }
      return .json(try await body(try InvitationAccess(call), json))
    } catch {
      return error.response
    }
  }

  // MARK: Words

  @Sendable private static func render(_ access: InvitationAccess, _ json: JSON) async throws(LinkError) -> JSON {
    let caller = try access.caller()
    let wish = try InvitationRequest(json, access.call.request.headers)
    let link: String
    if let given = json["link"]?.string {
      guard let url = LinkURL(given), url.isWeb else { throw LinkError(.invalidArgument, "link must be a URL.") }
      link = url.text
    } else {
      link = try await access.link(wish, owner: access.player(caller, json), invite: nil, for: caller)
    }
    return try asking { () throws(InvitationError) in
      try access.invites.content(
        wish.channel, campaign: wish.campaign, locales: wish.locales, inviter: wish.inviter, message: wish.message, link: link)
    }.json
  }

  @Sendable private static func channels(_ access: InvitationAccess, _ json: JSON) async throws(LinkError) -> JSON {
    let query = access.call.query
    let device =
      query["device"] ?? LinkVisitor(userAgent: access.call.request.headers.first(name: "user-agent") ?? "").device.rawValue
    guard ["iphone", "ipad", "android", "desktop", "other"].contains(device) else {
      throw LinkError(.invalidArgument, "device must be iphone, ipad, android or desktop.")
    }
    let name = query["campaign"] ?? InvitationSettings.standard
    let campaign = try asking { () throws(InvitationError) in try access.invites.campaign(name) }
    let canSendMail = query["canSendMail"] != "false"
    let locales = query["locale"].map { [$0] } ?? AcceptLanguage.locales(access.call.request.headers)
    let screen = try asking { () throws(InvitationError) in try access.invites.screen(campaign: name, locales: locales) }
    return [
      "screen": .record([
        ("title", .string(screen.title)), ("text", .string(screen.text)), ("image", screen.image.map(JSON.string)),
      ]),
      "channels": .array(
        campaign.channels.map { channel in
          [
            "channel": .string(channel.rawValue), "name": .string(channel.name(in: locales)), "icon": .string(channel.icon),
            "isAvailable": .bool(channel.isAvailable(on: device, canSendMail: canSendMail)),
          ]
        }),
    ]
  }

  // MARK: Sending

  @Sendable private static func send(_ access: InvitationAccess, _ json: JSON) async throws(LinkError) -> JSON {
    let caller = try access.caller()
    let player = try access.player(caller, json)
    let wish = try InvitationRequest(json, access.call.request.headers)
    let mail = wish.channel == .email ? try mail(access, json, caller, player) : nil
    let id = access.invites.newID()
    let link = try await access.link(wish, owner: player, invite: id, for: caller)
    let place = "https://\(link.dropFirst("https://".count).prefix { $0 != "/" })/v1/invites/\(id)"
    let content = try asking { () throws(InvitationError) in
      guard let mail else {
        return try access.invites.content(
          wish.channel, campaign: wish.campaign, locales: wish.locales, inviter: wish.inviter, message: wish.message, link: link
        )
      }
      let content = try access.invites.mail(
        campaign: wish.campaign, locales: wish.locales, sender: mail.sender, message: wish.message, link: link,
        unsubscribe: "\(place)/unsubscribe")
      return access.invites.settings.tracksOpening ? content.watched(by: "\(place)/image.png") : content
    }
    let order = InvitationService.Order(
      id: id, content: content, campaign: wish.campaign, locale: wish.locales.first ?? "en", sender: player,
      recipient: mail?.recipient, unsubscribe: mail == nil ? nil : "\(place)/unsubscribe")
    do throws(InvitationError) {
      _ = try await access.invites.send(order)
    } catch {
      throw LinkError(error)
    }
    guard let standing = try asking({ () throws(InvitationError) in try access.invites.invitation(id) }) else {
      throw LinkError(.unavailable, "The invitation cannot be read.")
    }
    return ["invite": standing.json, "content": content.json]
  }

  /// In whose name and to whom the server mails, if it may.
  private static func mail(_ access: InvitationAccess, _ json: JSON, _ caller: Caller, _ player: String) throws(LinkError)
    -> (sender: String, recipient: String)
  {
    let sender = try access.mailSender(caller, player: player)
    guard let to = json["to"]?.string else { throw LinkError(.invalidArgument, "to is missing: the mail address.") }
    return try asking { () throws(InvitationError) in
      // Before a link is made for the invitation, which would stay.
      try access.invites.checkMail(message: json["message"]?.string)
      return (sender, try access.invites.checked(recipient: to))
    }
  }

  @Sendable private static func show(_ access: InvitationAccess, _ json: JSON) async throws(LinkError) -> JSON {
    let caller = try access.caller()
    let id = access.call.captures["id"] ?? ""
    let standing = try asking { () throws(InvitationError) in try access.invites.invitation(id) }
    // Whoever asks for somebody else's learns as much as of one that does not exist.
    guard let standing, caller.role != nil || caller.actor == .user(uid: standing.record.sender) else {
      throw LinkError(.notFound, "There is no invitation \(id.prefix(80)) of yours.")
    }
    return standing.json
  }

  static func asking<Value>(_ body: () throws(InvitationError) -> Value) throws(LinkError) -> Value {
    do throws(InvitationError) {
      return try body()
    } catch {
      throw LinkError(error)
    }
  }

  // MARK: What is in mails

  /// A picture of one pixel.
  private static let pixel: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0,
    0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 0x0D, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0, 1, 0, 0, 5, 0, 1, 0x0D, 0x0A, 0x2D,
    0xB4, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]

  @Sendable private static func opened(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    call.services.links?.mark(
      "\(call.captures["id"] ?? "")/opened", isKept: call.services.invites?.settings.tracksOpening == true)
    var response = HTTPResponse(.ok, content: .png, body: pixel)
    response.isForOneVisitor = true
    return response
  }

  @Sendable private static func confirm(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let words = UnsubscribePhrases.chosen(from: locales(call))
    let (question, button) = (HTMLText.escaped(words.question), HTMLText.escaped(words.button))
    return page(words.title, "<p>\(question)</p><form method=\"post\"><button>\(button)</button></form>", words)
  }

  @Sendable private static func unsubscribe(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    guard let invites = call.services.invites else {
      throw APIError(.notImplemented, "not_available", "This server sends no invitations.")
    }
    let words = UnsubscribePhrases.chosen(from: locales(call))
    do throws(InvitationError) {
      guard try await invites.unsubscribe(call.captures["id"] ?? "") != nil else {
        return page(words.unknown, "", words, .notFound)
      }
    } catch {
      throw APIError(LinkError(error))
    }
    return page(words.done, "", words)
  }

  /// The mail's language, then the reader's.
  private static func locales(_ call: RouteCall) -> [String] {
    (call.query["lang"].map { [$0] } ?? []) + AcceptLanguage.locales(call.request.headers)
  }

  private static func page(
    _ title: String, _ body: String, _ words: UnsubscribePhrases, _ status: HTTPResponseStatus = .ok
  ) -> HTTPResponse {
    let title = HTMLText.escaped(title)
    let html = """
      <!DOCTYPE html>
      <html lang="\(words.locale)"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="robots" content="noindex"><title>\(title)</title></head><body><h1>\(title)</h1>\(body)</body></html>

      """
    var response = HTTPResponse(
      status, content: .html,
      headers: [
        HTTPResponse.Header(
          "Content-Security-Policy", "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
      ], body: Array(html.utf8))
    response.isForOneVisitor = true
    return response
  }
}

/// What the page says on which somebody who was invited gets off the list, in one language.
struct UnsubscribePhrases: Sendable {
  /// As pages name it (BCP 47).
  let locale: String
  let title: String
  let question: String
  let button: String
  let done: String
  /// What is said of an invitation that is not there.
  let unknown: String

  /// The words for somebody who reads these languages, the best first; English for who reads none that there is.
  static func chosen(from locales: [String]) -> UnsubscribePhrases {
    for locale in locales {
      let language = locale.lowercased().prefix { $0 != "-" && $0 != "_" }
      if let found = all.first(where: { $0.locale == language }) { return found }
    }
    return all[0]
  }

  /// In the languages that invitations come in; English first.
  static let all = [
    UnsubscribePhrases(
      locale: "en", title: "No more invitations?", question: "Shall this address get no more invitations?",
      button: "No more invitations", done: "This address gets no more invitations.",
      unknown: "This invitation is not known."),
    UnsubscribePhrases(
      locale: "de", title: "Keine Einladungen mehr?", question: "Soll diese Adresse keine Einladungen mehr bekommen?",
      button: "Keine Einladungen mehr", done: "Diese Adresse bekommt keine Einladungen mehr.",
      unknown: "Diese Einladung ist nicht bekannt."),
    UnsubscribePhrases(
      locale: "fr", title: "Plus d'invitations ?", question: "Cette adresse ne doit-elle plus recevoir d'invitations ?",
      button: "Plus d'invitations", done: "Cette adresse ne recevra plus d'invitations.",
      unknown: "Cette invitation n'est pas connue."),
    UnsubscribePhrases(
      locale: "es", title: "¿No más invitaciones?", question: "¿Quieres que esta dirección no reciba más invitaciones?",
      button: "No más invitaciones", done: "Esta dirección no recibirá más invitaciones.",
      unknown: "No se conoce esta invitación."),
    UnsubscribePhrases(
      locale: "ja", title: "招待の受信を停止しますか？", question: "このアドレスへの招待の送信を停止しますか？", button: "招待を受け取らない",
      done: "このアドレスに招待は送信されなくなりました。", unknown: "この招待は見つかりません。"),
  ]
}
