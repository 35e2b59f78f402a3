import APISupport
import AdminModel
import HTTPServer
import Ledger
import NIOHTTP1
import PlayerLifecycle
import StorageCore
import TreeDatabase
import TreeModel

/// The trigger log, under both of its names: `events` and `triggers`.
enum EventRoutes {
  static let routes: [Route] =
    [.reading(AdminEvents.histogram, by: histogram)]
    + ["/admin/v1/events", "/admin/v1/triggers"].flatMap { base in
      [
        .reading(AdminEvents.list.at(base), by: list), .reading(AdminEvents.show.at(base + "/{event...}"), by: show),
        .changing(AdminEvents.redeliver.at(base + "/{event...}/redeliver"), audit: "events.redeliver", answer: redeliver),
      ]
    } + [
      .reading(AdminEvents.executions, by: executions), .reading(AdminEvents.deadLetters, by: deadLetters),
      .responding(to: AdminEvents.drain, audit: nil, response: drain),
    ]

  private static func list(_ call: RouteCall, query: AdminEvents.Query) throws -> AdminEvents.Page {
    let filter = try EventFilter(query)
    let start = try query.cursor.map(EventScan.position)
    let (namespace, limit, isCount) = (try call.namespace(), Int(query.limit ?? 50), query.count == true)
    let currencies = call.services.ledger?.declaredCurrencies ?? []
    let functions = call.services.functions?.descriptions ?? []
    return try call.read { snapshot in
      var listing = EventListing(
        try EventScan(
          namespace, filter, currencies: currencies, functions: functions, before: start,
          scanMax: isCount ? EventListing.countMax : EventListing.scanMax, in: snapshot))
      var page = isCount ? try listing.count() : try listing.page(limit: limit, currencies: currencies)
      if let uid = filter.uid, let erasure = try snapshot.erasure(in: namespace, of: uid.text), erasure.order != nil {
        page.erased = AdminAccounts.Erasure(erasure)
      }
      return page
    }
  }

  private static func histogram(_ call: RouteCall, query: AdminEvents.HistogramQuery) throws -> AdminEvents.Histogram {
    let filter = try EventFilter(query.filters)
    let until = filter.until ?? max(call.services.database.clock.now(), filter.since ?? 0)
    if let since = filter.since, since > until { throw APIError.badRequest("since must not be later than until.") }
    let namespace = try call.namespace()
    let currencies = call.services.ledger?.declaredCurrencies ?? []
    let functions = call.services.functions?.descriptions ?? []
    return try call.read { snapshot in
      let scan = try EventScan(
        namespace, filter, currencies: currencies, functions: functions, before: nil,
        scanMax: query.scan.map { Int($0) } ?? EventListing.scanMax, in: snapshot)
      var histogram = EventHistogram(scan, count: query.buckets.map { Int($0) } ?? EventHistogram.buckets, until: until)
      return try histogram.answer()
    }
  }

  private static func show(_ call: RouteCall, query _: NoQuery) throws -> AdminEvents.Detail {
    let id = try eventID(call.captures["event"] ?? "")
    let namespace = try call.namespace()
    let functions = call.services.functions?.descriptions ?? []
    let detail = try call.read { (snapshot) -> AdminEvents.Detail? in
      if let event = try snapshot.event(in: namespace, id: id) {
        return try EventDetail(event: event, namespace: namespace, functions: functions, snapshot: snapshot).answer()
      }
      guard let invocation = try snapshot.invocation(in: namespace, of: id) else { return nil }
      return try EventDetail(of: invocation, namespace: namespace, functions: functions, snapshot: snapshot).answer()
    }
    guard let detail else { throw unknown(id) }
    return detail
  }

  private static func executions(_ call: RouteCall, query: AdminEvents.ExecutionQuery) throws -> AdminEvents.ExecutionList {
    let id = try eventID(query.event)
    let namespace = try call.namespace()
    let records = try call.read { snapshot in try snapshot.executions(in: namespace, of: id) }
    return AdminEvents.ExecutionList(executions: records.map { AdminEvents.Execution($0) })
  }

