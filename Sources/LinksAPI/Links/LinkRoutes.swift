import APISupport
import AdminModel
import HTTPServer
import Links
import NIOHTTP1
import StorageCore
import TextFormats
import TreeModel

/// The links' API, in the shapes of Dynamic Links, and the files that phones ask link hosts for.
///
/// https://firebase.google.com/docs/reference/dynamic-links/link-shortener and
/// https://firebase.google.com/docs/reference/dynamic-links/analytics
package enum LinkRoutes {
  package static let routes: [Route] =
    [
      post("/v1/shortLinks", summary: "Creates a short link.", body: create),
      post(
        "/v1/managedShortLinks:create", summary: "Creates a short link with a name, as an administrator.", body: createManaged),
      .mutate(
        .GET, template: "/v1/{link...}/linkStats", audit: nil, summary: "What was counted of a short link.", access: .open
      ) {
        call in await answer(call, body: stats)
      },
      post("/v1/installAttribution", summary: "Which link an installation came from.", body: install),
      post("/v1/reopenAttribution", summary: "What a link that opened the app says.", body: reopen),
      post("/v1/convertInvitation", summary: "Notes that an invitation led to something.", body: convert),
      post("/v1/players:begin", summary: "Attributes an installation, signs a new player in and claims, in one call.") {
        try await FirstStart.begin($0, $1)
      },
      post("/v1/referrals:claim", summary: "Says who invited the player, by a click or a code.", body: claim),
    ] + associations

  private typealias Body = @Sendable (LinkAccess, JSON) async throws -> JSON

  private static func post(_ template: RouteTemplate, summary: String, body: @escaping Body) -> Route {
    .mutate(.POST, template: template, audit: nil, summary: summary, access: .open) {
      call in
      await answer(call, body: body)
    }
  }

  /// Runs the body, and answers errors in Google's form.
  private static func answer(_ call: RouteCall, body: Body) async -> HTTPResponse {
    do {
      let json = try call.body()
      return .json(try await body(try LinkAccess(call), json))
    } catch {
      return LinksAPIError(error).response
    }
  }

  // MARK: Creating

  @Sendable private static func create(_ access: LinkAccess, json: JSON) async throws -> JSON {
    let caller = try access.caller()
    if !caller.isAdmin { try access.countCreation(key: try access.checkKey(for: "create")) }
    var link = try LinkDraft(json: json, settings: access.links.settings)
    // A signed-in player invites with the links that they make, whatever the links say.
    if case .user(let uid) = caller.actor { link.owner = uid }
    let created = try await access.links.create(link, isAdmin: caller.isAdmin, actor: caller.actor)
    var members: [JSON.Member] = [
      .init(key: "shortLink", value: .string(created.record.address)),
      .init(key: "previewLink", value: .string(created.record.address + "?d=1")),
    ]
    if let code = created.record.code { members.append(.init(key: "code", value: .string(code))) }
    members.append(.init(key: "warning", value: JSON(encoding: created.warnings.map { AdminLinks.Warning($0) })))
    return .object(members)
  }

  @Sendable private static func createManaged(_ access: LinkAccess, json: JSON) async throws -> JSON {
    let caller = try access.admin()
    guard let name = json["name"]?.string, !name.isEmpty, name.utf8.count <= 200 else {
      throw LinksAPIError(.invalidArgument, "name must be a text of 1 to 200 bytes.")
    }
    var link = try LinkDraft(json: json, settings: access.links.settings)
    link.name = name
    let created = try await access.links.create(link, isAdmin: true, actor: caller.actor)
    return [
      "managedShortLink": created.record.managed, "previewLink": .string(created.record.address + "?d=1"),
      "warning": JSON(encoding: created.warnings.map { AdminLinks.Warning($0) }),
    ]
  }

  // MARK: Asking

  @Sendable private static func stats(_ access: LinkAccess, json: JSON) async throws -> JSON {
    _ = try access.admin(isLooking: true)
    let days = access.call.query["durationDays"].map { Int64($0) } ?? 7
    guard let days, (1...36_500).contains(days) else {
      throw LinksAPIError(.invalidArgument, "durationDays must be an integer from 1 to 36500.")
    }
    let text = access.call.captures["link"] ?? ""
    guard let record = try access.links.record(text) else {
      throw LinksAPIError(.notFound, "There is no short link \(text.prefix(200)).")
    }
    let counts = try await access.links.counts(of: record.key, days: days)
    return ["linkEventStats": JSON(encoding: LinkStatistics.totals(counts))]
  }

  @Sendable private static func install(_ access: LinkAccess, json: JSON) async throws -> JSON {
    _ = try access.checkKey(for: "attribute")
    let installation = try Installation(json: json, address: access.address)
    return try await access.links.attribution.install(installation).json(for: installation)
  }

  @Sendable private static func reopen(_ access: LinkAccess, json: JSON) async throws -> JSON {
    _ = try access.checkKey(for: "attribute")
    guard let text = json["requestedLink"]?.string, !text.isEmpty else {
      throw LinkError.invalid("requestedLink is missing.")
    }
    let bundleID = json["bundleId"]?.string ?? json["bundle_id"]?.string ?? ""
    guard !bundleID.isEmpty else { throw LinkError.invalid("bundleId is missing.") }
    return try await access.links.attribution.reopen(text, bundleID: bundleID).json
  }

  @Sendable private static func convert(_ access: LinkAccess, json: JSON) async throws -> JSON {
    _ = try access.checkKey(for: "attribute")
    guard let id = json["invitationId"]?["id"]?.string ?? json["invitationId"]?.string, !id.isEmpty else {
      throw LinkError.invalid("invitationId is missing: {\"invitationId\": {\"id\": \"…\"}}.")
    }
    try await access.links.attribution.convert(invitation: id)
    return [:]
  }

  // MARK: Claiming

  @Sendable private static func claim(_ access: LinkAccess, json: JSON) async throws -> JSON {
    let caller = try access.caller()
    let player: String
    switch caller.actor {
    case .user(let uid): player = uid
    case .admin where caller.isAdmin:
      guard let uid = json["player"]?.string, !uid.isEmpty else {
        throw LinksAPIError(.invalidArgument, "player is missing: an administrator says for whom the claim is.")
      }
      player = uid
    default:
      throw LinksAPIError(.unauthenticated, "Sign the player in first, and send the ID token: Authorization: Bearer ID_TOKEN.")
    }
    let claim = try await access.links.claims.claim(try presented(json), for: player, address: access.address)
    return ["claim": JSON(encoding: AdminLedger.ReferralEvidence(claim)), "referredBy": .string(claim.inviter)]
  }

  /// What the player presents: exactly one of `link`, `referrer` and `code`.
  static func presented(_ json: JSON) throws -> LinkClaims.Presented {
    var all: [LinkClaims.Presented] = []
    if let text = json["link"]?.string, !text.isEmpty { all.append(.link(text)) }
    if let text = json["referrer"]?.string, !text.isEmpty { all.append(.referrer(text)) }
    if let text = json["code"]?.string, !text.isEmpty { all.append(.code(text)) }
    guard all.count == 1, let first = all.first else {
      throw LinksAPIError(
        .invalidArgument,
        "Give exactly one of link (with its cid), referrer (of the Play Store) and code (that the player typed).")
    }
    return first
  }

  // MARK: Files for phones

  private static let associations: [Route] = [
    .get("/.well-known/apple-app-site-association", "Which apps open this host's links on Apple's systems.", apple),
    .get("/apple-app-site-association", "The same, where older systems look.", apple),
    .get("/.well-known/assetlinks.json", "Which apps open this host's links on Android.") { call in
      var response = HTTPResponse.json(AssociationFiles.android(call.services.links?.settings ?? LinkSettings()))
      response.content = .bareJSON
      return response
    },
  ]

  @Sendable private static func apple(_ call: RouteCall) throws -> HTTPResponse {
    let hosts = call.services.links?.hosts
    let header = call.request.headers.first(name: "host") ?? ""
    var response = HTTPResponse.json(
      AssociationFiles.apple(hosts?.settings ?? LinkSettings(), host: hosts?.site(header)?.name ?? header))
    response.content = .bareJSON
    return response
  }
}

/// Counts as the API shows them.
enum LinkStatistics {
  /// By platform and event, as Google's service adds them up; numbers are texts, as 64 bits are in its JSON.
  static func totals(_ counts: [LinkCount]) -> [AdminLinks.Total] {
    sums(counts) { [$0.platform, $0.event] }.map { names, count in
      AdminLinks.Total(platform: names[0], event: names[1], count: String(count))
    }
  }

  /// By day, platform and event.
  static func days(_ counts: [LinkCount]) -> [AdminLinks.DayCount] {
    counts.map {
      AdminLinks.DayCount(
        day: String(CalendarTime(milliseconds: $0.day * 86_400_000).readable.prefix(10)), platform: $0.platform,
        event: $0.event, count: $0.count)
    }
  }

  private static func sums(_ counts: [LinkCount], by names: (LinkCount) -> [String]) -> [(names: [String], count: Int64)] {
    var sums: [[String]: Int64] = [:]
    for count in counts { sums[names(count), default: 0] += count.count }
    return sums.map { ($0.key, $0.value) }.sorted { $0.names.lexicographicallyPrecedes($1.names) }
  }
}
