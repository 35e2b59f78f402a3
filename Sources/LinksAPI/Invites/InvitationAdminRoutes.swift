import HTTPServer
import Invites
import Links
import NIOHTTP1
import StorageCore
import TreeModel

/// Invitations for administrators: settings, listings, and who gets nothing any more.
package enum InvitationAdminRoutes {
  private static let settingsFields: [JSONSchema.Field] = [
    .maybe("appName", .filled, "what the texts call the app"),
    .maybe("campaigns", .object([]), "by name: link, image, partner, channels, templates by language"),
    .maybe("perSenderPerDay", .integer(0...1_000_000)), .maybe("perRecipientPerWeek", .integer(0...1_000_000)),
    .maybe("trackOpening", .boolean, "whether mails carry a picture that says that they were opened"),
  ]

  private static let settingsSchema = JSONSchema.object([
    .always("appName", .text), .always("campaigns", .object([])), .always("perSenderPerDay", .count),
    .always("perRecipientPerWeek", .count), .always("trackOpening", .boolean),
  ])

  private static let invitation = JSONSchema.object([
    .always("id", .text), .always("channel", .text), .always("campaign", .text), .always("locale", .text),
    .always("sender", .text), .maybe("to", .text), .always("link", .text), .always("createdAt", .time),
    .always("state", .choice(InvitationState.allCases.map(\.rawValue))), .maybe("attempts", .count), .maybe("lastError", .text),
    .maybe("openedAt", .time), .maybe("clickedAt", .time), .maybe("convertedAt", .time),
  ])

  package static let routes: [Route] = [
    Route.list("/admin/v1/invites/settings", "The settings of invitations.", settings)
      .described(RouteDescription(answer: settingsSchema)),
    Route.mutate(
      .PUT, "/admin/v1/invites/settings", audit: "invites.settings", "Replaces the settings of invitations.", putSettings
    ).described(RouteDescription(body: settingsFields, answer: settingsSchema)),
    Route.list("/admin/v1/invites", "Invitations, newest first.", list).described(
      RouteDescription(
        query: [.limit(50), .cursor], answer: .object([.always("invites", .list(invitation)), .maybe("next", .text)]))),
    Route.list("/admin/v1/invites/suppressions", "Addresses that get no invitations any more.", suppressions).described(
      RouteDescription(
        query: [.limit(50), .cursor],
        answer: .object([
          .always(
            "suppressions", .list(.object([.always("email", .text), .maybe("at", .time), .maybe("reason", .text)]))),
          .maybe("next", .text),
        ]))),
    Route.mutate(
      .POST, "/admin/v1/invites/suppressions", audit: "invites.suppress", "Takes an address off the list, or lets it back.",
      suppress
    ).described(
      RouteDescription(
        body: [
          .always("email", .filled), .maybe("reason", .text), .maybe("release", .boolean, "true lets the address back"),
        ], answer: .object([.always("status", .choice(["ok"]))]))),
  ]

  private static func settings(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    .json(try book(call).settings.json)
  }

  private static func putSettings(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let book = try book(call)
    let body = try call.body()
    do throws(InvitationError) {
      let settings = try InvitationSettings(json: body)
      try await book.put(settings)
      return .json(settings.json)
    } catch {
      throw APIError(LinkError(error))
    }
  }

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let limit = try call.limit()
    do throws(InvitationError) {
      let all = try invites(call).invitations(before: call.query["cursor"], limit: limit)
      let next = all.count == limit ? all.last.map { JSON.string($0.record.id) } : nil
      return .json(.record([("invites", .array(all.map(\.json))), ("next", next)]))
    } catch {
      throw APIError(LinkError(error))
    }
  }

  private static func suppressions(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let limit = try call.limit()
    do throws(InvitationError) {
      let all = try invites(call).suppressed(after: call.query["cursor"], limit: limit)
      let rows = all.map { row in
        JSON.record([("email", .string(row.address)), ("at", row.json["at"]), ("reason", row.json["reason"])])
      }
      let next = all.count == limit ? all.last.map { JSON.string($0.address) } : nil
      return .json(.record([("suppressions", .array(rows)), ("next", next)]))
    } catch {
      throw APIError(LinkError(error))
    }
  }

  private static func suppress(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let book = try book(call)
    let body = try call.body()
    let email = try body.required("email")
    do throws(InvitationError) {
      if body["release"]?.bool == true {
        try await book.release(email)
      } else {
        try await book.suppress(email, because: body["reason"]?.string ?? "by \(call.caller.actor)")
      }
    } catch {
      throw APIError(LinkError(error))
    }
    return .json(["status": "ok"])
  }

  private static func book(_ call: RouteCall) throws(APIError) -> InvitationService {
    guard let book = call.services.invites else {
      throw APIError(.notImplemented, "not_available", "This server sends no invitations.")
    }
    return book
  }

  private static func invites(_ call: RouteCall) throws(InvitationError) -> InvitationService {
    guard let book = call.services.invites else {
      throw InvitationError(.unavailable, "This server sends no invitations.")
    }
    return book
  }
}
