import APISupport
import AdminModel
import HTTPServer
import Messages
import NIOHTTP1
import StorageCore
import TreeModel

/// In-app messages for administrators: campaigns, what came of them, devices, events, settings.
enum MessageAdminRoutes {
  static let routes: [Route] = [
    .reading(AdminMessages.list, by: list),
    judging(AdminMessages.create, audit: "messages.create", answer: create),
    judging(AdminMessages.check, audit: nil, answer: check),
    .changing(AdminMessages.apply, audit: "messages.apply", answer: apply),
    .changing(AdminMessages.previewDocument, audit: nil, answer: previewDocument),
    .reading(AdminMessages.images) { call, _ in AdminMessages.ImageList(images: call.services.messageImages) },
    .reading(AdminMessages.devices, by: devices),
    .changing(AdminMessages.forgetDevice, audit: "messages.devices.forget", answer: forget),
    .reading(AdminMessages.events, by: events),
    .changing(AdminMessages.raise, audit: "messages.events.raise", answer: raise),
    .reading(AdminMessages.settings, by: settings),
    .changing(AdminMessages.putSettings, audit: "messages.settings", answer: putSettings),
    .reading(AdminMessages.show, by: show),
    judging(AdminMessages.put, audit: "messages.replace", answer: put),
    .changing(AdminMessages.delete, audit: "messages.delete", answer: delete),
    .changing(AdminMessages.publish, audit: "messages.publish", answer: publish),
    .changing(AdminMessages.stop, audit: "messages.stop", answer: stop),
    .changing(AdminMessages.duplicate, audit: "messages.duplicate", answer: duplicate),
    .changing(AdminMessages.test, audit: "messages.test", answer: test),
    .changing(AdminMessages.preview, audit: nil, answer: preview),
    .changing(AdminMessages.explain, audit: nil, answer: explain),
    .changing(AdminMessages.statistics, audit: nil, answer: statistics),
    .reading(AdminMessages.versions, by: versions),
  ]

  /// A route whose body is a campaign: what nobody knows in it is one fault beside the others, with its place.
  private static func judging<Answer>(
    _ endpoint: Endpoint<NoQuery, AdminMessages.Document, Answer>, audit: String?,
    answer: @escaping @Sendable (RouteCall, AdminMessages.Document) async throws -> Answer
  ) -> Route {
    .changing(endpoint, audit: audit, answer: answer).described(RouteDescription(of: endpoint).withOpenBody)
  }

  static func service(_ call: RouteCall) throws -> MessageService {
    guard let messages = call.services.messages else {
      throw APIError(.notImplemented, "not_available", "This server shows no in-app messages.")
    }
    return messages
  }

  static func id(_ call: RouteCall) -> String { call.captures["id"] ?? "" }

  // MARK: Looking

  private static func list(_ call: RouteCall, query: AdminMessages.ListQuery) throws -> AdminMessages.List {
    let messages = try service(call)
    let text = query.q?.lowercased()
    let all = try messages.campaigns().filter { campaign in
      (query.state.map { $0.rawValue == campaign.state.rawValue } ?? true)
        && (text.map { campaign.id.lowercased().contains($0) || campaign.document.name.lowercased().contains($0) } ?? true)
    }
    // As devices get them: priority, the newest first, id.
    let sorted = all.sorted { a, b in
      let (first, second) = (a.document.priority, b.document.priority)
      if first != second { return first < second }
      let (published, other) = (a.publishedAt ?? a.createdAt, b.publishedAt ?? b.createdAt)
      return published == other ? a.id < b.id : published > other
    }
    let start = try start(after: query.cursor, in: sorted)
    let limit = Int(query.limit ?? 50)
    let page = sorted[start...].prefix(limit)
    let hasMore = start + page.count < sorted.count
    return AdminMessages.List(
      campaigns: page.map { AdminMessages.Row($0, ended: messages.hasEnded($0)) }, next: hasMore ? page.last?.id : nil)
  }

  private static func start(after cursor: String?, in campaigns: [Campaign]) throws -> Int {
    guard let cursor else { return 0 }
    guard let place = campaigns.firstIndex(where: { $0.id == cursor }) else {
      throw APIError.badRequest("cursor must be the \"next\" of an earlier page.")
    }
    return place + 1
  }

  private static func show(_ call: RouteCall, query _: NoQuery) throws -> AdminMessages.Campaign {
    try answer(try service(call).campaign(id(call)), to: call)
  }

  private static func versions(_ call: RouteCall, query _: NoQuery) throws -> AdminMessages.VersionList {
    let versions = try service(call).versions(of: id(call))
    return try JSON.object([.init(key: "versions", value: .array(versions.map(\.json)))]).decoded()
  }

  /// A campaign as the surface tells it: the document, and what the server adds.
  static func answer(_ campaign: Campaign, to call: RouteCall) throws -> AdminMessages.Campaign {
    let ended = try service(call).hasEnded(campaign)
    let warnings = campaign.warnings.map { AdminMessages.Fault($0) }
    let members = (campaign.json.object ?? []).filter { $0.key != "warnings" }
    return try JSON.object(
      members + [.init(key: "ended", value: .bool(ended)), .init(key: "warnings", value: JSON(encoding: warnings))]
    ).decoded()
  }

