import APISupport
import AdminModel
import HTTPServer
import Ledger
import Links
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
    .changing(AdminReferrals.leaders, audit: nil, answer: leaders), .changing(AdminReferrals.tree, audit: nil, answer: tree),
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
    return .json(
      try await aside(call) {
        let referrer = try referrals.referrer(of: uid, in: namespace)
        let (rows, next) = try page(call, uid: uid)
        return JSON.record([
          ("referredBy", referrer.map(JSON.string)), ("referrals", JSON(encoding: rows)), ("next", next.map(JSON.string)),
        ])
      })
  }

  private static let unauthenticated = APIError(
    .unauthorized, "unauthenticated", "Send the player's ID token: Authorization: Bearer ID_TOKEN.",
    headers: [HTTPResponse.Header("WWW-Authenticate", "Bearer")])

  // MARK: For administrators

  /// So many links of each leader are counted.
  private static let linksMax = 500

  private static func leaders(_ call: RouteCall, body _: NoBody) async throws -> AdminReferrals.Leaders {
    let query = try call.query(as: AdminReferrals.LeadersQuery.self)
    let (referrals, namespace) = (try service(call), try call.namespace())
    let (signedIn, since, limit) = (signInPath(call), query.since?.milliseconds, Int(query.limit ?? 20))
    let (ranks, isComplete) = try await aside(call) {
      try referrals.ranking(in: namespace, unit: query.unit, since: since, signedIn: signedIn, limit: limit)
    }
    var leaders: [AdminReferrals.Leader] = []
    for rank in ranks {
      var leader = AdminReferrals.Leader(rank)
      // Links are of one namespace, whose players invite with them.
      if let links = call.services.links, links.namespace == namespace {
        let own = try links.directory.links(where: LinkDirectory.Filter(inviter: rank.referrer), limit: linksMax).links.map(
          \.key)
        for count in try await links.directory.counts(of: own, since: since ?? 0) {
          if count.event == LinkEvent.click.rawValue { leader.clicks += count.count }
          if count.event == LinkEvent.firstOpen.rawValue { leader.installs += count.count }
        }
      }
      leaders.append(leader)
    }
    return AdminReferrals.Leaders(
      leaders: leaders, goal: referrals.goal.map { AdminReferrals.Goal($0) }, complete: isComplete)
  }

  private static func tree(_ call: RouteCall, body _: NoBody) async throws -> AdminReferrals.Tree {
    let query = try call.query(as: AdminReferrals.TreeQuery.self)
    let (referrals, namespace) = (try service(call), try call.namespace())
    let uid: String
    do {
      uid = try Key(call.captures["uid"] ?? "").text
    } catch {
      throw APIError.badRequest(error.description)
    }
    let (signedIn, limit) = (signInPath(call), Int(query.limit ?? 50))
    let (up, found) = try await aside(call) {
      (
        try referrals.ancestors(of: uid, in: namespace),
        try referrals.tree(
          of: uid, in: namespace, depth: Int(query.depth ?? 3), limit: limit, after: query.cursor, signedIn: signedIn)
      )
    }
    let first = found.prefix { $0.depth == 1 }
    return AdminReferrals.Tree(
      player: uid, referredBy: up.first, up: up, goal: referrals.goal.map { AdminReferrals.Goal($0) },
      referrals: found.map { AdminReferrals.Referral($0) }, next: first.count == limit ? first.last?.referral.player : nil)
  }

  static func signInPath(_ call: RouteCall) -> PathPattern? {
    call.services.links.flatMap { try? PathPattern(parsing: $0.settings.referral.signedInPath) }
  }

  /// Runs what may take long on threads that nothing else waits for.
  static func aside<Found: Sendable>(_ call: RouteCall, _ body: @escaping @Sendable () throws -> Found) async throws
    -> Found
  {
    guard let found = try? await call.services.threadPool.runIfActive({ Result { try body() } }) else {
      throw APIError(.serviceUnavailable, "unavailable", "The server is shutting down.")
    }
    return try found.get()
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

extension AdminReferrals.Leader {
  fileprivate init(_ rank: ReferralRank) {
    self.init(
      player: rank.referrer, referred: rank.referred, signedUp: rank.signedUp, reached: rank.atGoal,
      coins: NamedValues(counts: rank.coins), reversed: NamedValues(counts: rank.reversed))
  }
}

extension AdminReferrals.Referral {
  fileprivate init(_ standing: ReferralStanding) {
    let referral = standing.referral
    self.init(
      player: referral.player, by: standing.referrer, depth: Int64(standing.depth), state: referral.state.rawValue,
      since: referral.since.map { Timestamp($0) }, signedUp: standing.isSignedUp, reached: standing.isAtGoal,
      coins: NamedValues(counts: referral.coins), held: NamedValues(counts: referral.held),
      reversed: NamedValues(counts: standing.reversed), brought: Int64(standing.brought), shown: Int64(standing.shown))
  }
}
