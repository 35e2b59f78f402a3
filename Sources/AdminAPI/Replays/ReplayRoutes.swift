import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// Replays: what would happen, what happens, what happened; and the other repairs of what functions did or did not do.
enum ReplayRoutes {
  static let routes: [Route] = [
    .reading(AdminReplays.list, by: list),
    .changing(AdminReplays.start, audit: "replays.start") { call, order in
      try await order.give(
        call,
        to: { replays, order, namespace in
          try await replays.start(order, in: namespace)
        })
    },
    .changing(AdminReplays.preview, audit: nil) { call, order in
      try await order.give(
        call,
        to: { replays, order, namespace in
          try await replays.preview(order, in: namespace)
        })
    },
    .changing(AdminReplays.dryRun, audit: nil) { call, order in
      try await order.give(
        call,
        to: { replays, order, namespace in
          try await replays.dryRun(order, in: namespace)
        })
    },
    .changing(AdminReplays.rebuild, audit: "replays.rebuild", answer: rebuild),
    .reading(AdminReplays.show, by: show),
    .reading(AdminReplays.items, by: items),
    step(AdminReplays.pause, audit: "replays.pause") { replays, id, namespace in
      try await replays.pause(id, in: namespace)
    },
    step(AdminReplays.resume, audit: "replays.resume") { replays, id, namespace in
      try await replays.resume(id, in: namespace)
    },
    step(AdminReplays.cancel, audit: "replays.cancel") { replays, id, namespace in
      try await replays.cancel(id, in: namespace)
    },
    .changing(AdminFunctions.invoke, audit: "functions.invoke", answer: invoke),
    .reading(AdminFunctions.invocations, by: invocations),
    .changing(AdminEvents.acknowledge, audit: "dead-letters.acknowledge", answer: acknowledge),
  ]

  private static func step(
    _ endpoint: Endpoint<NoQuery, EmptyBody, AdminReplays.Replay>, audit: String,
    body: @escaping @Sendable (any ReplayOperating, Int64, NamespaceID) async throws -> AdminReplays.Replay
  ) -> Route {
    .changing(endpoint, audit: audit) { call, _ in
      let (id, namespace, replays) = (try id(call), try call.namespace(), try replays(call))
      return try await body(replays, id, namespace)
    }
  }

  // MARK: Looking

  private static func list(_ call: RouteCall, query: AdminReplays.Query) throws -> AdminReplays.List {
    let (namespace, replays, limit) = (try call.namespace(), try replays(call), Int(query.limit ?? 50))
    let rows = try replays.list(in: namespace, before: query.before, limit: limit)
    return AdminReplays.List(replays: rows, next: rows.count == limit ? rows.last?.id : nil)
  }

  private static func show(_ call: RouteCall, query _: NoQuery) throws -> AdminReplays.Replay {
    let (id, namespace, replays) = (try id(call), try call.namespace(), try replays(call))
    return try replays.show(id, in: namespace)
  }

  private static func items(_ call: RouteCall, query: AdminReplays.ItemQuery) throws -> AdminReplays.ItemList {
    let (id, namespace, replays, limit) = (
      try id(call), try call.namespace(), try replays(call), Int(query.limit ?? 100)
    )
    let last = try query.cursor.map(item)
    let rows = try replays.items(of: id, in: namespace, after: last, limit: limit)
    let next = rows.count == limit ? rows.last.map { "\($0.function) \($0.event)" } : nil
    return AdminReplays.ItemList(items: rows, next: next)
  }

  private static func invocations(_ call: RouteCall, query: AdminFunctions.InvocationQuery) throws
    -> AdminFunctions.InvocationList
  {
    let (namespace, limit) = (try call.namespace(), Int(query.limit ?? 50))
    let records = try call.read { snapshot in
      try snapshot.invocations(in: namespace, before: query.before, limit: limit)
    }
    return AdminFunctions.InvocationList(
      invocations: records.map { AdminEvents.Invocation($0) }, next: records.count == limit ? records.last?.id : nil)
  }

  // MARK: Repairing

  private static func rebuild(_ call: RouteCall, order: AdminReplays.RebuildOrder) async throws -> AdminReplays.Rebuild {
    let (name, folder, rerun) = (call.namespaceName, order.into, order.rerun ?? false)
    _ = try call.namespace()
    if let folder, !folder.hasPrefix("/") {
      throw APIError.badRequest("\"into\" must be absolute: the folder is made by the server.")
    }
    let replays = try replays(call)
    return try await replays.rebuild(name, into: folder, rerun: rerun, by: call.caller.actor)
  }

