import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import StorageCore
import TreeModel

/// The trigger log, under both of its names: `events` and `triggers`.
enum EventRoutes {
  static let routes: [Route] =
    ["/admin/v1/events", "/admin/v1/triggers"].flatMap { base in
      [
        Route.listing(
          RouteTemplate(stringLiteral: base),
          "Events, newest first, or how many there are; each page says how far it looked.", list
        ).described(listDescription),
        Route.listing(
          RouteTemplate(stringLiteral: base + "/{event...}"),
          "One event whole: the write, before and after, the runs, their effects, entries, events and messages.", show
        ).described(showDescription),
        Route.change(
          .POST, RouteTemplate(stringLiteral: base + "/{event...}/redeliver"), audit: "events.redeliver",
          "Gives an event to its functions again; who handled it does nothing.", access: .support, redeliver
        ).described(redeliverDescription),
      ]
    } + [
      Route.listing("/admin/v1/executions", "What the functions did with an event.", executions)
        .described(executionsDescription),
      Route.listing("/admin/v1/dead-letters", "Events that a function gave up on.", deadLetters)
        .described(deadLettersDescription),
      Route.change(
        .POST, "/admin/v1/drain", audit: nil,
        "Waits until the events committed so far are settled; 504 with the list if they are not.",
        access: .viewer, drain
      ).described(drainDescription),
    ]

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let filter = try EventFilter(call)
    let start = try call.query["cursor"].map { (text) throws(APIError) in try EventWalk.position(text) }
    let (namespace, limit, isCount) = (try call.namespace(), try call.limit(), call.query["count"] == "true")
    let currencies = call.services.ledger?.declaredCurrencies ?? []
    let functions = call.services.functions?.descriptions ?? []
    return .json(
      try call.read { (snapshot) throws(StorageError) in
        let walk = try EventWalk(
          namespace, filter, currencies: currencies, functions: functions, before: start,
          scanMax: isCount ? EventListing.countMax : EventListing.scanMax, in: snapshot)
        var listing = EventListing(walk)
        let page = isCount ? try listing.count() : try listing.page(limit: limit)
        guard let uid = filter.uid, let erasure = try snapshot.erasure(in: namespace, of: uid.text), erasure.order != nil else {
          return page
        }
        return .object((page.object ?? []) + [.init(key: "erased", value: erasure.json)])
      })
  }

  private static func show(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let id = try eventID(call.captures["event"] ?? "")
    let namespace = try call.namespace()
    let functions = call.services.functions?.descriptions ?? []
    let row = try call.read { (snapshot) throws(StorageError) -> JSON? in
      if let event = try snapshot.event(in: namespace, id: id) {
        return try EventDetail(event: event, namespace: namespace, functions: functions, snapshot: snapshot).json()
      }
      guard let invocation = try snapshot.invocation(in: namespace, of: id) else { return nil }
      return try EventDetail(of: invocation, namespace: namespace, functions: functions, snapshot: snapshot).json()
    }
    guard let row else { throw unknown(id) }
    return .json(row)
  }

  private static func executions(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let id = try eventID(try call.required("event"))
    let namespace = try call.namespace()
    let records = try call.read { (snapshot) throws(StorageError) in try snapshot.executions(in: namespace, of: id) }
    return .json(["executions": .array(records.map(JSON.init))])
  }

  private static func deadLetters(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let namespace = try call.namespace()
    let limit = try call.limit(default: 100)
    let cursor = try call.query["cursor"].map { (text) throws(APIError) in try delivery(text) }
    let records = try call.read { (snapshot) throws(StorageError) -> [DeliveryRecord] in
      var last: DeliveryRecord?
      if let cursor { last = try snapshot.delivery(in: namespace, of: cursor.event, to: cursor.function) }
      return try snapshot.deliveries(in: namespace, state: .dead, after: last, limit: limit)
    }
    let next = records.count == limit ? records.last.map { "\($0.function) \($0.event)" } : nil
    return .json(.record([("deadLetters", .array(records.map(JSON.init))), ("next", next.map(JSON.string))]))
  }

  private static func redeliver(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let id = try eventID(call.captures["event"] ?? "")
    let functions = try FunctionRoutes.functions(call)
    let namespace = try call.namespace()
    let isKnown = try call.read { (snapshot) throws(StorageError) in try snapshot.event(in: namespace, id: id) != nil }
    guard isKnown else { throw unknown(id) }
    try await FunctionRoutes.carryOut { () throws(OperationFault) in
      try await functions.redeliver(id, in: namespace, by: call.caller.actor)
    }
    return .json(["status": "ok"])
  }

  private static func drain(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let timeout = try call.query["timeout"].map { (text) throws(APIError) in try milliseconds(text) } ?? 30_000
    let functions = try FunctionRoutes.functions(call)
    let report = await functions.drain(timeoutMilliseconds: timeout)
    return .json(
      ["settled": .bool(report.isComplete), "running": .array(report.running), "unfinished": .array(report.unfinished)],
      status: report.isComplete ? .ok : .gatewayTimeout)
  }

  // MARK: Arguments

  private static func eventID(_ text: String) throws(APIError) -> EventID {
    guard let id = EventID(text) else {
      // What asks for /{event}/redeliver in a wrong way arrives here, for an event's path may end in that word.
      if text.hasSuffix("/redeliver") {
        throw APIError(
          .methodNotAllowed, "method_not_allowed", "This address answers POST only.",
          headers: [HTTPResponse.Header("Allow", "POST")])
      }
      throw .badRequest("\"\(text.prefix(200))\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    return id
  }

  private static func unknown(_ id: EventID) -> APIError {
    APIError(.notFound, "not_found", "There is no event \(id) in this namespace; \"doubloon triggers list\" shows them.")
  }

  /// A cursor of the dead letters: function, space, event.
  private static func delivery(_ cursor: String) throws(APIError) -> (event: EventID, function: String) {
    let parts = cursor.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let event = EventID(String(parts[1])) else {
      throw .badRequest("cursor must be the \"next\" of an earlier page.")
    }
    return (event, String(parts[0]))
  }

  /// `500ms`, `30s`, `2min`, or seconds without a unit; at most an hour.
  private static func milliseconds(_ text: String) throws(APIError) -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit: Int64? =
      switch text[digits.endIndex...] {
      case "ms": 1
      case "s", "": 1000
      case "min": 60_000
      default: nil
      }
    guard let count = Int64(digits), let unit, count <= 3_600_000 / unit else {
      throw .badRequest("timeout must be a number with ms, s or min behind it, at most an hour.")
    }
    return count * unit
  }
}
