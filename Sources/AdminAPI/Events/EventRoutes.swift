import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import PlayerLifecycle
import StorageCore
import TreeModel

/// The trigger log, under both of its names: `events` and `triggers`.
enum EventRoutes {
  static let routes: [Route] =
    ["/admin/v1/events", "/admin/v1/triggers"].flatMap { base in
      [
        Route.list(
          RouteTemplate(stringLiteral: base),
          "Events, newest first, or how many there are; each page says how far it looked.", list
        ).described(listDescription),
        Route.list(
          RouteTemplate(stringLiteral: base + "/{event...}"),
          "One event whole: the write, before and after, the runs, their effects, entries, events and messages.", show
        ).described(showDescription),
        Route.mutate(
          .POST, RouteTemplate(stringLiteral: base + "/{event...}/redeliver"), audit: "events.redeliver",
          "Gives an event to its functions again; who handled it does nothing.", access: .support, redeliver
        ).described(redeliverDescription),
      ]
    } + [
      Route.list("/admin/v1/executions", "What the functions did with an event.", executions)
        .described(executionsDescription),
      Route.list("/admin/v1/dead-letters", "Events that a function gave up on.", deadLetters)
        .described(deadLettersDescription),
      Route.mutate(
        .POST, "/admin/v1/drain", audit: nil,
        "Waits until the events committed so far are settled; 504 with the list if they are not.",
        access: .viewer, drain
      ).described(drainDescription),
    ]

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let filter = try EventFilter(call)
    let start = try call.query["cursor"].map { (text) throws(APIError) in try EventScan.position(text) }
    let (namespace, limit, isCount) = (try call.namespace(), try call.limit(), call.query["count"] == "true")
    let currencies = call.services.ledger?.declaredCurrencies ?? []
    let functions = call.services.functions?.descriptions ?? []
    return .json(
      try call.read { (snapshot) throws(StorageError) in
        let walk = try EventScan(
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
    try await FunctionRoutes.carryOut { () throws(OperationError) in
      try await functions.redeliver(id, in: namespace, by: call.caller.actor)
    }
    return .json(["status": "ok"])
  }

  private static func drain(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let timeout = try call.query["timeout"].map { (text) throws(APIError) in try milliseconds(text) } ?? 30_000
    let functions = try FunctionRoutes.functions(call)
    let report = await functions.drain(timeoutMilliseconds: timeout)
    let failure: [JSON] = report.failure.map { [["error": .string($0)]] } ?? []
    return .json(
      [
        "settled": .bool(report.isComplete), "running": .array(failure + report.running.map(\.json)),
        "unfinished": .array(report.unfinished.map(\.json)),
      ], status: report.isComplete ? .ok : .gatewayTimeout)
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

extension EventRoutes {
  private static let event = RouteDescription.Parameter(
    "event", .form(JSONSchema.eventForm), required: true, "The event's id: 1-42:/users/bob/level.")
  /// How far a page of the log looked.
  private static let scan: [JSONSchema.Field] = [
    .maybe("next", .text, "the cursor of the next page; missing at the end"),
    .always("scanned", .count, "events that were looked at"),
    .always("scannedThrough", .count, "every event of this revision and later ones was looked at"),
    .always("complete", .boolean, "whether that was the end"),
  ]

  static let listDescription = RouteDescription(
    query: [
      .namespace, .since, .until, .function,
      .init("outcome", .choice(EventFilter.outcomes), "Only with this outcome for a function."),
      .init("reason", .filled, "Only where this stands in the reason or the error."),
      .init("attempt", .integer(0...1_000_000), "Only after so many attempts, or more."),
      .init("actor", .filled, "Only written by this actor (user:bob), or this kind of actor (user)."),
      .init("path", .form(#"^[^.#$\[\]{}*\x00-\x1F\x7F]*$"#), "Only at this path or below; or at a pattern: /users/*/level."),
      .init(
        "uid", .form(JSONSchema.keyForm), "Only about this player: in the path, or with coins moved on an account of theirs."),
      .init(
        "cause", .form(#"^([0-9]{1,9}|[0-9]{1,9}-[0-9]{1,9}:/[^.#$\[\]\x00-\x1F\x7F]*)$"#),
        "Only this event, or the events of this revision, and what came of them."),
      .init("count", .boolean, "Only how many."), .limit(50),
      .init("cursor", .form(#"^[0-9]{1,9}:(/[^.#$\[\]\x00-\x1F\x7F]*)?$"#), "The \"next\" of an earlier page."),
    ],
    answer: .object(
      [
        .maybe("events", .list(.named("Event"))), .maybe("count", .count),
        .maybe("outcomes", .object([]), "runs by outcome"),
        .maybe("erased", ErasureRoutes.erasure, "of the player who was asked for"),
      ] + scan))

  static let showDescription = RouteDescription(
    query: [.namespace], captures: [event],
    answer: .object([
      .always("id", .text), .always("before", .any), .always("after", .any),
      .maybe("invocation", ReplayRoutes.invocation, "of a run by hand"),
      .maybe("cut", .boolean, "whether before or after has more leaves than are shown"),
      .maybe("erased", ErasureRoutes.place, "if before and after are not known any more"),
      .always(
        "matches",
        .list(
          .object([
            .always("function", .text), .always("pattern", .text), .always("captures", .object([])), .always("runsOn", .text),
          ]))),
      .always("write", .nullable(CommitRow.schema)), .always("executions", .list(.named("Execution"))),
      .always("deliveries", .list(.named("Delivery"))),
      .always(
        "failures",
        .list(
          .object([
            .always("function", .text), .always("attempt", .count), .maybe("startedAt", .count),
            .always("finishedAt", .count), .always("error", .text), .maybe("settings", .any),
          ])), "attempts that failed, oldest first"),
      .always("effects", .list(.named("Change"))),
      .always("entries", .list(.named("Entry"))),
      .always("children", .list(.object([.always("id", .text), .always("kind", .text)])), "events that its effects caused"),
      .always(
        "outbox", .list(.object([.always("key", .text), .always("outlet", .text), .always("state", .text)])),
        "messages to the outside"),
    ]))

  static let redeliverDescription = RouteDescription(
    query: [.namespace], captures: [event], body: [], answer: .named("Done"))

  static let executionsDescription = RouteDescription(
    query: [.namespace, event], answer: .object([.always("executions", .list(.named("Execution")))]))

  static let deadLettersDescription = RouteDescription(
    query: [
      .namespace, .limit(100),
      .init("cursor", .form(#"^[A-Za-z0-9_-]+ [0-9]{1,9}-[0-9]{1,9}:/[A-Za-z0-9/_-]*$"#), "The next of a page."),
    ],
    answer: .object([.always("deadLetters", .list(.named("Delivery"))), .maybe("next", .text)]))

  static let drainDescription = RouteDescription(
    query: [
      .init("timeout", .form("^([0-9]{1,6}ms|[0-9]{1,3}s?|[0-9]min)$"), "How long to wait: 500ms, 30s, 2min; at most an hour.")
    ],
    body: [],
    answer: .object([
      .always("settled", .boolean), .always("running", .list(.any)),
      .always("unfinished", .list(.any), "what waits for a retry, is paused or dead"),
    ]),
    others: [504: "Not settled in time; what is running is listed."])
}

extension DrainReport.Run {
  fileprivate var json: JSON {
    [
      "event": .string(event.description), "function": .string(function), "state": .string(state),
      "error": lastError.map { .string($0) } ?? .null,
    ]
  }
}