  private static func deadLetters(_ call: RouteCall, query: AdminEvents.DeadLetterQuery) throws -> AdminEvents.DeadLetterList {
    let namespace = try call.namespace()
    let limit = Int(query.limit ?? 100)
    let cursor = try query.cursor.map(delivery)
    let records = try call.read { (snapshot) -> [DeliveryRecord] in
      var last: DeliveryRecord?
      if let cursor { last = try snapshot.delivery(in: namespace, of: cursor.event, to: cursor.function) }
      return try snapshot.deliveries(in: namespace, state: .dead, after: last, limit: limit)
    }
    return AdminEvents.DeadLetterList(
      deadLetters: records.map { AdminEvents.Delivery($0) },
      next: records.count == limit ? records.last.map { "\($0.function) \($0.event)" } : nil)
  }

  private static func redeliver(_ call: RouteCall, body _: EmptyBody) async throws -> Done {
    let id = try eventID(call.captures["event"] ?? "")
    let functions = try FunctionRoutes.functions(call)
    let namespace = try call.namespace()
    let isKnown = try call.read { snapshot in try snapshot.event(in: namespace, id: id) != nil }
    guard isKnown else { throw unknown(id) }
    try await functions.redeliver(id, in: namespace, by: call.caller.actor)
    return Done()
  }

  private static func drain(_ call: RouteCall, body _: EmptyBody) async throws -> HTTPResponse {
    let timeout = try call.query["timeout"].map(milliseconds) ?? 30_000
    let functions = try FunctionRoutes.functions(call)
    let report = await functions.drain(timeoutMilliseconds: timeout)
    let failure = report.failure.map { [AdminEvents.DrainedRun(error: $0)] } ?? []
    let answer = AdminEvents.DrainReport(
      settled: report.isComplete, running: failure + report.running.map(AdminEvents.DrainedRun.init),
      unfinished: report.unfinished.map(AdminEvents.DrainedRun.init))
    return .json(JSON(encoding: answer), status: report.isComplete ? .ok : .gatewayTimeout)
  }

  // MARK: Arguments

  private static func eventID(_ text: String) throws -> EventID {
    guard let id = EventID(text) else {
      // What asks for /{event}/redeliver in a wrong way arrives here, for an event's path may end in that word.
      if text.hasSuffix("/redeliver") {
        throw APIError(
          .methodNotAllowed, "method_not_allowed", "This address answers POST only.",
          headers: [HTTPResponse.Header("Allow", "POST")])
      }
      throw APIError.badRequest("\"\(text.prefix(200))\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    return id
  }

  private static func unknown(_ id: EventID) -> APIError {
    APIError(.notFound, "not_found", "There is no event \(id) in this namespace; \"doubloon triggers list\" shows them.")
  }

  /// A cursor of the dead letters: function, space, event.
  private static func delivery(_ cursor: String) throws -> (event: EventID, function: String) {
    let parts = cursor.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let event = EventID(String(parts[1])) else {
      throw APIError.badRequest("cursor must be the \"next\" of an earlier page.")
    }
    return (event, String(parts[0]))
  }

  /// `500ms`, `30s`, `2min`, or seconds without a unit; at most an hour.
  private static func milliseconds(_ text: String) throws -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit: Int64? =
      switch text[digits.endIndex...] {
      case "ms": 1
      case "s", "": 1000
      case "min": 60_000
      default: nil
      }
    guard let count = Int64(digits), let unit, count <= 3_600_000 / unit else {
      throw APIError.badRequest("timeout must be a number with ms, s or min behind it, at most an hour.")
    }
    return count * unit
  }
}

extension AdminEvents.DrainedRun {
  fileprivate init(_ run: DrainReport.Run) {
    self.init(event: run.event.description, function: run.function, state: State(rawValue: run.state), error: run.lastError)
  }
}
