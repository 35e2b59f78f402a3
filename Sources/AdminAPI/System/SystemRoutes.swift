import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

/// The server itself: how it is, its clock, its copies.
enum SystemRoutes {
  /// How far one call moves the clock: a hundred years, in milliseconds.
  private static let advanceMax: Int64 = 3_155_760_000_000

  static let routes: [Route] =
    [
      Route.list("/admin/v1/status", "How the server is.", status).described(
        RouteDescription(
          answer: .object([
            .always("mode", .choice(["development", "production"])), .always("time", .time), .always("epoch", .count),
            .always("namespaces", .count), .always("defaultNamespace", .text),
            .always("writer", .object([.always("queueDepth", .count), .maybe("failure", .text)])),
            .always("warnings", .list(.text), "what an administrator should look at; nothing is broken"),
            .always("problems", .list(.text), "what keeps functions from working"),
            .always(
              "pausedFunctions", .list(.object([.always("name", .text), .always("reason", .text)])), "their events wait"),
            .always("deadLetters", DeliveryFailures.schema, "what functions gave up on"),
            .always("retries", DeliveryFailures.schema, "what functions failed on, and try again"),
            .maybe(
              "disk", .object([.always("folder", .text), .always("freeBytes", .count), .always("totalBytes", .count)]),
              "where the data are"),
          ]))),
      Route.list("/admin/v1/verify", "Checks everything that is stored, of all namespaces.", verify)
        .described(verifyDescription),
      Route.mutate(.POST, "/admin/v1/backup", audit: "backup", "Copies the store into a new file on the server.", backup)
        .described(
          RouteDescription(
            body: [.always("path", .form("^/.+$"), "an absolute path on the server")],
            answer: .object([.always("status", .choice(["ok"])), .always("path", .text)]))),
      Route.mutate(
        .POST, "/admin/v1/clock", audit: "clock.advance", "Moves the clock forward (development only).",
        access: .adminInDevelopment, clock
      ).described(
        RouteDescription(
          body: [.always("advance", .integer(0...advanceMax), "milliseconds")],
          answer: .object([.always("time", .time)]))),
    ] + AuditRoutes.routes

  private static func status(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let database = call.services.database
    let (epoch, namespaces) = try call.read { (snapshot) throws(StorageError) in
      (snapshot.epoch, try snapshot.namespaces().count)
    }
    let (paused, dead, retries) = try call.read { (snapshot) throws(StorageError) in
      (
        try snapshot.functions().filter(\.isPaused), try DeliveryFailures(.dead, in: snapshot).json,
        try DeliveryFailures(.waiting, in: snapshot).json
      )
    }
    let problems = call.services.functions?.problems ?? []
    let warnings = call.services.metrics.http.proxySuspicion.suspect.map { address in
      "Most requests come from \(address), a private address: if a proxy stands there, name it in \"listen.trustedProxies\", or "
        + "its clients share one client's limits."
    }
    return .json(
      .record([
        ("mode", .string(call.services.isDevelopment ? "development" : "production")),
        ("time", .int(database.clock.now())), ("epoch", .int(epoch)), ("namespaces", .int(Int64(namespaces))),
        ("defaultNamespace", .string(call.services.defaultNamespace)),
        (
          "writer",
          .record([
            ("queueDepth", .int(Int64(database.queueDepth))), ("failure", database.failure.map { .string($0.message) }),
          ])
        ),
        ("warnings", .array([warnings].compactMap(\.self).map(JSON.string))),
        ("problems", .array(problems.map(JSON.string))),
        (
          "pausedFunctions",
          .array(paused.map { ["name": .string($0.name), "reason": .string($0.pauseReason ?? "")] })
        ),
        ("deadLetters", dead), ("retries", retries),
        (
          "disk",
          call.services.diskSpace().map {
            ["folder": .string($0.folder), "freeBytes": .int($0.freeBytes), "totalBytes": .int($0.totalBytes)]
          }
        ),
      ]))
  }

