import APISupport
import AdminModel
import HTTPServer
import Ledger
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeModel

/// Who brought whom: for players their own, for administrators everybody's.
package enum ReferralRoutes {
  package static let routes: [Route] = [
    .mutate(
      .GET, template: "/v1/referrals", audit: nil,
      summary: "Whom the player brought, with state and coins of each, and who brought the player; by the player's ID token.",
      access: .open, body: own)
  ]

  package static let adminRoutes: [Route] = [
    .reading(AdminInvitations.referrals, by: list), .reading(AdminInvitations.top, by: top),
  ]

  private static func own(_ call: RouteCall) async throws -> HTTPResponse {
    guard let token = call.request.headers.bearer ?? call.query["auth"] else { throw Self.unauthenticated }
    let caller: Caller
    do throws(AccessError) {
      caller = try call.services.authenticator.caller(RequestCredentials(idToken: token))
    } catch {
      throw APIError(error)
    }
    guard case .user(let uid) = caller.actor else { throw Self.unauthenticated }
    let (referrals, namespace) = (try service(call), try call.namespace())
    // A player with many entries takes long to look through: not on the threads that everything else waits for.
    let answer = try? await call.services.threadPool.runIfActive {
      Result {
        let referrer = try referrals.referrer(of: uid, in: namespace)
        let (rows, next) = try page(call, uid: uid)
        return JSON.record([
          ("referredBy", referrer.map(JSON.string)), ("referrals", JSON(encoding: rows)), ("next", next.map(JSON.string)),
        ])
      }
    }
    guard let answer else { throw APIError(.serviceUnavailable, "unavailable", "The server is shutting down.") }
    return .json(try answer.get())
  }

  private static let unauthenticated = APIError(
    .unauthorized, "unauthenticated", "Send the player's ID token: Authorization: Bearer ID_TOKEN.",
    headers: [HTTPResponse.Header("WWW-Authenticate", "Bearer")])

  private static func list(_ call: RouteCall, query _: AdminInvitations.ReferralQuery) throws -> AdminInvitations.ReferralList {
    guard let uid = try call.key("uid")?.text else { throw APIError.badRequest("The parameter uid is missing.") }
    let (referrals, namespace) = (try service(call), try call.namespace())
    let referrer = try referrals.referrer(of: uid, in: namespace)
    let (rows, next) = try page(call, uid: uid)
    return AdminInvitations.ReferralList(player: uid, referredBy: referrer, referrals: rows, next: next)
  }

  private static func top(_ call: RouteCall, query: AdminInvitations.TopQuery) throws -> AdminInvitations.Top {
    let (referrals, namespace, limit) = (try service(call), try call.namespace(), Int(query.limit ?? 20))
    let ranks = try referrals.top(in: namespace, limit: limit)
    return AdminInvitations.Top(
      top: ranks.map { rank in
        AdminInvitations.Referrer(player: rank.referrer, count: rank.count, coins: NamedValues(counts: rank.coins))
      })
  }

  private static func page(_ call: RouteCall, uid: String) throws -> (rows: [AdminInvitations.Referral], next: String?) {
    let (referrals, namespace, limit) = (try service(call), try call.namespace(), try call.limit())
    let found = try referrals.referrals(of: uid, in: namespace, after: call.query["cursor"], limit: limit)
    let rows = found.map { referral in
      AdminInvitations.Referral(
        player: referral.player, state: referral.state.rawValue, since: referral.since.map { Timestamp($0) },
        coins: NamedValues(counts: referral.coins), held: NamedValues(counts: referral.held))
    }
    return (rows, found.count == limit ? found.last?.player : nil)
  }

  private static func service(_ call: RouteCall) throws -> ReferralService {
    guard let referrals = call.services.referrals else {
      throw APIError(
        .notImplemented, "not_available",
        "This server does not know where the tree says who referred a player: declare it with functions.referrer(at:).")
    }
    return referrals
  }
}