  // MARK: Changing

  private static func create(_ call: RouteCall, order _: AdminMessages.Document) async throws -> AdminMessages.Campaign {
    let document = document(try call.body())
    try refuseReserved(document["id"]?.string)
    return try answer(try await service(call).create(document, by: call.caller.actor), to: call)
  }

  private static func put(_ call: RouteCall, order: AdminMessages.Document) async throws -> AdminMessages.Campaign {
    let body = try call.body()
    let changed = try await service(call).replace(
      id(call), with: document(body), ifVersion: try version(order.version, in: call), by: call.caller.actor)
    return try answer(changed, to: call)
  }

  private static func delete(_ call: RouteCall, body _: NoBody) async throws -> AdminMessages.Campaign {
    let query = try call.query(as: AdminMessages.DeleteQuery.self)
    let version = try version(query.version.map(JSON.int), in: call)
    return try answer(try await service(call).delete(id(call), ifVersion: version, by: call.caller.actor), to: call)
  }

  private static func publish(_ call: RouteCall, order: AdminMessages.StepOrder) async throws -> AdminMessages.Campaign {
    let version = try version(order.version.map(JSON.int), in: call)
    return try answer(try await service(call).publish(id(call), ifVersion: version, by: call.caller.actor), to: call)
  }

  private static func stop(_ call: RouteCall, order: AdminMessages.StepOrder) async throws -> AdminMessages.Campaign {
    let version = try version(order.version.map(JSON.int), in: call)
    return try answer(try await service(call).stop(id(call), ifVersion: version, by: call.caller.actor), to: call)
  }

  private static func duplicate(_ call: RouteCall, order: AdminMessages.DuplicateOrder) async throws
    -> AdminMessages.Campaign
  {
    try refuseReserved(order.id)
    return try answer(try await service(call).duplicate(id(call), as: order.id, by: call.caller.actor), to: call)
  }

  private static func apply(_ call: RouteCall, order: AdminMessages.ApplyOrder) async throws -> AdminMessages.Applied {
    let documents = try order.campaigns.map { campaign in
      try refuseReserved(campaign["id"]?.string)
      return document(campaign)
    }
    let (messages, file) = (try service(call), JSON.object([.init(key: "campaigns", value: .array(documents))]))
    let (differences, isApplied) = try await messages.applyWhole(
      file, prunes: order.prune ?? false, isRehearsal: order.dryRun ?? false, by: call.caller.actor)
    return AdminMessages.Applied(differences: differences.map { AdminMessages.Difference($0) }, applied: isApplied)
  }

  /// What people wrote, without what the server had added.
  static func document(_ body: JSON) -> JSON {
    .object((body.object ?? []).filter { !AdminMessages.Document.readOnly.contains($0.key) })
  }

  /// The version that is to be replaced: of the body, or of the header `If-Match`.
  private static func version(_ member: JSON?, in call: RouteCall) throws -> Int64? {
    if let member, !member.isNull {
      guard let version = member.int else { throw APIError.badRequest("\"version\" must be an integer.") }
      return version
    }
    guard let header = call.request.head.first("if-match") else { return nil }
    guard let version = Int64(header.filter { $0 != "\"" }) else {
      throw APIError.badRequest("If-Match must be the version that is replaced, such as \"3\".")
    }
    return version
  }

  /// These names are addresses of this surface; a campaign of that name could not be asked for.
  private static let reserved: Set<String> = ["apply", "check", "devices", "events", "images", "preview", "settings"]

  private static func refuseReserved(_ id: String?) throws {
    guard let id, reserved.contains(id) else { return }
    throw APIError.badRequest("\"\(id)\" is no id for a campaign: it is an address of this surface. Choose another.")
  }
}

extension AdminMessages.Row {
  fileprivate init(_ campaign: Campaign, ended: Bool) {
    let document = campaign.document
    self.init(
      id: campaign.id, name: document.name, layout: document.layout.rawValue,
      state: AdminMessages.State(rawValue: campaign.state.rawValue) ?? .draft, version: campaign.version,
      priority: Int64(document.priority), triggers: document.triggers.map(\.word), ended: ended,
      createdAt: Timestamp(campaign.createdAt), publishedAt: campaign.publishedAt.map { Timestamp($0) },
      stoppedAt: campaign.stoppedAt.map { Timestamp($0) })
  }
}

extension MessageTrigger {
  /// One word for listings.
  fileprivate var word: String {
    switch self {
    case .launch: "launch"
    case .foreground: "foreground"
    case .event(let name, where: _): name
    case .server(let name, where: _): "server:\(name)"
    }
  }
}

extension AdminMessages.Difference {
  fileprivate init(_ difference: CampaignDifference) {
    let action: AdminMessages.ApplyStep =
      switch difference.action {
      case .create: .create
      case .replace: .replace
      case .publish: .publish
      case .stop: .stop
      case .none: .none
      case .conflict: .conflict
      }
    self.init(id: difference.id, action: action, message: difference.message)
  }
}
