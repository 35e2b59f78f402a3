import APISupport
import AdminModel
import HTTPServer
import Links
import NIOHTTP1
import StorageCore
import TreeModel

/// Links for administrators: settings, listings, imports, QR codes, and who came by which.
package enum LinkAdminRoutes {
  package static let routes: [Route] = [
    Route.list("/admin/v1/links/settings", "The settings of links.", settings)
      .described(RouteDescription(of: AdminLinks.settings)),
    Route.mutate(
      .PUT, template: "/admin/v1/links/settings", audit: "links.settings", summary: "Replaces the settings of links.",
      body: putSettings
    )
    .described(RouteDescription(of: AdminLinks.putSettings)),
    Route.list("/admin/v1/links", "Short links, by address.", list).described(RouteDescription(of: AdminLinks.list)),
    Route.list("/admin/v1/links/link", "One short link, or what a long one says.", show).described(
      RouteDescription(of: AdminLinks.show)),
    Route.mutate(
      .PATCH, template: "/admin/v1/links/link", audit: "links.edit",
      summary: "Changes what a short link says, what it is called, or whether it is on.", body: edit
    ).described(RouteDescription(of: AdminLinks.edit)),
    Route.mutate(
      .DELETE, template: "/admin/v1/links/link", audit: "links.delete",
      summary: "Deletes a short link and its code; what was claimed by it stays.", body: remove
    ).described(RouteDescription(of: AdminLinks.delete)),
    Route.mutate(
      .GET, template: "/admin/v1/links/stats", audit: nil, summary: "What was counted of a short link, by day.",
      access: .viewer, body: stats
    )
    .described(RouteDescription(of: AdminLinks.statistics)),
    Route.list("/admin/v1/links/qr", "A link as a QR code.", code).described(RouteDescription(of: AdminLinks.code)),
    Route.mutate(
      .POST, template: "/admin/v1/links/import", audit: "links.import", summary: "Takes links in, each with its suffix.",
      body: take
    )
    .described(RouteDescription(of: AdminLinks.take)),
    Route.list("/admin/v1/links/claims", "How a player came: the link, the click, the inviter.", claim).described(
      RouteDescription(of: AdminLinks.claim)),
  ]

  // MARK: Settings

  private static func settings(_ call: RouteCall) throws -> HTTPResponse {
    .json(document(try service(call).settings))
  }

  private static func document(_ settings: LinkSettings) -> JSON {
    let members = (try? JSONParser.parse(settings.document))?.object ?? []
    return .object(members + [JSON.Member(key: "warnings", value: .array(settings.warnings.map(JSON.string)))])
  }

  private static func putSettings(_ call: RouteCall) async throws -> HTTPResponse {
    let links = try service(call)
    let body = try call.body()
    let settings = try LinkSettings(document: JSON.object((body.object ?? []).filter { $0.key != "warnings" }).compactText)
    try await links.put(settings)
    return .json(document(settings))
  }

  // MARK: Looking

  private static func list(_ call: RouteCall) throws -> HTTPResponse {
    let links = try service(call)
    let limit = try call.limit()
    let records = try links.records(after: call.query["cursor"], limit: limit)
    let next = records.count == limit ? records.last.map { JSON.string($0.key) } : nil
    return .json(.record([("links", .array(records.map(\.json))), ("next", next)]))
  }

  static func record(_ call: RouteCall, _ links: LinkService) throws -> LinkRecord {
    let text = try call.required("link")
    guard let record = try links.record(text) else {
      throw APIError(.notFound, "unknown_link", "There is no short link \(text.prefix(200)).")
    }
    return record
  }

  private static func show(_ call: RouteCall) throws -> HTTPResponse {
    .json(try record(call, service(call)).json)
  }

  private static func stats(_ call: RouteCall) async throws -> HTTPResponse {
    let links = try service(call)
    let record = try record(call, links)
    let days = try call.integer("days") ?? 7
    let counts = try await links.counts(of: record.key, days: days)
    return .json([
      "link": .string(record.address), "totals": .array(LinkStatistics.totals(counts)),
      "days": .array(LinkStatistics.days(counts)),
    ])
  }

  private static func code(_ call: RouteCall) throws -> HTTPResponse {
    let text = try call.required("link")
    guard let url = LinkURL(text.contains("://") ? text : "https://\(text)"), url.isWeb, let code = QRCode(url.text) else {
      throw APIError.badRequest("link must be a URL of at most 2331 bytes.")
    }
    if call.query["format"] == "png" {
      return HTTPResponse(.ok, content: .png, body: code.png(scale: Int(try call.integer("scale") ?? 8)))
    }
    return HTTPResponse(.ok, content: .svg, body: Array(code.svg().utf8))
  }

  private static func claim(_ call: RouteCall) throws -> HTTPResponse {
    let links = try service(call)
    let uid: String
    do {
      uid = try Key(call.query["uid"] ?? "").text
    } catch {
      throw APIError.badRequest(error.description)
    }
    let claim = try links.claims.claim(of: uid)
    return .json(["uid": .string(uid), "claim": claim.map { JSON($0) } ?? .null])
  }

  // MARK: Importing

  private static func take(_ call: RouteCall) async throws -> HTTPResponse {
    let links = try service(call)
    let body = try call.body()
    let csv = try body.required("csv")
    let target = try body.optional("prefix")
    let isDryRun = body["dryRun"]?.bool ?? false
    let rows = try LinkImport(csv: csv).rows
    guard rows.count <= 1000 else {
      throw LinksAPIError(.invalidArgument, "The table has \(rows.count) rows; send 1000 at most, one table after the other.")
    }
    var prefix: LinkPrefix?
    if let target {
      guard let parsed = LinkPrefix(target) else {
        throw LinksAPIError(.invalidArgument, "prefix must be https://HOST or https://HOST/PATH.")
      }
      prefix = parsed
    }
    let outcomes = try await links.importRows(rows, under: prefix, isDryRun: isDryRun, actor: call.caller.actor)
    return .json(report(outcomes))
  }

  private static func report(_ outcomes: [(row: LinkImport.Row, outcome: LinkImport.Outcome)]) -> JSON {
    let refused: [JSON] = outcomes.compactMap { row, outcome in
      guard case .refused(let problem) = outcome else { return nil }
      return ["row": .int(Int64(row.number)), "link": .string(row.short), "problem": .string(problem)]
    }
    return [
      "created": .int(Int64(outcomes.count { $0.outcome == .created })),
      "unchanged": .int(Int64(outcomes.count { $0.outcome == .unchanged })),
      "refused": .int(Int64(refused.count)), "rows": .array(refused),
    ]
  }

  private static func service(_ call: RouteCall) throws -> LinkService {
    guard let links = call.services.links else {
      throw APIError(.notImplemented, "not_available", "This server serves no links.")
    }
    return links
  }
}

