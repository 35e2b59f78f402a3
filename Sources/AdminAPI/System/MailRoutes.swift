import APISupport
package import AdminModel
import HTTPServer
import MailContent
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// Mail, where it is shown and not sent.
enum MailRoutes {
  /// Mails that one call lists, at most; no more are kept.
  private static let limitMax = 100

  static let routes: [Route] = [
    Route.get(
      RouteTemplate(stringLiteral: AdminAccess.mails.template), AdminAccess.mails.summary, access: .adminInDevelopment, list
    ).described(RouteDescription(of: AdminAccess.mails)),
    .changing(AdminAccess.testMail, audit: "mail.test", answer: test), .reading(AdminAccess.mailOrder, by: order),
  ]

  private static func list(_ call: RouteCall) throws -> HTTPResponse {
    guard let mail = call.services.mail else {
      throw APIError(.notImplemented, "not_available", "This server does not keep mails; it sends them.")
    }
    let mails = mail.recentMail(limit: min(try call.limit(), limitMax))
    return .json(JSON(encoding: AdminAccess.MailList(mails: mails)))
  }

  private static func test(_ call: RouteCall, order wanted: AdminAccess.TestMailOrder) async throws -> AdminAccess.OrderedMail {
    let order = MailOrder(
      kind: .notice, to: wanted.to, subject: wanted.subject ?? "A test of Doubloon's mail",
      text: wanted.text ?? "If you can read this, mail works.\n", html: wanted.html)
    let database = call.services.database
    let now = database.clock.now()
    var random = call.services.random
    let key = "mail/test/\(now)-\(String(UInt64.random(in: .min ... .max, using: &random), radix: 36))"
    var request = CommitRequest(
      namespace: try await database.openNamespace(named: call.services.defaultNamespace), actor: call.caller.actor)
    request.rows.outbox = [
      OutboxRecord(
        key: key, outlet: MailOrder.outlet, payload: order.payload, cause: nil, state: .waiting, attempts: 0,
        nextAttemptAt: 0, lastError: nil, createdAt: now)
    ]
    _ = try await database.commit(request)
    return AdminAccess.OrderedMail(status: .ok, key: key)
  }

  private static func order(_ call: RouteCall, query _: NoQuery) throws -> AdminAccess.MailOrderState {
    let namespace = try call.namespace()
    let key = call.captures["key"] ?? ""
    let found = try call.read { snapshot in try snapshot.outbox(in: namespace, key: key) }
    guard let found, found.outlet == MailOrder.outlet else {
      throw APIError(.notFound, "not_found", "No mail was ordered under the key \(key).")
    }
    let state: AdminAccess.MailState =
      switch found.state {
      case .waiting: .waiting
      case .delivered: .delivered
      case .dead: .dead
      }
    return AdminAccess.MailOrderState(
      key: found.key, state: state, attempts: Int64(found.attempts), lastError: found.lastError)
  }
}

/// Shows mail that was not sent: what `doubloon dev` does instead of talking to a mail server.
package protocol RecentMailSource: Sendable {
  /// The latest mails, newest first.
  func recentMail(limit: Int) -> [AdminAccess.Mail]
}
