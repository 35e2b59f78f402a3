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
    Route.listing("/admin/v1/replays", "Replays, newest first; before, limit.", list).described(listDescription),
    Route.change(
      .POST, "/admin/v1/replays", audit: "replays.start", "Gives events to functions again; \(orderText).",
      access: .support
    ) {
      (call) throws(APIError) in
      let (order, namespace, replays) = (try order(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationFault) in try await replays.start(order, in: namespace) })
    }.described(startDescription),
    Route.change(
      .POST, "/admin/v1/replays/preview", audit: nil, "Counts and coins of a replay, without any of it; \(orderText).",
      access: .viewer
    ) {
      (call) throws(APIError) in
      let (order, namespace, replays) = (try order(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationFault) in try await replays.preview(order, in: namespace) })
    }.described(trialDescription),
    Route.change(
      .POST, "/admin/v1/replays/dry-run", audit: nil,
      "What exactly a replay would change, without any of it; \(orderText).", access: .viewer
    ) { (call) throws(APIError) in
      let (order, namespace, replays) = (try order(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationFault) in try await replays.dryRun(order, in: namespace) })
    }.described(trialDescription),
    Route.change(
      .POST, "/admin/v1/replays/rebuild", audit: "replays.rebuild",
      "Builds the namespace anew from its commits and compares; body: into (an empty folder that keeps it), rerun, reason.",
      rebuild
    ).described(rebuildDescription),
    Route.listing("/admin/v1/replays/{id}", "One replay, with its progress.", show).described(showDescription),
    Route.listing(
      "/admin/v1/replays/{id}/items", "What a replay gave to functions, and what came of it; cursor, limit.", items
    ).described(itemsDescription),
    step("pause", "Stops a replay after what is on its way.") { (replays, id, namespace) throws(OperationFault) in
      try await replays.pause(id, in: namespace)
    },
    step("resume", "Goes on with a replay.") { (replays, id, namespace) throws(OperationFault) in
      try await replays.resume(id, in: namespace)
    },
    step("cancel", "Ends a replay after what is on its way.") { (replays, id, namespace) throws(OperationFault) in
      try await replays.cancel(id, in: namespace)
    },
    Route.change(
      .POST, "/admin/v1/functions/{name}/invoke", audit: "functions.invoke",
      "Runs a function by hand on an event that never happened; body: path, before, after, as, reason.", invoke
    ).described(invokeDescription),
    Route.listing("/admin/v1/invocations", "Functions that were run by hand, newest first; before, limit.", invocations)
      .described(invocationsDescription),
    Route.change(
      .POST, "/admin/v1/dead-letters/acknowledge", audit: "dead-letters.acknowledge",
      "Closes dead letters without running them; body: reason, and function, event or both.", access: .support,
      acknowledge
    ).described(acknowledgeDescription),
  ]

  private static func step(
    _ name: String, _ summary: String,
    _ body: @escaping @Sendable (any ReplayOperating, Int64, NamespaceID) async throws(OperationFault) -> JSON
  ) -> Route {
    Route.change(
      .POST, RouteTemplate(stringLiteral: "/admin/v1/replays/{id}/\(name)"), audit: "replays.\(name)", summary,
      access: .support
    ) { (call) throws(APIError) in
      let (id, namespace, replays) = (try id(call), try call.namespace(), try replays(call))
      return .json(
        try await FunctionRoutes.carryOut { () throws(OperationFault) in try await body(replays, id, namespace) })
    }.described(stepDescription)
  }

  // MARK: Looking

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (namespace, replays, before, limit) = (
      try call.namespace(), try replays(call), try call.integer("before"), try call.limit()
    )
    let rows = try asking { () throws(OperationFault) in try replays.list(in: namespace, before: before, limit: limit) }
    let next = rows.count == limit ? rows.last?["id"] : nil
    return .json(.record([("replays", .array(rows)), ("next", next)]))
  }

  private static func show(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (id, namespace, replays) = (try id(call), try call.namespace(), try replays(call))
    return .json(try asking { () throws(OperationFault) in try replays.show(id, in: namespace) })
  }

  private static func items(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (id, namespace, replays, limit) = (
      try id(call), try call.namespace(), try replays(call), try call.limit(default: 100)
    )
    let last = try call.query["cursor"].map { (text) throws(APIError) in try item(text) }
    let rows = try asking { () throws(OperationFault) in
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
      try await FunctionRoutes.carryOut { () throws(OperationFault) in
        try await replays.rebuild(name, into: folder, rerun: rerun, by: call.caller.actor)
      })
  }

  private static func invoke(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let path: Path
    let before: TreeNode
    let after: TreeNode
    do {
      path = try Path(parsingOwn: body.required("path"))
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
      try await FunctionRoutes.carryOut { () throws(OperationFault) in
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
    let count = try await FunctionRoutes.carryOut { () throws(OperationFault) in
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

  private static func asking<Value>(_ body: () throws(OperationFault) -> Value) throws(APIError) -> Value {
    do throws(OperationFault) {
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
