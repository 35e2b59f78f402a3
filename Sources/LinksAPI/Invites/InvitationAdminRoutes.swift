import APISupport
import AdminModel
import HTTPServer
import Invites
import Links
import NIOHTTP1
import StorageCore
import TreeModel

/// Invitations for administrators: settings, listings, and who gets nothing any more.
package enum InvitationAdminRoutes {

  package static let routes: [Route] = [
    Route.list("/admin/v1/invites/settings", "The settings of invitations.", settings)
      .described(RouteDescription(of: AdminInvitations.settings)),
    Route.mutate(
      .PUT, "/admin/v1/invites/settings", audit: "invites.settings", "Replaces the settings of invitations.", putSettings
    ).described(RouteDescription(of: AdminInvitations.putSettings)),
    Route.list("/admin/v1/invites", "Invitations, newest first.", list).described(RouteDescription(of: AdminInvitations.list)),
    Route.list("/admin/v1/invites/suppressions", "Addresses that get no invitations any more.", suppressions).described(
      RouteDescription(of: AdminInvitations.suppressions)),
    Route.mutate(
      .POST, "/admin/v1/invites/suppressions", audit: "invites.suppress", "Takes an address off the list, or lets it back.",
      suppress
    ).described(RouteDescription(of: AdminInvitations.suppress)),
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
