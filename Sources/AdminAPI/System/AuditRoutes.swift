import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// Who did what, and who tried: the audit log.
enum AuditRoutes {
  /// Records that one call looks at.
  private static let scanMax = 10_000
  private static let pageSize = 500

  static let routes: [Route] = ["/admin/v1/audit", "/admin/v1/audits"].map { path in
    .changing(AdminLogs.audits.at(path), audit: nil, answer: list)
  }

  private static func admits(_ record: AuditRecord, by query: AdminLogs.AuditQuery) -> Bool {
    if let action = query.action, !isKind(action, of: record) { return false }
    if let except = query.except, isKind(except, of: record) { return false }
    if let since = query.since, record.time < since.milliseconds { return false }
    if let until = query.until, record.time > until.milliseconds { return false }
    if let result = query.result, (record.result == "ok") != (result == .ok) { return false }
    guard let actor = query.actor else { return true }
    let found = record.actor.description
    return found == actor || found.hasPrefix(actor + ":")
  }

  /// Whether a record's action is this one, or of this kind.
  private static func isKind(_ action: String, of record: AuditRecord) -> Bool {
    record.action == action || record.action.hasPrefix(action + ".")
  }

  private static func list(_ call: RouteCall, body _: NoBody) async throws -> AdminLogs.AuditPage {
    let query = try call.query(as: AdminLogs.AuditQuery.self)
    await call.services.audit.settle()
    return try call.read { snapshot in try page(query, in: snapshot) }
  }

  private static func page(_ query: AdminLogs.AuditQuery, in snapshot: any Snapshot) throws -> AdminLogs.AuditPage {
    let limit = Int(query.limit ?? 100)
    var rows: [AdminLogs.AuditRecord] = []
    var last = query.before
    var scanned = 0
    while true {
      let records = try snapshot.audits(before: last, limit: pageSize)
      for (id, record) in records {
        guard rows.count < limit, scanned < scanMax else {
          return AdminLogs.AuditPage(actions: rows, next: last, complete: false)
        }
        scanned += 1
        last = id
        if admits(record, by: query) { rows.append(AdminLogs.AuditRecord(record, id: id)) }
      }
      if records.count < pageSize { return AdminLogs.AuditPage(actions: rows, complete: true) }
    }
  }
}
