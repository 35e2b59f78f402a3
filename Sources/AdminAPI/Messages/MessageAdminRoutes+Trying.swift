import APISupport
import AccessRules
import Accounts
import AdminModel
import Credentials
import HTTPServer
import Messages
import NIOHTTP1
import NIOPosix
import StorageCore
import TextFormats
import TreeDatabase
import TreeModel

/// Trying a campaign: faults, previews, tests on devices, why somebody gets it, what came of it; and events by hand.
extension MessageAdminRoutes {
  // MARK: Documents

  static func check(_ call: RouteCall, order _: AdminMessages.Document) async throws -> AdminMessages.Check {
    let check = try service(call).check(document(try call.body()))
    return AdminMessages.Check(
      sound: check.faults.isEmpty, faults: check.faults.map { AdminMessages.Fault($0) },
      warnings: check.warnings.map { AdminMessages.Fault($0) })
  }

  static func preview(_ call: RouteCall, order: AdminMessages.PreviewOrder) async throws -> AdminMessages.Preview {
    let campaign = try service(call).campaign(id(call))
    guard campaign.state != .deleted else { throw MessageError.unknown(campaign.id) }
    return try await preview(campaign.document.source, order: order, call)
  }

  static func previewDocument(_ call: RouteCall, order: AdminMessages.DocumentPreviewOrder) async throws
    -> AdminMessages.Preview
  {
    do {
      return try await preview(document(order.campaign), order: order.manner, call)
    } catch MessageError.invalid(let faults) {
      // Half-written campaigns are wrong most of the time: an answer, and no failure.
      return AdminMessages.Preview(
        view: nil, html: nil, missing: [], faults: faults.map { AdminMessages.Fault($0) }, warnings: [])
    }
  }

  private static func preview(_ document: JSON, order: AdminMessages.PreviewOrder, _ call: RouteCall) async throws
    -> AdminMessages.Preview
  {
    let request = try request(order)
    let (messages, mayRead) = (try service(call), playersReading(call))
    let told = try await call.services.adminPool.runIfActive {
      try messages.preview(document, request: request) { path in request.uid.map { mayRead(path, $0) } ?? false }
    }
    let view = told["message"] ?? .null
    let warnings: [AdminMessages.Fault] = try (told["warnings"] ?? .array([])).decoded()
    return AdminMessages.Preview(
      view: view, html: MessagePage(view: view, width: request.width).html,
      missing: told["missing"]?.array?.compactMap(\.string) ?? [], faults: [], warnings: warnings)
  }

  private static func request(_ order: AdminMessages.PreviewOrder) throws -> PreviewRequest {
    var request = PreviewRequest()
    (request.locale, request.variant, request.platform) = (order.locale, order.variant, order.platform)
    request.uid = try order.uid.map(player)
    request.width = order.width.map { Int($0) }
    request.parameters = (order.params?.members ?? []).map { JSON.Member(key: $0.name, value: $0.value) }
    return request
  }

  /// What players may read of the tree: what the security rules let them, as after a sign-in now; without rules, what the
  /// server's mode does.
  private static func playersReading(_ call: RouteCall) -> @Sendable (Path, _ uid: String) -> Bool {
    let (database, isOpen) = (call.services.database, call.services.isDevelopment)
    guard let namespace = database.namespace(named: call.namespaceName), let rules = database.catalog.ruleSet(of: namespace)
    else { return { _, _ in isOpen } }
    let (accounts, project) = (call.services.accounts, try? AccountRoutes.project(call))
    return { path, uid in
      // Not every player has an account here.
      let known = project.flatMap { project in try? accounts?.auth(of: uid, in: project) }
      let auth = known ?? AuthVariable(json: ["uid": .string(uid)])
      return database.decideRead(path, query: nil, in: namespace, as: auth, by: rules).isAllowed
    }
  }

  // MARK: Devices

  static func test(_ call: RouteCall, order: AdminMessages.TestOrder) async throws -> AdminMessages.Campaign {
    let messages = try service(call)
    guard (1...100).contains(order.devices.count) else {
      throw APIError.badRequest("\"devices\" must name 1 to 100 instances; GET /admin/v1/messages/devices lists them.")
    }
    try await messages.orderTest(id(call), devices: order.devices, variant: order.variant, by: call.caller.actor)
    return try answer(try messages.campaign(id(call)), to: call)
  }

