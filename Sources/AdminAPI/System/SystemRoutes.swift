import APISupport
import AdminModel
import Backups
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
      .reading(AdminCluster.state) { call, _ in call.services.cluster() },
      .changing(AdminSystem.configuration, audit: nil) { call, _ in call.services.configuration },
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
    let (services, maintenance) = (call.services, call.services.metrics.maintenance.notes)
    let (now, place) = (database.clock.now(), try logPlace(call))
    return AdminSystem.Status(
      version: services.version, mode: services.isDevelopment ? .development : .production,
      startedAt: Timestamp(services.startedAt), time: Timestamp(now), epoch: epoch,
      namespaces: Int64(namespaces), defaultNamespace: services.defaultNamespace,
      revision: place?.revision.rawValue, prunedThrough: place?.pruned?.rawValue,
      lagMs: services.watch?.latest.map { sight in sight.oldestPending.map { max(0, now - $0) } ?? 0 },
      lagP95Micros: services.series.lagP95(now: now, bounds: services.metrics.effectBounds),
      writer: AdminSystem.Writer(queueDepth: Int64(database.queueDepth), failure: database.failure?.message),
      sockets: Int64(services.metrics.sockets.open), streams: Int64(services.metrics.streams.current),
      listens: Int64(services.listeners.counts.listens), warnings: [warning].compactMap(\.self) + services.furtherWarnings(),
      problems: services.functions?.problems ?? [],
      pausedFunctions: paused.map { AdminSystem.PausedFunction(name: $0.name, reason: $0.pauseReason ?? "") },
      deadLetters: dead, retries: retries,
      disk: services.diskSpace().map {
        AdminSystem.Disk(folder: $0.folder, freeBytes: $0.freeBytes, totalBytes: $0.totalBytes)
      }, lastVerification: maintenance.lastVerification, lastBackup: maintenance.lastBackup)
  }

  /// Where the log of the namespace stands, and up to where it was pruned (nil: never); nil while the namespace is not there.
  private static func logPlace(_ call: RouteCall) throws -> (revision: Revision, pruned: Revision?)? {
    let name = call.namespaceName
    guard NamespaceName.isLegal(name) else { throw APIError.unknownNamespace(name) }
    guard let namespace = call.services.database.namespace(named: name) else { return nil }
    return try call.read { snapshot in
      let pruned = try snapshot.prunedRevision(of: namespace)
      return (try snapshot.head(of: namespace).revision, pruned == .zero ? nil : pruned)
    }
  }

  private static func verify(_ call: RouteCall, query _: NoQuery) throws -> AdminSystem.Verification {
    let services = call.services
    let begin = services.database.clock.now()
    let result = StoreVerification.run(
      services.database.engine, currencies: services.ledger?.currencies, referrals: services.referrals?.referralPath)
    let end = services.database.clock.now()
    services.metrics.maintenance.noteVerification(
      MaintenanceRecord.Outcome(time: end, duration: end - begin, failure: result.failure), faults: result.faultCount)
    return result.answer
  }

  private static func backup(_ call: RouteCall, order: AdminSystem.BackupOrder) async throws -> AdminSystem.Backup {
    let path = order.path
    guard path.hasPrefix("/") else {
      throw APIError.badRequest("\"path\" must be absolute: the file is written by the server.")
    }
    let contents = try contents(of: order)
    let (services, isBare) = (call.services, order.bare ?? false)
    let (clock, maintenance) = (services.database.clock, services.metrics.maintenance)
    let begin = clock.now()
    func note(_ failure: String? = nil, bytes: Int64? = nil) {
      let end = clock.now()
      let outcome = MaintenanceRecord.Outcome(time: end, duration: end - begin, failure: failure)
      maintenance.noteCopy(MaintenanceRecord.Copy(place: path, outcome: outcome, bytes: bytes))
    }
    do {
      let answer = try await services.adminPool.runIfActive {
        guard isBare else { return AdminSystem.Backup(try services.backups.write(contents, to: path), path: path) }
        try services.database.engine.backup(to: path)
        return AdminSystem.Backup(status: .ok, path: path)
      }
      note(bytes: answer.bytes)
      return answer
    } catch let error as BackupError {
      // An order that cannot be carried out is the administrator's mistake, and no failed backup.
      if error.code == .unsuitable { throw APIError.badRequest(error.message) }
      note(error.message)
      throw APIError(.internalServerError, "backup_failed", error.message)
    } catch let error as StorageError {
      if error.code == .unsuitable { throw APIError.badRequest(error.message) }
      note(error.message)
      throw error.apiError
    } catch {
      throw APIError(.serviceUnavailable, "unavailable", "The server is shutting down.")
    }
  }

  private static func contents(of order: AdminSystem.BackupOrder) throws -> BackupContents {
    var recipient: BackupRecipient?
    if let text = order.recipient {
      recipient = BackupRecipient(text)
      guard recipient != nil else {
        throw APIError.badRequest("\"recipient\" is no key for backups, or a letter of it is wrong: copy it once more.")
      }
    }
    return BackupContents(
      recipient: recipient, includesKeys: order.keys ?? (recipient != nil),
      includesConfiguration: order.configuration ?? false)
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

extension AdminSystem.Backup {
  /// What the administrators' surface says of a backup.
  fileprivate init(_ outcome: BackupMaker.Outcome, path: String) {
    self.init(
      status: .ok, path: path, bytes: outcome.bytes, sha256: outcome.sha256, sealed: outcome.isSealed,
      keys: outcome.manifest.holdsKeys)
  }
}

extension MaintenanceRecord.Notes {
  fileprivate var lastVerification: AdminSystem.LastVerification? {
    verification.map {
      AdminSystem.LastVerification(at: Timestamp($0.time), durationMs: $0.duration, sound: $0.failure == nil)
    }
  }

  /// What ended last; else what a schedule remembers.
  fileprivate var lastBackup: AdminSystem.LastBackup? {
    if let backup { return AdminSystem.LastBackup(at: Timestamp(backup.time), failure: backup.failure) }
    return backupSuccessTime.map { AdminSystem.LastBackup(at: Timestamp($0)) }
  }
}
