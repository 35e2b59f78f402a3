import APISupport
import AdminModel
import HTTPServer
import Links
import NIOHTTP1
import StorageCore
import TreeModel

/// Creating a link, and looking at one that might be created.
extension LinkAdminRoutes {
  static func create(_ call: RouteCall, order: AdminLinks.Order) async throws -> AdminLinks.MadeLink {
    let links = try service(call)
    var draft = try draft(prefix: order.prefix, parameters: order.parameters, settings: links.settings)
    switch order.option ?? (order.suffix == nil ? .unguessable : .custom) {
    case .unguessable: draft.option = .unguessable
    case .short: draft.option = .short
    case .custom: draft.option = .custom
    }
    guard (draft.option == .custom) == (order.suffix != nil) else {
      throw APIError.badRequest("suffix goes with the option CUSTOM, and only with it.")
    }
    draft.customSuffix = order.suffix
    if let name = order.name, !name.isEmpty {
      guard name.utf8.count <= 200 else { throw APIError.badRequest("name must be a text of at most 200 bytes.") }
      draft.name = name
    }
    if let inviter = order.inviter {
      guard LinkClaims.isPlayer(inviter) else { throw APIError.badRequest("inviter must be the id of a player.") }
      draft.owner = inviter
    }
    // Who may create links here may choose their suffixes.
    let created = try await links.create(draft, isAdmin: true, actor: call.caller.actor)
    return AdminLinks.MadeLink(
      link: AdminLinks.Link(created.record), warnings: created.warnings.map { AdminLinks.Warning($0) },
      repeated: created.isRepeated)
  }

  /// The same reading as a creation's, so that what is refused here is refused there.
  private static func draft(prefix text: String, parameters given: NamedValues<String>, settings: LinkSettings) throws
    -> LinkDraft
  {
    guard let prefix = LinkPrefix(text), settings.domains.contains(prefix) else {
      let known = settings.domains.map(\.description).joined(separator: ", ")
      throw LinkError.invalid(
        "prefix must be one of the \"domains\" of the link settings; there is \(known.isEmpty ? "none" : known).")
    }
    for member in given.members where LinkParameter(rawValue: member.name) == nil {
      throw LinkError.invalid("\(member.name.prefix(80)) is no parameter of a long link.")
    }
    // As a long link with these parameters would be read: what is empty is not said.
    let query = given.members.compactMap { $0.value.isEmpty ? nil : (name: $0.name, value: $0.value) }
    let parameters = LinkParameters(query)
    guard parameters.canonical.utf8.count <= LongLink.lengthMax else {
      throw LinkError.invalid("The link is longer than \(LongLink.lengthMax) characters; shorten its texts.")
    }
    return LinkDraft(prefix: prefix, parameters: parameters)
  }

  static func preview(_ call: RouteCall, order: AdminLinks.PreviewOrder) async throws -> AdminLinks.Preview {
    let links = try service(call)
    let settings = links.settings
    if let text = order.link {
      guard let record = try links.record(text), let prefix = record.prefix, let parameters = record.parameters else {
        throw APIError(.notFound, "unknown_link", "There is no short link \(text.prefix(200)).")
      }
      if record.disabledAt != nil { return AdminLinks.Preview(error: LinkError.disabled.message) }
      return LinkPreview(parameters, below: prefix, of: record, inviter: record.owner, links: links).answer
    }
    guard let prefix = order.prefix, let parameters = order.parameters else {
      throw APIError.badRequest("Name a link, or a prefix with parameters.")
    }
    do {
      let draft = try draft(prefix: prefix, parameters: parameters, settings: settings)
      return LinkPreview(draft.parameters, below: draft.prefix, of: nil, inviter: order.inviter, links: links).answer
    } catch let error as LinkError {
      // Half-typed links are wrong most of the time: an answer, and no failure.
      return AdminLinks.Preview(error: error.message)
    }
  }
}

/// What visitors get of a link, worked out by what serves them, with nothing counted.
private struct LinkPreview {
  let opening: LinkOpening
  let prefix: LinkPrefix
  let record: LinkRecord?
  let inviter: String?
  let links: LinkService

