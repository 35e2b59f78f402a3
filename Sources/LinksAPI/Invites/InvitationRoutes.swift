import APISupport
import AdminModel
import HTTPServer
import Invites
import Links
import NIOHTTP1
import StorageCore
import TextFormats
import TreeModel

/// Invitations: what they say, sending them, how far they came.
package enum InvitationRoutes {
  package static let routes: [Route] = [
    post("/invites/render", summary: "What an invitation says on a channel.", body: render),
    post("/v1/invites:render", summary: "The same.", body: render),
    post("/v1/invites:send", summary: "Makes an invitation of a player's; mails are sent.", body: send),
    get("/v1/invites/channels", "The channels that are offered on a device.", channels),
    get("/v1/invites/{id}", "How far an invitation came.", show),
    .get("/v1/invites/{id}/image.png", "Notes that a mail was opened, where that is on.", opened),
    .get("/v1/invites/{id}/unsubscribe", "Asks whether the recipient wants no more invitations.", confirm),
    .mutate(
      .POST, template: "/v1/invites/{id}/unsubscribe", audit: nil,
      summary: "Takes the recipient off the list, with one click (RFC 8058).",
      access: .open, body: unsubscribe),
  ]

  private typealias Body = @Sendable (InvitationAccess, JSON) async throws -> JSON

  private static func post(_ template: RouteTemplate, summary: String, body: @escaping Body) -> Route {
    .mutate(.POST, template: template, audit: nil, summary: summary, access: .open) {
      call in
      await answer(call, body: body)
    }
  }

  private static func get(_ template: RouteTemplate, _ summary: String, _ body: @escaping Body) -> Route {
    .mutate(.GET, template: template, audit: nil, summary: summary, access: .open) { call in
      await answer(call, body: body)
    }
  }

  private static func answer(_ call: RouteCall, body: Body) async -> HTTPResponse {
    do {
      let json = try call.body()
      return .json(try await body(try InvitationAccess(call), json))
    } catch {
      return LinksAPIError(error).response
    }
  }

  // MARK: Words

  @Sendable private static func render(_ access: InvitationAccess, json: JSON) async throws -> JSON {
    let caller = try access.caller()
    let request = try InvitationRequest(json, access.call.request.headers)
    let link: String
    if let given = json["link"]?.string {
      guard let url = LinkURL(given), url.isWeb else { throw LinksAPIError(.invalidArgument, "link must be a URL.") }
      link = url.text
    } else {
      link = try await access.link(request, owner: access.player(caller, json), invite: nil, for: caller)
    }
    return try access.invites.content(
      request.channel, campaign: request.campaign, locales: request.locales, inviter: request.inviter,
      message: request.message, link: link
    ).json
  }

  @Sendable private static func channels(_ access: InvitationAccess, json: JSON) async throws -> JSON {
    let query = access.call.query
    let device =
      query["device"] ?? LinkVisitor(userAgent: access.call.request.headers.first(name: "user-agent") ?? "").device.rawValue
    guard ["iphone", "ipad", "android", "desktop", "other"].contains(device) else {
      throw LinksAPIError(.invalidArgument, "device must be iphone, ipad, android or desktop.")
    }
    let name = query["campaign"] ?? InvitationSettings.standard
    let campaign = try access.invites.campaign(name)
    let canSendMail = query["canSendMail"] != "false"
    let locales = query["locale"].map { [$0] } ?? AcceptLanguage.locales(access.call.request.headers)
    let screen = try access.invites.screen(campaign: name, locales: locales)
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

  @Sendable private static func send(_ access: InvitationAccess, _ json: JSON) async throws -> JSON {
    let caller = try access.caller()
    let player = try access.player(caller, json)
    let request = try InvitationRequest(json, access.call.request.headers)
    let mail = request.channel == .email ? try mail(access, json: json, by: caller, player: player) : nil
    let id = access.invites.newID()
    let link = try await access.link(request, owner: player, invite: id, for: caller)
    let address = "https://\(link.dropFirst("https://".count).prefix { $0 != "/" })/v1/invites/\(id)"
    let content = try content(access.invites, request: request, sender: mail?.sender, link: link, address: address)
    let invitation = InvitationDraft(
      id: id, content: content, campaign: request.campaign, locale: request.locales.first ?? "en", sender: player,
      recipient: mail?.recipient, unsubscribe: mail == nil ? nil : "\(address)/unsubscribe")
    _ = try await access.invites.send(invitation)
    guard let status = try access.invites.invitation(id) else {
      throw LinksAPIError(.unavailable, "The invitation cannot be read.")
    }
    return ["invite": JSON(encoding: AdminInvitations.Invitation(status)), "content": content.json]
  }

  /// What the invitation says.
  ///
  /// - `sender`: the name in mails of the server; nil if the player passes the invitation on.
  /// - `address`: of the invitation at this server.
  private static func content(
    _ invitations: InvitationService, request: InvitationRequest, sender: String?, link: String, address: String
  ) throws -> InvitationContent {
    guard let sender else {
      return try invitations.content(
        request.channel, campaign: request.campaign, locales: request.locales, inviter: request.inviter,
        message: request.message, link: link)
    }
    let content = try invitations.mail(
      campaign: request.campaign, locales: request.locales, sender: sender, message: request.message, link: link,
      unsubscribe: "\(address)/unsubscribe")
    return invitations.settings.tracksOpening ? content.watched(by: "\(address)/image.png") : content
  }

  /// In whose name and to whom the server mails, if it may.
  private static func mail(_ access: InvitationAccess, json: JSON, by caller: Caller, player: String) throws
    -> (sender: String, recipient: String)
  {
    let sender = try access.mailSender(caller, player: player)
    guard let to = json["to"]?.string else { throw LinksAPIError(.invalidArgument, "to is missing: the mail address.") }
    // Checked before the link is made, because a link would stay.
    try access.invites.checkMail(message: json["message"]?.string)
    return (sender, try access.invites.checked(recipient: to))
  }

  @Sendable private static func show(_ access: InvitationAccess, json: JSON) async throws -> JSON {
    let caller = try access.caller()
    let id = access.call.captures["id"] ?? ""
    // Another player's invitation is answered like one that does not exist.
    guard let status = try access.invites.invitation(id),
      caller.role != nil || caller.actor == .user(uid: status.record.sender)
    else {
      throw LinksAPIError(.notFound, "There is no invitation \(id.prefix(80)) of yours.")
    }
    return JSON(encoding: AdminInvitations.Invitation(status))
  }

  // MARK: What is in mails

  /// A picture of one pixel.
  private static let pixel: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0,
    0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 0x0D, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0, 1, 0, 0, 5, 0, 1, 0x0D, 0x0A, 0x2D,
    0xB4, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]

  @Sendable private static func opened(_ call: RouteCall) throws -> HTTPResponse {
    call.services.links?.mark(
      "\(call.captures["id"] ?? "")/opened", isKept: call.services.invites?.settings.tracksOpening == true)
    var response = HTTPResponse(.ok, content: .png, body: pixel)
    response.isForOneVisitor = true
    return response
  }

  @Sendable private static func confirm(_ call: RouteCall) throws -> HTTPResponse {
    let words = UnsubscribePhrases.chosen(from: locales(call))
    let (question, button) = (HTMLText.escaped(words.question), HTMLText.escaped(words.button))
    return page(words.title, body: "<p>\(question)</p><form method=\"post\"><button>\(button)</button></form>", words: words)
  }

  @Sendable private static func unsubscribe(_ call: RouteCall) async throws -> HTTPResponse {
    guard let invites = call.services.invites else {
      throw APIError(.notImplemented, "not_available", "This server sends no invitations.")
    }
    let words = UnsubscribePhrases.chosen(from: locales(call))
    guard try await invites.unsubscribe(call.captures["id"] ?? "") != nil else {
      return page(words.unknown, body: "", words: words, status: .notFound)
    }
    return page(words.done, body: "", words: words)
  }

  /// The mail's language, then the reader's.
  private static func locales(_ call: RouteCall) -> [String] {
    (call.query["lang"].map { [$0] } ?? []) + AcceptLanguage.locales(call.request.headers)
  }

  private static func page(
    _ title: String, body: String, words: UnsubscribePhrases, status: HTTPResponseStatus = .ok
  ) -> HTTPResponse {
    let title = HTMLText.escaped(title)
    let html = """
      <!DOCTYPE html>
      <html lang="\(words.language)"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
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

/// What the page says by which a recipient asks for no more invitations, in one language.
struct UnsubscribePhrases: TranslatedTexts {
  let language: String
  let title: String
  let question: String
  let button: String
  let done: String
  /// What is said of an invitation that is not there.
  let unknown: String

  /// In the languages that invitations come in.
  static let all = [english, german, french, spanish, japanese]
}

extension UnsubscribePhrases {
  static let english = UnsubscribePhrases(
    language: "en", title: "No more invitations?", question: "Shall this address get no more invitations?",
    button: "No more invitations", done: "This address gets no more invitations.",
    unknown: "This invitation is not known.")

  static let german = UnsubscribePhrases(
    language: "de", title: "Keine Einladungen mehr?", question: "Soll diese Adresse keine Einladungen mehr bekommen?",
    button: "Keine Einladungen mehr", done: "Diese Adresse bekommt keine Einladungen mehr.",
    unknown: "Diese Einladung ist nicht bekannt.")

  static let french = UnsubscribePhrases(
    language: "fr", title: "Plus d'invitations ?", question: "Cette adresse ne doit-elle plus recevoir d'invitations ?",
    button: "Plus d'invitations", done: "Cette adresse ne recevra plus d'invitations.",
    unknown: "Cette invitation n'est pas connue.")

  static let spanish = UnsubscribePhrases(
    language: "es", title: "¿No más invitaciones?", question: "¿Quieres que esta dirección no reciba más invitaciones?",
    button: "No más invitaciones", done: "Esta dirección no recibirá más invitaciones.",
    unknown: "No se conoce esta invitación.")

  static let japanese = UnsubscribePhrases(
    language: "ja", title: "招待の受信を停止しますか？", question: "このアドレスへの招待の送信を停止しますか？", button: "招待を受け取らない",
    done: "このアドレスに招待は送信されなくなりました。", unknown: "この招待は見つかりません。")
}
