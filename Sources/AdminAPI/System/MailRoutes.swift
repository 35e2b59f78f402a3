import APISupport
import HTTPServer
import MailContent
import NIOHTTP1
import StorageCore
import TreeDatabase
package import TreeModel

/// Mail, where it is shown and not sent.
enum MailRoutes {
  /// Mails that one call lists, at most; no more are kept.
  private static let limitMax = 100

  static let routes: [Route] = [
    Route.get(
      "/admin/v1/mail", "The mails that were shown instead of sent, newest first (development only).",
      access: .adminInDevelopment, list
    ).described(
      RouteDescription(
        query: [.limit(50)],
        answer: .object([
          .always(
            "mails",
            .list(
              .object([
                .always("time", .time), .always("kind", .text), .always("to", .text), .always("subject", .text),
                .always("text", .text), .maybe("html", .text), .maybe("from", .text),
                .maybe("link", .text, "the first link in the text"),
              ])))
        ]))),
    Route.mutate(.POST, "/admin/v1/mail/test", audit: "mail.test", "Has a mail sent, to see whether it arrives.", test)
      .described(
        RouteDescription(
          body: [
            .always("to", .filled, "an address, with a name or without"), .maybe("subject", .text), .maybe("text", .text),
            .maybe("html", .text),
          ],
          answer: .object([
            .always("status", .choice(["ok"])),
            .always("key", .text, "of the order in the outbox; what became of it stands there"),
          ]))),
    Route.list("/admin/v1/mail/orders/{key...}", "What became of a mail that was ordered.", order).described(
      RouteDescription(
        captures: [.init("key", .filled, required: true, "The order's key.")],
        answer: .object([
          .always("key", .text), .always("state", .choice(["waiting", "delivered", "dead"])), .always("attempts", .count),
          .maybe("lastError", .text),
        ]))),
  ]

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    guard let mail = call.services.mail else {
      throw APIError(.notImplemented, "not_available", "This server does not keep mails; it sends them.")
    }
    return .json(["mails": .array(mail.recentMail(limit: min(try call.limit(), limitMax)))])
  }

  private static func test(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let order = MailOrder(
      kind: .notice, to: try body.required("to"), subject: try body.optional("subject") ?? "A test of Doubloon's mail",
      text: try body.optional("text") ?? "If you can read this, mail works.\n", html: try body.optional("html"))
    let database = call.services.database
    let now = database.clock.now()
    var random = call.services.random
    let key = "mail/test/\(now)-\(String(UInt64.random(in: .min ... .max, using: &random), radix: 36))"
    do throws(CommitError) {
      var request = CommitRequest(
        namespace: try await database.openNamespace(named: call.services.defaultNamespace), actor: call.caller.actor)
      request.rows.outbox = [
        OutboxRecord(
          key: key, outlet: MailOrder.outlet, payload: order.payload, cause: nil, state: .waiting, attempts: 0,
          nextAttemptAt: 0, lastError: nil, createdAt: now)
      ]
      _ = try await database.commit(request)
    } catch {
      throw APIError(error)
    }
    return .json(["status": "ok", "key": .string(key)])
  }

  private static func order(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let namespace = try call.namespace()
    let key = call.captures["key"] ?? ""
    let found = try call.read { (snapshot) throws(StorageError) in try snapshot.outbox(in: namespace, key: key) }
    guard let found, found.outlet == MailOrder.outlet else {
      throw APIError(.notFound, "not_found", "No mail was ordered under the key \(key).")
    }
    return .json(
      .record([
        ("key", .string(found.key)), ("state", .string(found.state.rawValue)), ("attempts", .int(Int64(found.attempts))),
        ("lastError", found.lastError.map(JSON.string)),
      ]))
  }
}

/// Shows mail that was not sent: what `doubloon dev` does instead of talking to a mail server.
package protocol RecentMailSource: Sendable {
  /// The latest mails, newest first: `{"time", "to", "from", "subject", "kind", "text", "html", "link"}`.
  func recentMail(limit: Int) -> [JSON]
}