/// Changing and deleting short links.
extension LinkAdminRoutes {
  static func edit(_ call: RouteCall) async throws -> HTTPResponse {
    let links = try service(call)
    let changes = try linkEdit(call.body())
    let record = try record(call, links)
    let edited = try await links.edit(record.key, edit: changes, actor: call.caller.actor)
    return .json(["link": edited.record.json, "warning": .array(edited.warnings.map(\.json))])
  }

  static func remove(_ call: RouteCall) async throws -> HTTPResponse {
    let links = try service(call)
    let record = try record(call, links)
    return .json(try await links.delete(record.key, actor: call.caller.actor).json)
  }

  private static func linkEdit(_ body: JSON) throws -> LinkEdit {
    var edit = LinkEdit()
    if let name = try body.optional("name") {
      guard name.utf8.count <= 200 else { throw APIError.badRequest("name must be a text of at most 200 bytes.") }
      edit.name = .some(name.isEmpty ? nil : name)
    }
    if let value = body["disabled"], !value.isNull {
      guard let isDisabled = value.bool else { throw APIError.badRequest("disabled must be true or false.") }
      edit.isDisabled = isDisabled
    }
    guard let parameters = body["parameters"], !parameters.isNull else { return edit }
    guard let members = parameters.object else { throw APIError.badRequest("parameters must be an object.") }
    for member in members {
      guard let parameter = LinkParameter(rawValue: member.key) else {
        throw APIError.badRequest("\(member.key.prefix(80)) is no parameter of a long link.")
      }
      guard member.value.isNull || member.value.string != nil else {
        throw APIError.badRequest("The parameter \(member.key) must be a text, or null.")
      }
      edit.parameters[parameter] = .some(member.value.string)
    }
    return edit
  }
}
