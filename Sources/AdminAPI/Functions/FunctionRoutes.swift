import APISupport
import HTTPServer
import NIOHTTP1
import PlayerLifecycle
import StorageCore
import TreeModel

/// The functions: what there is, and their brakes.
enum FunctionRoutes {
  static let routes: [Route] = [
    Route.list("/admin/v1/functions", "The functions, with their state.", list).described(
      RouteDescription(answer: .object([.always("functions", .list(.named("Function")))]))),
    Route.mutate(
      .POST, "/admin/v1/functions/{name}/pause", audit: "functions.pause", "Lets a function's events wait; body: reason.",
      access: .support
    ) {
      (call) throws(APIError) in
      let reason = try call.body().optional("reason") ?? "paused by \(call.caller.actor)"
      let functions = try functions(call)
      try await carryOut { () throws(OperationError) in
        try await functions.pause(call.captures["name"] ?? "", reason: reason, by: call.caller.actor)
      }
      return .json(["status": "ok"])
    }.described(
      RouteDescription(
        captures: [name], body: [.maybe("reason", .text, "why, for the record")], answer: .named("Done"))),
    Route.mutate(
      .POST, "/admin/v1/functions/{name}/resume", audit: "functions.resume", "Goes on, with the events that waited.",
      access: .support
    ) {
      (call) throws(APIError) in
      let functions = try functions(call)
      try await carryOut { () throws(OperationError) in
        try await functions.resume(call.captures["name"] ?? "", by: call.caller.actor)
      }
      return .json(["status": "ok"])
    }.described(RouteDescription(captures: [name], body: [], answer: .named("Done"))),
    Route.mutate(
      .POST, "/admin/v1/functions/{name}/retry", audit: "functions.retry", "Tries the function's dead letters once more.",
      access: .support
    ) {
      (call) throws(APIError) in
      let functions = try functions(call)
      let namespace = try call.namespace()
      let count = try await carryOut { () throws(OperationError) in
        try await functions.retryDeadLetters(of: call.captures["name"] ?? "", in: namespace, by: call.caller.actor)
      }
      return .json(["status": "ok", "retried": .int(Int64(count))])
    }.described(
      RouteDescription(
        query: [.namespace], captures: [name], body: [],
        answer: .object([.always("status", .choice(["ok"])), .always("retried", .count, "how many")]))),
  ]

  private static let name = RouteDescription.Parameter("name", .filled, required: true, "The function's name.")

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let records: [FunctionRecord]
    if let functions = call.services.functions {
      do throws(OperationError) {
        records = try functions.functionRecords()
      } catch {
        throw APIError(error)
      }
    } else {
      records = try call.read { (snapshot) throws(StorageError) in try snapshot.functions() }
    }
    let (dead, retries) = try call.read { (snapshot) throws(StorageError) in
      (try DeliveryFailures(.dead, in: snapshot), try DeliveryFailures(.waiting, in: snapshot))
    }
    let descriptions = call.services.functions?.descriptions ?? []
    let rows = records.map { record -> JSON in
      .object(
        (JSON(record).object ?? [])
          + (descriptions.first { $0.name == record.name }?.settingsJSON.map { [.init(key: "settings", value: $0)] } ?? [])
          + (dead[record.name].map { [.init(key: "deadLetters", value: $0.json)] } ?? [])
          + (retries[record.name].map { [.init(key: "retries", value: $0.json)] } ?? []))
    }
    return .json(["functions": .array(rows)])
  }

  static func functions(_ call: RouteCall) throws(APIError) -> any FunctionOperating {
    guard let functions = call.services.functions else {
      throw APIError(.notImplemented, "not_available", "This server runs no functions.")
    }
    return functions
  }

  static func carryOut<Value>(_ body: () async throws(OperationError) -> Value) async throws(APIError) -> Value {
    do throws(OperationError) {
      return try await body()
    } catch {
      throw APIError(error)
    }
  }
}

extension FunctionDescription {
  /// The settings with their values; nil if it has none.
  fileprivate var settingsJSON: JSON? {
    settings.exists ? try? JSONParser.parse(settings.json(.plain)) : nil
  }
}

/// What functions gave up on, and what they failed on and try again, in all namespaces: so many, and the last of them.
struct DeliveryFailures {
  /// Deliveries of one state that are counted.
  static let countMax = 10_000
  private static let pageSize = 1000

  /// What one function has of one state.
  struct Pile {
    let function: String
    var count = 0
    /// The one that was written last.
    var latest: DeliveryRecord
    var namespace: String

    /// `{"count":2,"namespace":"demo","event":"1-7:/users/bob/level","attempts":12,"error":"…","time":…}`
    var json: JSON {
      [
        "count": .int(Int64(count)), "namespace": .string(namespace), "event": .string(latest.event.description),
        "attempts": .int(Int64(latest.attempts)), "error": .string(latest.lastError), "time": .int(latest.updatedAt),
      ]
    }

    static let schema = JSONSchema.object([
      .always("count", .count), .always("namespace", .text, "of the last one"), .always("event", .text),
      .always("attempts", .count), .always("error", .text), .always("time", .time),
    ])
  }

  /// By function.
  private(set) var piles: [Pile] = []
  /// Whether all were counted.
  private(set) var isComplete = true

  init(_ state: DeliveryRecord.State, in snapshot: any Snapshot) throws(StorageError) {
    var rest = Self.countMax
    for namespace in try snapshot.namespaces() {
      var last: DeliveryRecord?
      while rest > 0 {
        let page = try snapshot.deliveries(in: namespace.id, state: state, after: last, limit: min(Self.pageSize, rest))
        // What waits without having failed waits for another one of its key.
        for delivery in page where state == .dead || delivery.attempts > 0 { add(delivery, namespace.name) }
        rest -= page.count
        last = page.last
        if page.count < Self.pageSize { break }
      }
    }
    isComplete = rest > 0
  }

  private mutating func add(_ delivery: DeliveryRecord, _ namespace: String) {
    let position = piles.firstIndex { $0.function == delivery.function }
    let index = position ?? piles.count
    if position == nil { piles.append(Pile(function: delivery.function, latest: delivery, namespace: namespace)) }
    piles[index].count += 1
    guard delivery.updatedAt >= piles[index].latest.updatedAt else { return }
    (piles[index].latest, piles[index].namespace) = (delivery, namespace)
  }

  subscript(function: String) -> Pile? { piles.first { $0.function == function } }

  /// `{"count":3,"complete":true,"functions":[{"function":"pay","count":3,…}]}`
  var json: JSON {
    [
      "count": .int(Int64(piles.reduce(0) { $0 + $1.count })), "complete": .bool(isComplete),
      "functions": .array(
        piles.map { .object([.init(key: "function", value: .string($0.function))] + ($0.json.object ?? [])) }),
    ]
  }

  static let schema = JSONSchema.object([
    .always("count", .count), .always("complete", .boolean, "whether all were counted"),
    .always("functions", .list(.any), "each with its count and its last one: namespace, event, attempts, error, time"),
  ])
}
