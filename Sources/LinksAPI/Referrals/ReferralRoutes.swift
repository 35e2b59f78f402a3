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
    Route.list("/admin/v1/referrals", "Whom a player brought, and who brought the player.", list).described(
      RouteDescription(of: AdminInvitations.referrals)),
    Route.list("/admin/v1/referrals/top", "Who brought most.", top).described(RouteDescription(of: AdminInvitations.top)),
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
        return JSON.record([("referredBy", referrer.map(JSON.string)), ("referrals", .array(rows)), ("next", next)])
      }
    }
    guard let answer else { throw APIError(.serviceUnavailable, "unavailable", "The server is shutting down.") }
    return .json(try answer.get())
  }

  private static let unauthenticated = APIError(
    .unauthorized, "unauthenticated", "Send the player's ID token: Authorization: Bearer ID_TOKEN.",
    headers: [HTTPResponse.Header("WWW-Authenticate", "Bearer")])

  private static func list(_ call: RouteCall) throws -> HTTPResponse {
    guard let uid = try call.key("uid")?.text else { throw APIError.badRequest("The parameter uid is missing.") }
    let (referrals, namespace) = (try service(call), try call.namespace())
    let referrer = try referrals.referrer(of: uid, in: namespace)
    let (rows, next) = try page(call, uid: uid)
    return .json(
      .record([
        ("player", .string(uid)), ("referredBy", referrer.map(JSON.string)), ("referrals", .array(rows)), ("next", next),
      ]))
  }

  private static func top(_ call: RouteCall) throws -> HTTPResponse {
    let (referrals, namespace, limit) = (try service(call), try call.namespace(), try call.limit(default: 20))
    let ranks = try referrals.top(in: namespace, limit: limit)
    return .json([
      "top": .array(
        ranks.map { rank in
          ["player": .string(rank.referrer), "count": .int(rank.count), "coins": json(rank.coins)]
        })
    ])
  }

  private static func page(_ call: RouteCall, uid: String) throws -> (rows: [JSON], next: JSON?) {
    let (referrals, namespace, limit) = (try service(call), try call.namespace(), try call.limit())
    let found = try referrals.referrals(of: uid, in: namespace, after: call.query["cursor"], limit: limit)
    let rows = found.map { referral in
      JSON.record([
        ("player", .string(referral.player)), ("state", .string(referral.state.rawValue)),
        ("since", referral.since.map(JSON.int)), ("coins", json(referral.coins)), ("held", json(referral.held)),
      ])
    }
    return (rows, found.count == limit ? found.last.map { .string($0.player) } : nil)
  }

  private static func json(_ coins: [String: Int64]) -> JSON {
    .object(
      coins.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .map { JSON.Member(key: $0.key, value: .int($0.value)) })
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
