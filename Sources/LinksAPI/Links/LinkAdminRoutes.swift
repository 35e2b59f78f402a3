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
    .reading(AdminLinks.settings, by: settings),
    .changing(AdminLinks.putSettings, audit: "links.settings", answer: putSettings),
    .reading(AdminLinks.list, by: list), .reading(AdminLinks.show, by: show),
    .changing(AdminLinks.create, audit: "links.create", answer: create),
    .changing(AdminLinks.preview, audit: nil, answer: preview),
    .changing(AdminLinks.funnel, audit: nil, answer: LinkFunnel.answer),
    .changing(AdminLinks.edit, audit: "links.edit", answer: edit),
    .changing(AdminLinks.delete, audit: "links.delete", answer: remove),
    .changing(AdminLinks.statistics, audit: nil, answer: stats), .responding(AdminLinks.code, by: code),
    .changing(AdminLinks.take, audit: "links.import", answer: take), .reading(AdminLinks.claim, by: claim),
  ]

  // MARK: Settings

  private static func settings(_ call: RouteCall, query _: NoQuery) throws -> AdminLinks.Settings {
    let links = try service(call)
    return try AdminLinks.Settings(links.settings)
  }

  /// The settings themselves read the document: they name the member that is wrong, and say what it must be.
  private static func putSettings(_ call: RouteCall, order _: AdminLinks.SettingsOrder) async throws -> AdminLinks.Settings {
    let links = try service(call)
    let body = try call.body()
    let settings = try LinkSettings(document: JSON.object((body.object ?? []).filter { $0.key != "warnings" }).compactText)
    try await links.put(settings)
    return try AdminLinks.Settings(settings)
  }

  // MARK: Looking

  private static func list(_ call: RouteCall, query: AdminLinks.ListQuery) throws -> AdminLinks.List {
    let (links, limit) = (try service(call), Int(query.limit ?? 50))
    let filter = LinkDirectory.Filter(text: query.q, inviter: try call.key("inviter")?.text, campaign: query.campaign)
    let page = try links.directory.links(where: filter, after: query.cursor, limit: limit)
    return AdminLinks.List(
      links: page.links.map { AdminLinks.Link($0) }, next: page.next, scanned: Int64(page.scanned))
  }

  static func record(_ call: RouteCall, _ links: LinkService) throws -> LinkRecord {
    let text = try call.required("link")
    guard let record = try links.record(text) else {
      throw APIError(.notFound, "unknown_link", "There is no short link \(text.prefix(200)).")
    }
    return record
  }

  private static func show(_ call: RouteCall, query _: AdminLinks.LinkQuery) throws -> AdminLinks.Link {
    AdminLinks.Link(try record(call, service(call)))
  }

  private static func stats(_ call: RouteCall, body _: NoBody) async throws -> AdminLinks.Statistics {
    let links = try service(call)
    let record = try record(call, links)
    let days = try call.integer("days") ?? 7
    let counts = try await links.counts(of: record.key, days: days)
    return AdminLinks.Statistics(
      link: record.address, totals: LinkStatistics.totals(counts), days: LinkStatistics.days(counts))
  }

  private static func code(_ call: RouteCall, query: AdminLinks.CodeQuery) throws -> HTTPResponse {
    let text = query.link
    guard let url = LinkURL(text.contains("://") ? text : "https://\(text)"), url.isWeb, let code = QRCode(url.text) else {
      throw APIError.badRequest("link must be a URL of at most 2331 bytes.")
    }
    if query.format == "png" {
      return HTTPResponse(.ok, content: .png, body: code.png(scale: Int(query.scale ?? 8)))
    }
    return HTTPResponse(.ok, content: .svg, body: Array(code.svg().utf8))
  }

  private static func claim(_ call: RouteCall, query: AdminLinks.ClaimQuery) throws -> AdminLinks.Claim {
    let links = try service(call)
    let uid: String
    do {
      uid = try Key(query.uid).text
    } catch {
      throw APIError.badRequest(error.description)
    }
    let claim = try links.claims.claim(of: uid)
    return AdminLinks.Claim(uid: uid, claim: claim.map { AdminLedger.ReferralEvidence($0) })
  }

  // MARK: Importing

  private static func take(_ call: RouteCall, order: AdminLinks.ImportOrder) async throws -> AdminLinks.ImportReport {
    let links = try service(call)
    let rows = try LinkImport(csv: order.csv).rows
    guard rows.count <= 1000 else {
      throw LinksAPIError(.invalidArgument, "The table has \(rows.count) rows; send 1000 at most, one table after the other.")
    }
    var prefix: LinkPrefix?
    if let target = order.prefix {
      guard let parsed = LinkPrefix(target) else {
        throw LinksAPIError(.invalidArgument, "prefix must be https://HOST or https://HOST/PATH.")
      }
      prefix = parsed
    }
    let outcomes = try await links.importRows(
      rows, under: prefix, isDryRun: order.dryRun ?? false, actor: call.caller.actor)
    return AdminLinks.ImportReport(outcomes)
  }

  static func service(_ call: RouteCall) throws -> LinkService {
    guard let links = call.services.links else {
      throw APIError(.notImplemented, "not_available", "This server serves no links.")
    }
    return links
  }
}