  static func devices(_ call: RouteCall, query: AdminMessages.DeviceQuery) throws -> AdminMessages.DeviceList {
    let found = try service(call).devices(of: try call.key("uid")?.text, limit: Int(query.limit ?? 50))
    return try JSON.object([.init(key: "devices", value: .array(found.map(\.json)))]).decoded()
  }

  static func forget(_ call: RouteCall, body _: NoBody) async throws -> Done {
    let instance = call.captures["instance"] ?? ""
    guard try await service(call).removeInstance(instance) else {
      throw APIError(.notFound, "unknown_instance", "There is no instance \"\(instance.prefix(80))\".")
    }
    return Done()
  }

  // MARK: Why, and what came of it

  static func explain(_ call: RouteCall, order: AdminMessages.ExplainOrder) async throws -> AdminMessages.Explanation {
    guard (order.instance == nil) != (order.uid == nil) else {
      throw APIError.badRequest("Name either \"instance\" or \"uid\".")
    }
    let (messages, id, uid) = (try service(call), id(call), try order.uid.map(player))
    let mayRead = playersReading(call)
    let conditions = try await call.services.adminPool.runIfActive {
      try messages.explain(id, instance: order.instance, uid: uid, mayRead: mayRead)
    }
    let told = conditions.map { AdminMessages.Condition(name: $0.name, value: $0.value, holds: $0.holds) }
    let failed = told.first { !$0.holds }?.name
    return AdminMessages.Explanation(
      id: id, instance: order.instance, uid: order.uid, eligible: failed == nil, failed: failed, conditions: told)
  }

  static func statistics(_ call: RouteCall, body _: NoBody) async throws -> AdminMessages.Statistics {
    let query = try call.query(as: AdminMessages.StatisticsQuery.self)
    let told = try await service(call).results(of: id(call), days: Int(query.days ?? 7))
    return AdminMessages.Statistics(
      campaign: id(call), days: (told["days"]?.array ?? []).map { AdminMessages.DayCount($0) },
      totals: try (told["totals"] ?? .array([])).decoded(), rates: try (told["rates"] ?? .array([])).decoded(),
      daily: try (told["daily"] ?? .array([])).decoded())
  }

  // MARK: Events

  static func events(_ call: RouteCall, query: AdminMessages.EventQuery) throws -> AdminMessages.EventList {
    let uid = try player(query.uid)
    let found = try service(call).events(of: uid)
    return AdminMessages.EventList(events: try found.map { try AdminMessages.Event($0) })
  }

  static func raise(_ call: RouteCall, order: AdminMessages.EventOrder) async throws -> AdminMessages.RaisedEvent {
    let event = try await service(call).raise(
      order.name, for: try player(order.uid), parameters: JSON(encoding: order.params ?? NamedValues()), once: order.key,
      by: call.caller.actor)
    return AdminMessages.RaisedEvent(event: try event.map { try AdminMessages.Event($0) })
  }

  private static func player(_ text: String) throws -> String {
    do {
      return try Key(text).text
    } catch {
      throw APIError.badRequest("uid: \(error.description)")
    }
  }

  // MARK: Settings

  static func settings(_ call: RouteCall, query _: NoQuery) throws -> AdminMessages.Settings {
    try service(call).settings.json.decoded()
  }

  /// The settings themselves read the document: they name the member that is wrong, and say what it must be.
  static func putSettings(_ call: RouteCall, order _: AdminMessages.SettingsOrder) async throws -> AdminMessages.Settings {
    try await service(call).put(try call.body()).json.decoded()
  }
}

extension AdminMessages.Fault {
  init(_ fault: CampaignFault) { self.init(code: fault.code, path: fault.path, message: fault.message) }
}

extension AdminMessages.DayCount {
  /// A count as the domain has it: days are counted from 1970.
  fileprivate init(_ count: JSON) {
    let day = CalendarTime(milliseconds: (count["day"]?.int ?? 0) * 86_400_000).rfc3339.prefix(10)
    self.init(
      day: String(day), variant: count["variant"]?.string,
      kind: count["kind"]?.string ?? "", detail: count["detail"]?.string, count: count["count"]?.int ?? 0)
  }
}

extension AdminMessages.Event {
  fileprivate init(_ event: MessageEvent) throws { self = try event.json.decoded() }
}
