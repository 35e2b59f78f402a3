import APISupport
import AdminModel
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
      .reading(AdminSystem.status, by: status), .reading(AdminSystem.verify, by: verify),
      .changing(AdminSystem.backup, audit: "backup", answer: backup),
      .changing(AdminSystem.clock, audit: "clock.advance", answer: clock),
    ] + AuditRoutes.routes

  private static func status(_ call: RouteCall, query _: NoQuery) throws -> AdminSystem.Status {
    let database = call.services.database
    let (epoch, namespaces) = try call.read { snapshot in
      (snapshot.epoch, try snapshot.namespaces().count)
    }
    let (paused, dead, retries) = try call.read { snapshot in
      (
        try snapshot.functions().filter(\.isPaused), try DeliveryFailures(.dead, in: snapshot).summary,
        try DeliveryFailures(.waiting, in: snapshot).summary
      )
    }
    let warning = call.services.metrics.http.proxySuspicion.suspect.map { address in
      "Most requests come from \(address), a private address: if a proxy stands there, name it in \"listen.trustedProxies\", or "
        + "its clients share one client's limits."
    }
    return AdminSystem.Status(
      mode: call.services.isDevelopment ? .development : .production, time: Timestamp(database.clock.now()), epoch: epoch,
      namespaces: Int64(namespaces), defaultNamespace: call.services.defaultNamespace,
      writer: AdminSystem.Writer(queueDepth: Int64(database.queueDepth), failure: database.failure?.message),
      warnings: [warning].compactMap(\.self), problems: call.services.functions?.problems ?? [],
      pausedFunctions: paused.map { AdminSystem.PausedFunction(name: $0.name, reason: $0.pauseReason ?? "") },
      deadLetters: dead, retries: retries,
      disk: call.services.diskSpace().map {
        AdminSystem.Disk(folder: $0.folder, freeBytes: $0.freeBytes, totalBytes: $0.totalBytes)
      })
  }

  private static func verify(_ call: RouteCall, query _: NoQuery) throws -> AdminSystem.Verification {
    let services = call.services
    return StoreVerification.run(
      services.database.engine, currencies: services.ledger?.currencies, referrals: services.referrals?.referralPath
    ).answer
  }

  private static func backup(_ call: RouteCall, order: AdminSystem.BackupOrder) async throws -> AdminSystem.Backup {
    let path = order.path
    guard path.hasPrefix("/") else {
      throw APIError.badRequest("\"path\" must be absolute: the file is written by the server.")
    }
    let engine = call.services.database.engine
    do {
      try await call.services.adminPool.runIfActive { try engine.backup(to: path) }
    } catch let error as StorageError {
      throw error.code == .unsuitable ? APIError.badRequest(error.message) : error.apiError
    } catch {
      throw APIError(.serviceUnavailable, "unavailable", "The server is shutting down.")
    }
    return AdminSystem.Backup(status: .ok, path: path)
  }

  private static func clock(_ call: RouteCall, order: AdminSystem.ClockOrder) async throws -> AdminSystem.Clock {
    guard let clock = call.services.adjustableClock else {
      throw APIError(.notImplemented, "not_available", "This server's clock cannot be moved.")
    }
    let advance = order.advance
    guard advance >= 0, advance <= advanceMax else {
      throw APIError.badRequest("\"advance\" must be 0 or more milliseconds, at most a hundred years: time only goes forward.")
    }
    guard advance <= JSONSchema.timeMax - min(clock.now(), JSONSchema.timeMax) else {
      throw APIError(.conflict, "conflict", "The clock cannot be moved beyond the year 9999; start the server again.")
    }
    clock.advance(by: advance)
    return AdminSystem.Clock(time: Timestamp(clock.now()))
  }
}

/// The namespaces of the store.
enum NamespaceRoutes {
  static let routes: [Route] = [
    .reading(AdminSystem.namespaces, by: list),
    .changing(AdminSystem.createNamespace, audit: "namespaces.create", answer: create),
    .changing(AdminSystem.deleteNamespace, audit: "namespaces.delete", answer: delete),
  ]

  private static func list(_ call: RouteCall, query _: NoQuery) throws -> AdminSystem.NamespaceList {
    let rows = try call.read { (snapshot) -> [AdminSystem.Namespace] in
      var rows: [AdminSystem.Namespace] = []
      for record in try snapshot.namespaces() {
        let head = try snapshot.head(of: record.id)
        rows.append(
          AdminSystem.Namespace(
            name: record.name, createdAt: Timestamp(record.createdAt), revision: head.revision.rawValue,
            entries: head.entrySequence))
      }
      return rows
    }
    return AdminSystem.NamespaceList(namespaces: rows)
  }

  private static func create(_ call: RouteCall, order: AdminSystem.NamespaceOrder) async throws
    -> AdminSystem.CreatedNamespace
  {
    _ = try await call.services.database.openNamespace(named: order.name)
    return AdminSystem.CreatedNamespace(status: .ok, name: order.name)
  }

  private static func delete(_ call: RouteCall, body _: NoBody) async throws -> Done {
    let name = call.captures["name"] ?? ""
    guard let id = call.services.database.namespace(named: name) else { throw APIError.unknownNamespace(name) }
    try await call.services.database.forgetNamespace(named: name)
    call.services.functions?.forget(id)
    return Done()
  }
}
