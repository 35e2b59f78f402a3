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
    .reading(AdminInvitations.settings, by: settings),
    .changing(AdminInvitations.putSettings, audit: "invites.settings", answer: putSettings),
    .reading(AdminInvitations.list, by: list), .reading(AdminInvitations.suppressions, by: suppressions),
    .changing(AdminInvitations.suppress, audit: "invites.suppress", answer: suppress),
  ]

  private static func settings(_ call: RouteCall, query _: NoQuery) throws -> AdminInvitations.Settings {
    let invitations = try service(call)
    return try AdminInvitations.Settings(invitations.settings)
  }

  /// The settings themselves read the document: they name the member that is wrong, and say what it must be.
  private static func putSettings(_ call: RouteCall, order _: AdminInvitations.SettingsOrder) async throws
    -> AdminInvitations.Settings
  {
    let invitations = try service(call)
    let body = try call.body()
    let settings = try InvitationSettings(document: body.compactText)
    try await invitations.put(settings)
    return try AdminInvitations.Settings(settings)
  }

  private static func list(_ call: RouteCall, query: AdminInvitations.FilteredQuery) throws -> AdminInvitations.List {
    let filter = InvitationService.Filter(
      state: query.state.flatMap(InvitationState.init), sender: try call.key("sender")?.text, campaign: query.campaign)
    let page = try reader(call).invitations(where: filter, before: query.cursor, limit: Int(query.limit ?? 50))
    return AdminInvitations.List(
      invites: page.invitations.map { AdminInvitations.Invitation($0) }, next: page.next, scanned: Int64(page.scanned))
  }

  private static func suppressions(_ call: RouteCall, query: AdminInvitations.ListQuery) throws
    -> AdminInvitations.SuppressionList
  {
    let limit = Int(query.limit ?? 50)
    let all = try reader(call).suppressed(after: query.cursor, limit: limit)
    return AdminInvitations.SuppressionList(
      suppressions: all.map { AdminInvitations.Suppression($0) }, next: all.count == limit ? all.last?.address : nil)
  }

  private static func suppress(_ call: RouteCall, order: AdminInvitations.SuppressOrder) async throws -> Done {
    let invitations = try service(call)
    if order.release == true {
      try await invitations.release(order.email)
    } else {
      try await invitations.suppress(order.email, because: order.reason ?? "by \(call.caller.actor)")
    }
    return Done()
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

extension AdminInvitations.Settings {
  fileprivate init(_ settings: InvitationSettings) throws {
    self = try JSONParser.parse(settings.document).decoded()
  }
}