/// Changing and deleting short links.
extension LinkAdminRoutes {
  private static func edit(_ call: RouteCall, order: AdminLinks.Edit) async throws -> AdminLinks.ChangedLink {
    let links = try service(call)
    let changes = try linkEdit(order)
    let record = try record(call, links)
    let edited = try await links.edit(record.key, edit: changes, actor: call.caller.actor)
    return AdminLinks.ChangedLink(
      link: AdminLinks.Link(edited.record), warnings: edited.warnings.map { AdminLinks.Warning($0) })
  }

  private static func remove(_ call: RouteCall, body _: NoBody) async throws -> AdminLinks.Link {
    let links = try service(call)
    let record = try record(call, links)
    return AdminLinks.Link(try await links.delete(record.key, actor: call.caller.actor))
  }

  private static func linkEdit(_ order: AdminLinks.Edit) throws -> LinkEdit {
    var edit = LinkEdit()
    if let name = order.name {
      guard name.utf8.count <= 200 else { throw APIError.badRequest("name must be a text of at most 200 bytes.") }
      edit.name = .some(name.isEmpty ? nil : name)
    }
    edit.isDisabled = order.disabled
    for member in order.parameters?.members ?? [] {
      guard let parameter = LinkParameter(rawValue: member.name) else {
        throw APIError.badRequest("\(member.name.prefix(80)) is no parameter of a long link.")
      }
      guard member.value.isNull || member.value.string != nil else {
        throw APIError.badRequest("The parameter \(member.name) must be a text, or null.")
      }
      edit.parameters[parameter] = .some(member.value.string)
    }
    return edit
  }
}

extension AdminLinks.Settings {
  /// The settings as their document has them, and what an administrator should think about.
  fileprivate init(_ settings: LinkSettings) throws {
    let document = try JSONParser.parse(settings.document).object ?? []
    self = try JSON.object(document + [JSON.Member(key: "warnings", value: JSON(encoding: settings.warnings))]).decoded()
  }
}

extension AdminLinks.ImportReport {
  fileprivate init(_ outcomes: [(row: LinkImport.Row, outcome: LinkImport.Outcome)]) {
    let refused: [AdminLinks.RefusedRow] = outcomes.compactMap { row, outcome in
      guard case .refused(let problem) = outcome else { return nil }
      return AdminLinks.RefusedRow(row: Int64(row.number), link: row.short, problem: problem)
    }
    self.init(
      created: Int64(outcomes.count { $0.outcome == .created }),
      unchanged: Int64(outcomes.count { $0.outcome == .unchanged }), refused: Int64(refused.count), rows: refused)
  }
}