  private static func invoke(_ call: RouteCall, order wanted: AdminFunctions.InvocationOrder) async throws
    -> AdminReplays.Item
  {
    let path: Path
    let before: TreeNode
    let after: TreeNode
    do {
      path = try Path(parsingInternal: wanted.path)
      before = try TreeNode(json: wanted.before ?? .null, depth: path.depth)
      after = try TreeNode(json: wanted.after ?? .null, depth: path.depth)
    } catch {
      throw APIError.badRequest("\(error)")
    }
    guard let actor = Actor(wanted.actingAs ?? call.caller.actor.description) else {
      throw APIError.badRequest("\"as\" must be an actor, such as user:bob, anonymous or admin:owner.")
    }
    let order = InvocationOrder(
      function: call.captures["name"] ?? "", path: path, before: before, after: after, actingAs: actor,
      reason: wanted.reason)
    let (namespace, replays) = (try call.namespace(), try replays(call))
    return try await replays.invoke(order, in: namespace, by: call.caller.actor)
  }

  private static func acknowledge(_ call: RouteCall, order: AdminEvents.AcknowledgeOrder) async throws
    -> AdminEvents.Acknowledged
  {
    let event = try order.event.map(eventID)
    guard order.function != nil || event != nil else {
      throw APIError.badRequest("Name a \"function\", an \"event\", or both: all dead letters at once are never acknowledged.")
    }
    let (namespace, replays) = (try call.namespace(), try replays(call))
    let count = try await replays.acknowledge(function: order.function, event: event, in: namespace, reason: order.reason)
    return AdminEvents.Acknowledged(status: .ok, acknowledged: Int64(count))
  }

  // MARK: Arguments

  fileprivate static func replays(_ call: RouteCall) throws -> any ReplayOperating {
    guard let replays = call.services.replays else {
      throw APIError(.notImplemented, "not_available", "This server replays nothing.")
    }
    return replays
  }

  private static func id(_ call: RouteCall) throws -> Int64 {
    guard let id = call.captures["id"].flatMap({ Int64($0) }) else {
      throw APIError.badRequest("A replay is named by its number; \"doubloon replay list\" shows them.")
    }
    return id
  }

  fileprivate static func eventID(_ text: String) throws -> EventID {
    guard let id = EventID(text) else {
      throw APIError.badRequest("\"\(text.prefix(200))\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    return id
  }

  /// A cursor of the items: function, space, event.
  private static func item(_ cursor: String) throws -> ReplayItem {
    let parts = cursor.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let event = EventID(String(parts[1])) else {
      throw APIError.badRequest("cursor must be the \"next\" of an earlier page.")
    }
    return ReplayItem(event: event, function: String(parts[0]))
  }
}

extension AdminReplays.Order {
  /// Gives the order to the replays, and answers with what they say.
  fileprivate func give<Answer>(
    _ call: RouteCall, to body: (any ReplayOperating, ReplayOrder, NamespaceID) async throws -> Answer
  ) async throws -> Answer {
    let (order, namespace, replays) = (try order(by: call.caller.actor), try call.namespace(), try ReplayRoutes.replays(call))
    return try await body(replays, order, namespace)
  }

  private func order(by actor: Actor) throws -> ReplayOrder {
    let event = try event.map(ReplayRoutes.eventID)
    let rate = rate ?? 0
    guard (0...1_000_000).contains(rate) else { throw APIError.badRequest("\"rate\" must be 0 to 1000000 events in a second.") }
    return ReplayOrder(
      mode: (mode ?? (event == nil ? .failed : .all)).stored, event: event, function: function, since: since?.milliseconds,
      until: until?.milliseconds, uid: uid, path: path, writer: writer, error: error, allowsHandled: allowHandled ?? false,
      takesSuppressed: suppressed ?? false, rate: rate, reason: reason, actor: actor)
  }
}

extension AdminReplays.Mode {
  fileprivate var stored: ReplayOrder.Mode {
    switch self {
    case .failed: .failed
    case .gaps: .gaps
    case .all: .all
    }
  }
}
