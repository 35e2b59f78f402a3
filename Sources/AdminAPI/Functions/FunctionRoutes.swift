import APISupport
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// The functions: what there is, and their brakes.
enum FunctionRoutes {
  static let routes: [Route] = [
    Route.listing("/admin/v1/functions", "The functions, with their state.", list).described(
      RouteDescription(answer: .object([.always("functions", .list(.named("Function")))]))),
    Route.change(
      .POST, "/admin/v1/functions/{name}/pause", audit: "functions.pause", "Lets a function's events wait; body: reason.",
      access: .support
    ) {
      (call) throws(APIError) in
      let reason = try call.body().optional("reason") ?? "paused by \(call.caller.actor)"
      let functions = try functions(call)
      try await carryOut { () throws(OperationFault) in
        try await functions.pause(call.captures["name"] ?? "", reason: reason, by: call.caller.actor)
      }
      return .json(["status": "ok"])
    }.described(
      RouteDescription(
        captures: [name], body: [.maybe("reason", .text, "why, for the record")], answer: .named("Done"))),
    Route.change(
      .POST, "/admin/v1/functions/{name}/resume", audit: "functions.resume", "Goes on, with the events that waited.",
      access: .support
    ) {
      (call) throws(APIError) in
      let functions = try functions(call)
      try await carryOut { () throws(OperationFault) in
        try await functions.resume(call.captures["name"] ?? "", by: call.caller.actor)
      }
      return .json(["status": "ok"])
    }.described(RouteDescription(captures: [name], body: [], answer: .named("Done"))),
    Route.change(
      .POST, "/admin/v1/functions/{name}/retry", audit: "functions.retry", "Tries the function's dead letters once more.",
      access: .support
    ) {
      (call) throws(APIError) in
      let functions = try functions(call)
      let namespace = try call.namespace()
      let count = try await carryOut { () throws(OperationFault) in
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
      do throws(OperationFault) {
        records = try functions.functionRecords()
      } catch {
        throw APIError(error)
      }
    } else {
      records = try call.read { (snapshot) throws(StorageError) in try snapshot.functions() }
    }
    let (dead, retries) = try call.read { (snapshot) throws(StorageError) in
      (try FunctionTroubles(.dead, in: snapshot), try FunctionTroubles(.waiting, in: snapshot))
    }
    let descriptions = call.services.functions?.descriptions ?? []
    let rows = records.map { record -> JSON in
      .object(
        (JSON(record).object ?? [])
          + (descriptions.first { $0.name == record.name }?.settings.map { [.init(key: "settings", value: $0)] } ?? [])
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

  static func carryOut<Value>(_ body: () async throws(OperationFault) -> Value) async throws(APIError) -> Value {
    do throws(OperationFault) {
      return try await body()
    } catch {
      throw APIError(error)
    }
  }
}
