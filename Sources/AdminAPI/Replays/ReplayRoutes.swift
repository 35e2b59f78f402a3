import APISupport
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// Replays: what would happen, what happens, what happened; and the other repairs of what functions did or did not do.
enum ReplayRoutes {
  /// What an order may say, for the summaries.
  private static let orderText =
    "body: mode (failed, gaps, all), reason, and to narrow it event, function, since, until (ms), uid; allowHandled, suppressed, rate (per s)"

  static let routes: [Route] = [
    Route.list("/admin/v1/replays", "Replays, newest first; before, limit.", list).described(listDescription),
    Route.mutate(
      .POST, "/admin/v1/replays", audit: "replays.start", "Gives events to functions again; \(orderText).",
      access: .support
    ) {
      (call) throws(APIError) in
      let (order, namespace, replays) = (try order(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationError) in try await replays.start(order, in: namespace) })
    }.described(startDescription),
    Route.mutate(
      .POST, "/admin/v1/replays/preview", audit: nil, "Counts and coins of a replay, without any of it; \(orderText).",
      access: .viewer
    ) {
      (call) throws(APIError) in
      let (order, namespace, replays) = (try order(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationError) in try await replays.preview(order, in: namespace) })
    }.described(trialDescription),
    Route.mutate(
      .POST, "/admin/v1/replays/dry-run", audit: nil,
      "What exactly a replay would change, without any of it; \(orderText).", access: .viewer
    ) { (call) throws(APIError) in
      let (order, namespace, replays) = (try order(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationError) in try await replays.dryRun(order, in: namespace) })
    }.described(trialDescription),
    Route.mutate(
      .POST, "/admin/v1/replays/rebuild", audit: "replays.rebuild",
      "Builds the namespace anew from its commits and compares; body: into (an empty folder that keeps it), rerun, reason.",
      rebuild
    ).described(rebuildDescription),
    Route.list("/admin/v1/replays/{id}", "One replay, with its progress.", show).described(showDescription),
    Route.list(
      "/admin/v1/replays/{id}/items", "What a replay gave to functions, and what came of it; cursor, limit.", items
    ).described(itemsDescription),
    step("pause", "Stops a replay after what is on its way.") { (replays, id, namespace) throws(OperationError) in
      try await replays.pause(id, in: namespace)
    },
    step("resume", "Goes on with a replay.") { (replays, id, namespace) throws(OperationError) in
      try await replays.resume(id, in: namespace)
    },
    step("cancel", "Ends a replay after what is on its way.") { (replays, id, namespace) throws(OperationError) in
      try await replays.cancel(id, in: namespace)
    },
    Route.mutate(
      .POST, "/admin/v1/functions/{name}/invoke", audit: "functions.invoke",
      "Runs a function by hand on an event that never happened; body: path, before, after, as, reason.", invoke
    ).described(invokeDescription),
    Route.list("/admin/v1/invocations", "Functions that were run by hand, newest first; before, limit.", invocations)
      .described(invocationsDescription),
    Route.mutate(
      .POST, "/admin/v1/dead-letters/acknowledge", audit: "dead-letters.acknowledge",
      "Closes dead letters without running them; body: reason, and function, event or both.", access: .support,
      acknowledge
    ).described(acknowledgeDescription),
  ]

  private static func step(
    _ name: String, _ summary: String,
    _ body: @escaping @Sendable (any ReplayOperating, Int64, NamespaceID) async throws(OperationError) -> JSON
  ) -> Route {
    Route.mutate(
      .POST, RouteTemplate(stringLiteral: "/admin/v1/replays/{id}/\(name)"), audit: "replays.\(name)", summary,
      access: .support
    ) { (call) throws(APIError) in
      let (id, namespace, replays) = (try id(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationError) in try await body(replays, id, namespace) })
    }.described(stepDescription)
  }

  // MARK: Looking

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (namespace, replays, before, limit) = (
      try call.namespace(), try replays(call), try call.integer("before"), try call.limit()
    )
    let rows = try asking { () throws(OperationError) in try replays.list(in: namespace, before: before, limit: limit) }
    let next = rows.count == limit ? rows.last?["id"] : nil
    return .json(.record([("replays", .array(rows)), ("next", next)]))
  }

  private static func show(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (id, namespace, replays) = (try id(call), try call.namespace(), try replays(call))
    return .json(try asking { () throws(OperationError) in try replays.show(id, in: namespace) })
  }

  private static func items(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (id, namespace, replays, limit) = (
      try id(call), try call.namespace(), try replays(call), try call.limit(default: 100)
    )
    let last = try call.query["cursor"].map { (text) throws(APIError) in try item(text) }
    let rows = try asking { () throws(OperationError) in
      try replays.items(of: id, in: namespace, after: last, limit: limit)
    }
    var next: JSON?
    if rows.count == limit, let row = rows.last, let event = row["event"]?.string, let function = row["function"]?.string {
      next = .string("\(function) \(event)")
    }
    return .json(.record([("items", .array(rows)), ("next", next)]))
  }

  private static func invocations(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (namespace, before, limit) = (try call.namespace(), try call.integer("before"), try call.limit())
    let records = try call.read { (snapshot) throws(StorageError) in
      try snapshot.invocations(in: namespace, before: before, limit: limit)
    }
    let next = records.count == limit ? records.last.map { JSON.int($0.id) } : nil
    return .json(.record([("invocations", .array(records.map(JSON.init))), ("next", next)]))
  }

  // MARK: Repairing

  private static func rebuild(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let (name, folder, rerun) = (call.namespaceName, try body.optional("into"), body["rerun"]?.bool ?? false)
    _ = try call.namespace()
    if let folder, !folder.hasPrefix("/") {
      throw .badRequest("\"into\" must be absolute: the folder is made by the server.")
    }
    let replays = try replays(call)
    return .json(
      try await FunctionRoutes.carryOut { () throws(OperationError) in
        try await replays.rebuild(name, into: folder, rerun: rerun, by: call.caller.actor)
      })
  }

  private static func invoke(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let path: Path
    let before: TreeNode
    let after: TreeNode
    do {
      path = try Path(parsingInternal: body.required("path"))
      before = try TreeNode(json: body["before"] ?? .null, depth: path.depth)
      after = try TreeNode(json: body["after"] ?? .null, depth: path.depth)
    } catch let error as APIError {
      throw error
    } catch {
      throw .badRequest("\(error)")
    }
    let name = try body.optional("as") ?? call.caller.actor.description
    guard let actor = Actor(name) else {
      throw .badRequest("\"as\" must be an actor, such as user:bob, anonymous or admin:owner.")
    }
    let order = InvocationOrder(
      function: call.captures["name"] ?? "", path: path, before: before, after: after, actingAs: actor,
      reason: try body.required("reason"))
    let (namespace, replays) = (try call.namespace(), try replays(call))
    return .json(
      try await FunctionRoutes.carryOut { () throws(OperationError) in
        try await replays.invoke(order, in: namespace, by: call.caller.actor)
      })
  }

  private static func acknowledge(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let (reason, function) = (try body.required("reason"), try body.optional("function"))
    let event = try body.optional("event").map { (text) throws(APIError) in try eventID(text) }
    guard function != nil || event != nil else {
      throw .badRequest("Name a \"function\", an \"event\", or both: all dead letters at once are never acknowledged.")
    }
    let (namespace, replays) = (try call.namespace(), try replays(call))
    let count = try await FunctionRoutes.carryOut { () throws(OperationError) in
      try await replays.acknowledge(function: function, event: event, in: namespace, reason: reason)
    }
    return .json(["status": "ok", "acknowledged": .int(Int64(count))])
  }

  // MARK: Arguments

  private static func replays(_ call: RouteCall) throws(APIError) -> any ReplayOperating {
    guard let replays = call.services.replays else {
      throw APIError(.notImplemented, "not_available", "This server replays nothing.")
    }
    return replays
  }

  private static func id(_ call: RouteCall) throws(APIError) -> Int64 {
    guard let id = call.captures["id"].flatMap({ Int64($0) }) else {
      throw .badRequest("A replay is named by its number; \"doubloon replay list\" shows them.")
    }
    return id
  }

  private static func order(_ call: RouteCall) throws(APIError) -> ReplayOrder {
    let body = try call.body()
    let event = try body.optional("event").map { (text) throws(APIError) in try eventID(text) }
    let name = try body.optional("mode") ?? (event == nil ? ReplayOrder.Mode.failed : .all).rawValue
    guard let mode = ReplayOrder.Mode(rawValue: name) else {
      throw .badRequest("\"mode\" must be \(ReplayOrder.Mode.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    let rate = try body.optionalInteger("rate") ?? 0
    guard (0...1_000_000).contains(rate) else { throw .badRequest("\"rate\" must be 0 to 1000000 events in a second.") }
    return ReplayOrder(
      mode: mode, event: event, function: try body.optional("function"), since: try body.optionalInteger("since"),
      until: try body.optionalInteger("until"), uid: try body.optional("uid"),
      allowsHandled: body["allowHandled"]?.bool ?? false,
      takesSuppressed: body["suppressed"]?.bool ?? false, rate: rate, reason: try body.required("reason"),
      actor: call.caller.actor)
  }

  private static func eventID(_ text: String) throws(APIError) -> EventID {
    guard let id = EventID(text) else {
      throw .badRequest("\"\(text.prefix(200))\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    return id
  }

  /// A cursor of the items: function, space, event.
  private static func item(_ cursor: String) throws(APIError) -> ReplayItem {
    let parts = cursor.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let event = EventID(String(parts[1])) else {
      throw .badRequest("cursor must be the \"next\" of an earlier page.")
    }
    return ReplayItem(event: event, function: String(parts[0]))
  }

  private static func asking<Value>(_ body: () throws(OperationError) -> Value) throws(APIError) -> Value {
    do throws(OperationError) {
      return try body()
    } catch {
      throw APIError(error)
    }
  }
}

extension JSON {
  init(_ invocation: InvocationRecord) {
    self = .record([
      ("id", .int(invocation.id)), ("event", .string(invocation.event.description)),
      ("function", .string(invocation.function)), ("path", .string(invocation.path.description)),
      ("before", invocation.before.jsonValue(.export)), ("after", invocation.after.jsonValue(.export)),
      ("as", .string(invocation.actingAs.description)), ("actor", .string(invocation.actor.description)),
      ("reason", .string(invocation.reason)), ("time", .int(invocation.time)),
    ])
  }
}

extension ReplayRoutes {
  private static let id = RouteDescription.Parameter("id", .integer(1 ... .max), required: true, "The replay's number.")
  private static let reason = JSONSchema.Field.always("reason", .filled, "why, for the record")
  private static let before = RouteDescription.Parameter(
    "before", .count, "Only those before this number: the \"next\" of an earlier page.")

  private static let order: [JSONSchema.Field] = [
    .maybe("mode", .choice(ReplayOrder.Mode.allCases.map(\.rawValue)), "failed, or all if an event is named"), reason,
    .maybe("event", .form(JSONSchema.eventForm), "this event alone"), .maybe("function", .filled, "this function alone"),
    .maybe("since", .time, "events from this time on"), .maybe("until", .time, "events up to this time, itself included"),
    .maybe("uid", .form(JSONSchema.keyForm), "events of this player's places"),
    .maybe("suppressed", .boolean, "also writes that told functions to sleep: imports, and with triggers suppressed"),
    .maybe("allowHandled", .boolean, "also where another function has handled the pattern"),
    .maybe("rate", .integer(0...1_000_000), "events a second at most; 0 or none: as fast as the server likes"),
  ]
  private static let replay = JSONSchema.object([
    .always("id", .count), .always("state", .choice(["running", "paused", "done", "cancelled", "failed"])),
    .always("order", .any, "what was asked for, by whom and why"), .always("progress", .any, "where it stands, and its counts"),
    .always("createdAt", .time), .always("updatedAt", .time),
  ])
  static let invocation = JSONSchema.object([
    .always("id", .count), .always("event", .text), .always("function", .text), .always("path", .text),
    .always("before", .any), .always("after", .any), .always("as", .text, "whose write the function saw"),
    .always("actor", .text, "who ran it"), .always("reason", .text), .always("time", .time),
  ])

  static let listDescription = RouteDescription(
    query: [.namespace, before, .limit(50)],
    answer: .object([.always("replays", .list(replay)), .maybe("next", .count, "the next page's before")]))
  static let startDescription = RouteDescription(query: [.namespace], body: order, answer: replay)
  /// Of what only looks: the answer depends on the order.
  static let trialDescription = RouteDescription(query: [.namespace], body: order, answer: .any)
  static let rebuildDescription = RouteDescription(
    query: [.namespace],
    body: [
      .maybe("into", .form("^/"), "an empty folder of the server's machine, which keeps what is built"),
      .maybe("reason", .text, "why, for the audit log"),
      .maybe("rerun", .boolean, "whether the functions run again, to list what they would do differently"),
    ],
    answer: .object([
      .always("equal", .boolean), .always("through", .count, "the last revision"), .always("commits", .count),
      .always("entries", .count), .always("executions", .count), .always("recorded", .text, "SHA-256 of what is there"),
      .always("rebuilt", .text, "SHA-256 of what was built"), .always("faultCount", .count),
      .always("faults", .list(.text)), .maybe("checkpoint", .count), .maybe("folder", .text), .maybe("rerun", .any),
    ]))
  static let showDescription = RouteDescription(query: [.namespace], captures: [id], answer: .any)
  static let itemsDescription = RouteDescription(
    query: [.namespace, .cursor, .limit(100)], captures: [id],
    answer: .object([
      .always(
        "items",
        .list(
          .object([
            .always("event", .text), .always("function", .text), .always("outcome", .text), .maybe("reason", .text),
            .maybe("effect", .count, "the revision of its commit"),
          ]))), .maybe("next", .text, "the next page's cursor"),
    ]))
  static let stepDescription = RouteDescription(query: [.namespace], captures: [id], body: [], answer: replay)
  static let invokeDescription = RouteDescription(
    query: [.namespace], captures: [.init("name", .filled, required: true, "The function's name.")],
    body: [
      .always("path", .filled, "where the event is said to have happened"),
      .maybe("before", .any, "nothing if it is not given"),
      .maybe("after", .any, "nothing if it is not given"), .maybe("as", .filled, "an actor: user:bob, anonymous"), reason,
    ], answer: .any)
  static let invocationsDescription = RouteDescription(
    query: [.namespace, before, .limit(50)],
    answer: .object([.always("invocations", .list(invocation)), .maybe("next", .count, "the next page's before")]))
  static let acknowledgeDescription = RouteDescription(
    query: [.namespace],
    body: [
      reason, .maybe("function", .filled, "of this function"), .maybe("event", .form(JSONSchema.eventForm), "of this event"),
    ],
    answer: .object([.always("status", .choice(["ok"])), .always("acknowledged", .count, "how many")]))
}
