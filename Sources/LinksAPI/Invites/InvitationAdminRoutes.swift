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
      .PUT, template: "/admin/v1/invites/settings", audit: "invites.settings", summary: "Replaces the settings of invitations.",
      body: putSettings
    ).described(RouteDescription(of: AdminInvitations.putSettings)),
    Route.list("/admin/v1/invites", "Invitations, newest first.", list).described(RouteDescription(of: AdminInvitations.list)),
    Route.list("/admin/v1/invites/suppressions", "Addresses that get no invitations any more.", suppressions).described(
      RouteDescription(of: AdminInvitations.suppressions)),
    Route.mutate(
      .POST, template: "/admin/v1/invites/suppressions", audit: "invites.suppress",
      summary: "Takes an address off the list, or lets it back.",
      body: suppress
    ).described(RouteDescription(of: AdminInvitations.suppress)),
  ]

  private static func settings(_ call: RouteCall) throws -> HTTPResponse {
    .json(document(try service(call).settings))
  }

  private static func document(_ settings: InvitationSettings) -> JSON {
    (try? JSONParser.parse(settings.document)) ?? [:]
  }

  private static func putSettings(_ call: RouteCall) async throws -> HTTPResponse {
    let invitations = try service(call)
    let body = try call.body()
    let settings = try InvitationSettings(document: body.compactText)
    try await invitations.put(settings)
    return .json(document(settings))
  }

  private static func list(_ call: RouteCall) throws -> HTTPResponse {
    let limit = try call.limit()
    let all = try reader(call).invitations(before: call.query["cursor"], limit: limit)
    let next = all.count == limit ? all.last.map { JSON.string($0.record.id) } : nil
    return .json(.record([("invites", .array(all.map(\.json))), ("next", next)]))
  }

  private static func suppressions(_ call: RouteCall) throws -> HTTPResponse {
    let limit = try call.limit()
    let all = try reader(call).suppressed(after: call.query["cursor"], limit: limit)
    let next = all.count == limit ? all.last.map { JSON.string($0.address) } : nil
    return .json(.record([("suppressions", .array(all.map(\.json))), ("next", next)]))
  }

  private static func suppress(_ call: RouteCall) async throws -> HTTPResponse {
    let invitations = try service(call)
    let body = try call.body()
    let email = try body.required("email")
    if body["release"]?.bool == true {
      try await invitations.release(email)
    } else {
      try await invitations.suppress(email, because: body["reason"]?.string ?? "by \(call.caller.actor)")
    }
    return .json(["status": "ok"])
  }

  private static func service(_ call: RouteCall) throws -> InvitationService {
    guard let invitations = call.services.invites else {
      throw APIError(.notImplemented, "not_available", "This server sends no invitations.")
    }
    return invitations
  }

  /// The same for listings, which answer as a server does that sends none at present.
  private static func reader(_ call: RouteCall) throws -> InvitationService {
    guard let invitations = call.services.invites else {
      throw LinksAPIError(.unavailable, "This server sends no invitations.")
    }
    return invitations
  }
}