  /// - `inviter`: of the link itself; nil if what it says decides.
  init(
    _ parameters: LinkParameters, below prefix: LinkPrefix, of record: LinkRecord?, inviter: String?, links: LinkService
  ) {
    self.inviter = inviter ?? LinkClaims.inviter(in: parameters, settings: links.settings)
    opening = LinkOpening(
      parameters, address: record?.address ?? parameters.longLink(below: prefix), settings: links.settings)
    (self.prefix, self.record, self.links) = (prefix, record, links)
  }

  private static let agents: [(device: String, agent: String)] = [
    ("iphone", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604.1"),
    ("ipad", "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) Version/17.5 Safari/604.1"),
    ("android", "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126 Mobile"),
    ("desktop", "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"),
  ]

  var answer: AdminLinks.Preview {
    let (warnings, error) = links.findings(opening, below: prefix)
    if let error { return AdminLinks.Preview(error: error.message) }
    return AdminLinks.Preview(
      devices: Self.agents.map { device($0.device, for: LinkVisitor(userAgent: $0.agent)) },
      card: AdminLinks.Card(
        title: LinkPage.title(of: opening, settings: links.settings), text: opening.parameters[.socialDescription] ?? "",
        image: opening.parameters[.socialImage]),
      code: record?.code, inviter: inviter, warnings: warnings.map { AdminLinks.Warning($0) })
  }

  private func device(_ name: String, for visitor: LinkVisitor) -> AdminLinks.DevicePreview {
    switch visitor.device {
    case .iphone, .ipad: apple(name, on: visitor.device)
    case .android: android(name)
    case .desktop, .other: desktop(name, for: visitor)
    }
  }

  private func apple(_ name: String, on device: LinkVisitor.Device) -> AdminLinks.DevicePreview {
    let target = opening.iosFallbackURL(on: device)
    guard let app = opening.bundle(on: device) else {
      return AdminLinks.DevicePreview(
        device: name, outcome: "redirect", target: opening.destination, app: nil,
        steps: ["The browser goes to \(opening.destination): the link names no app for iOS."])
    }
    let isForced = opening.parameters[.forcedRedirect] == "1"
    var steps = ["With the app \(app), iOS opens it at once and hands it \(opening.destination)."]
    if isForced {
      steps.append("Without it, the browser goes to \(target). No page is shown, so nothing proves the click later.")
    } else {
      steps.append("Without it, a page is shown; its button copies the link, if the visitor leaves the box ticked.")
      steps.append("Then \(target) is opened.")
    }
    steps.append(firstStart(isForced ? "the code" : "the copied link, or by the code"))
    return AdminLinks.DevicePreview(
      device: name, outcome: isForced ? "redirect" : "page", target: target, app: app, steps: steps)
  }

  private func android(_ name: String) -> AdminLinks.DevicePreview {
    guard let app = opening.parameters[.androidPackage] else {
      return AdminLinks.DevicePreview(
        device: name, outcome: "redirect", target: opening.androidDestination, app: nil,
        steps: ["The browser goes to \(opening.androidDestination): the link names no app for Android."])
    }
    let target = opening.androidFallback(click: "CLICK")
    let isStore = opening.parameters.web(.androidFallback) == nil
    return AdminLinks.DevicePreview(
      device: name, outcome: "redirect", target: target, app: app,
      steps: [
        "With the app \(app), the browser hands it \(opening.androidDestination).",
        isStore ? "Without it, Google Play opens with a referrer that proves the click." : "Without it, \(target) is opened.",
        firstStart(isStore ? "the referrer, or by the code" : "the code"),
      ])
  }

  private func desktop(_ name: String, for visitor: LinkVisitor) -> AdminLinks.DevicePreview {
    var target = opening.destination
    if case .redirect(let url, _) = opening.outcome(for: visitor, click: "CLICK") { target = url }
    return AdminLinks.DevicePreview(
      device: name, outcome: "redirect", target: target, app: nil, steps: ["The browser goes to \(target)."])
  }

  private func firstStart(_ means: String) -> String {
    "At its first start the app claims by \(means): "
      + (inviter.map { "the player is brought by \($0)." } ?? "the app learns the link; nobody is the inviter.")
  }
}