  private static let verifyDescription = RouteDescription(
    answer: .object([
      .always("sound", .boolean), .always("rows", .count, "of the tables, read and compared with what proves them"),
      .always("faultCount", .count, "in pages and rows"), .always("faults", .list(.text)),
      .always(
        "namespaces",
        .list(
          .object([
            .always("namespace", .text), .maybe("commits", .count), .maybe("executions", .count), .maybe("entries", .count),
            .maybe("ledgerAccounts", .count), .maybe("referrals", .count, "players whose referrer is known"),
            .always("faultCount", .count, "in the log, the ledger and the index of referrals"),
            .always("faults", .list(.text)),
          ]))),
    ]))

  private static func verify(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let services = call.services
    return .json(
      StoreVerification.run(
        services.database.engine, currencies: services.ledger?.currencies, referrals: services.referrals?.place
      ).json)
  }

  private static func backup(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let path = try call.body().required("path")
    guard path.hasPrefix("/") else { throw .badRequest("\"path\" must be absolute: the file is written by the server.") }
    let engine = call.services.database.engine
    let outcome: Result<Void, StorageError>?
    do {
      outcome = try await call.services.adminPool.runIfActive {
        Result { () throws(StorageError) in try engine.backup(to: path) }
      }
    } catch {
      throw APIError(.serviceUnavailable, "unavailable", "The server is shutting down.")
    }
    if case .failure(let error) = outcome {
      throw error.code == .unsuitable ? APIError.badRequest(error.message) : APIError(error)
    }
    return .json(["status": "ok", "path": .string(path)])
  }

  private static func clock(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    guard let clock = call.services.adjustableClock else {
      throw APIError(.notImplemented, "not_available", "This server's clock cannot be moved.")
    }
    let advance = try call.body().requiredInteger("advance")
    guard advance >= 0, advance <= advanceMax else {
      throw .badRequest("\"advance\" must be 0 or more milliseconds, at most a hundred years: time only goes forward.")
    }
    guard advance <= JSONSchema.timeMax - min(clock.now(), JSONSchema.timeMax) else {
      throw APIError(.conflict, "conflict", "The clock cannot be moved beyond the year 9999; start the server again.")
    }
    clock.advance(by: advance)
    return .json(["time": .int(clock.now())])
  }
}

/// The namespaces of the store.
enum NamespaceRoutes {
  static let routes: [Route] = [
    Route.list("/admin/v1/namespaces", "The namespaces, each with its revision.", list).described(
      RouteDescription(
        answer: .object([
          .always(
            "namespaces",
            .list(
              .object([
                .always("name", .text), .always("createdAt", .time), .always("revision", .count), .always("entries", .count),
              ])))
        ]))),
    Route.mutate(.POST, "/admin/v1/namespaces", audit: "namespaces.create", "Makes a namespace.", create).described(
      RouteDescription(
        body: [.always("name", .form("^[A-Za-z0-9-]{1,64}$"), "1 to 64 letters, digits and hyphens")],
        answer: .object([.always("status", .choice(["ok"])), .always("name", .text)]))),
    Route.mutate(
      .DELETE, "/admin/v1/namespaces/{name}", audit: "namespaces.delete",
      "Forgets a namespace whole: tree, log, ledger (development only).", access: .adminInDevelopment, delete
    ).described(
      RouteDescription(captures: [.init("name", .filled, required: true, "The namespace.")], answer: .named("Done"))),
  ]

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let rows = try call.read { (snapshot) throws(StorageError) -> [JSON] in
      var rows: [JSON] = []
      for record in try snapshot.namespaces() {
        let head = try snapshot.head(of: record.id)
        rows.append([
          "name": .string(record.name), "createdAt": .int(record.createdAt), "revision": .int(head.revision.rawValue),
          "entries": .int(head.entrySequence),
        ])
      }
      return rows
    }
    return .json(["namespaces": .array(rows)])
  }

  private static func create(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let name = try call.body().required("name")
    do throws(CommitError) {
      _ = try await call.services.database.openNamespace(named: name)
    } catch {
      throw APIError(error)
    }
    return .json(["status": "ok", "name": .string(name)])
  }

  private static func delete(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let name = call.captures["name"] ?? ""
    guard let id = call.services.database.namespace(named: name) else { throw .unknownNamespace(name) }
    do throws(CommitError) {
      try await call.services.database.forgetNamespace(named: name)
    } catch {
      throw APIError(error)
    }
    call.services.functions?.forget(id)
    return .json(["status": "ok"])
  }
}
