import APISupport
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
    Route.awaitedList(
      RouteTemplate(stringLiteral: path), "What administrators did and tried, refused or not, newest first.", list
    ).described(
      RouteDescription(
        query: [
          .init("action", .filled, "Only this action (ledger.reverse), or this kind of action (ledger)."),
          .init("except", .filled, "Not this action or this kind of action: data leaves out what was written into the tree."),
          .init("actor", .filled, "Only of this actor (admin:ann), or this kind of actor (anonymous)."),
          .init("result", .choice(["ok", "refused"]), "Only what was done, or only what was not."), .since, .until,
          .init("before", .count, "Only before this record: the next of an earlier page."), .limit(100),
        ],
        answer: .object([
          .always("actions", .list(.named("AuditRecord"))), .maybe("next", .count, "the next page's before"),
          .always("complete", .boolean, "whether that was the end"),
        ])))
  }

  /// Which records are shown.
  private struct Filter: Sendable {
    let action: String?
    let except: String?
    let actor: String?
    let result: String?
    let since: Int64?
    let until: Int64?

    init(_ call: RouteCall) throws(APIError) {
      (action, except) = (call.query["action"], call.query["except"])
      (actor, result) = (call.query["actor"], call.query["result"])
      since = try call.integer("since")
      until = try call.integer("until")
    }

    /// Whether a record's action is this one, or of this kind.
    private static func isKind(_ action: String, of record: AuditRecord) -> Bool {
      record.action == action || record.action.hasPrefix(action + ".")
    }

    func admits(_ record: AuditRecord) -> Bool {
      if let action, !Self.isKind(action, of: record) { return false }
      if let except, Self.isKind(except, of: record) { return false }
      if let since, record.time < since { return false }
      if let until, record.time > until { return false }
      if let result, (record.result == "ok") != (result == "ok") { return false }
      guard let actor else { return true }
      let found = record.actor.description
      return found == actor || found.hasPrefix(actor + ":")
    }
  }

  private static func list(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let filter = try Filter(call)
    let (limit, start) = (try call.limit(default: 100), try call.integer("before"))
    await call.services.audit.settle()
    return .json(
      try call.read { (snapshot) throws(StorageError) in try page(filter, before: start, limit: limit, in: snapshot) })
  }

  private static func page(_ filter: Filter, before start: Int64?, limit: Int, in snapshot: any Snapshot) throws(StorageError)
    -> JSON
  {
    var rows: [JSON] = []
    var place = start
    var scanned = 0
    func answer(isComplete: Bool) -> JSON {
      .record([
        ("actions", .array(rows)), ("next", isComplete ? nil : place.map(JSON.int)), ("complete", .bool(isComplete)),
      ])
    }
    while true {
      let records = try snapshot.audits(before: place, limit: pageSize)
      for (found, record) in records {
        guard rows.count < limit, scanned < scanMax else { return answer(isComplete: false) }
        scanned += 1
        place = found
        if filter.admits(record) { rows.append(JSON(record, at: found)) }
      }
      if records.count < pageSize { return answer(isComplete: true) }
    }
  }
}
