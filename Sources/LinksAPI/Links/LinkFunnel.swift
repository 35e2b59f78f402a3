import APISupport
import AdminModel
import HTTPServer
import Ledger
import Links
import NIOHTTP1
import StorageCore
import TextFormats
import TreeModel

/// What came of links: counts of openings, joined with the claims that name them, the players' records and the ledger.
///
/// Only the openings are counted; the rest is looked up, so replays and rebuilt indexes change nothing.
enum LinkFunnel {
  /// So many links, and so many claims, are looked at.
  private static let linksMax = 1000
  private static let claimsMax = 20_000

  @Sendable static func answer(_ call: RouteCall, body _: NoBody) async throws -> AdminLinks.Funnel {
    let query = try call.query(as: AdminLinks.FunnelQuery.self)
    guard [query.link, query.inviter, query.campaign].count(where: { $0 != nil }) == 1 else {
      throw APIError.badRequest("Name exactly one: link, inviter or campaign.")
    }
    let links = try LinkAdminRoutes.service(call)
    let inviter = try call.key("inviter")?.text
    let since = query.since?.milliseconds ?? 0
    let keys: [String]
    var isComplete: Bool
    if query.link == nil {
      let page = try links.directory.links(
        where: LinkDirectory.Filter(inviter: inviter, campaign: query.campaign), limit: linksMax)
      (keys, isComplete) = (page.links.map(\.key), page.next == nil || page.links.count < linksMax)
    } else {
      (keys, isComplete) = ([try LinkAdminRoutes.record(call, links).key], true)
    }
    let counts = try await links.directory.counts(of: keys, since: since)
    let found = try links.directory.claims(by: keys, orInviter: inviter, limit: claimsMax)
    isComplete = isComplete && found.count < claimsMax
    let (claims, referrals) = (found.filter { $0.at >= since }, call.services.referrals)
    let signedIn = ReferralRoutes.signInPath(call)
    // Many claims take long to look up: not on the threads that everything else waits for.
    var tally = try await ReferralRoutes.aside(call) {
      try join(claims, with: referrals, in: links.namespace, signedIn: signedIn)
    }
    for count in counts { tally.add(count) }
    return AdminLinks.Funnel(
      totals: tally.totals, days: tally.rows, goal: referrals?.goal.map { AdminReferrals.Goal($0) },
      links: Int64(keys.count), complete: isComplete)
  }

  private static func join(
    _ claims: [LinkClaim], with referrals: ReferralService?, in namespace: NamespaceID?, signedIn: PathPattern?
  ) throws -> Tally {
    var tally = Tally()
    for (inviter, claims) in Dictionary(grouping: claims, by: \.inviter) {
      var standings: [ReferralStanding] = []
      if let referrals, let namespace {
        standings = try referrals.standings(of: claims.map(\.player), by: inviter, in: namespace, signedIn: signedIn)
      }
      for (index, claim) in claims.enumerated() {
        tally.add(claim, as: standings.isEmpty ? nil : standings[index])
      }
    }
    return tally
  }

  /// Sums by day and platform.
  private struct Tally: Sendable {
    struct Slot: Hashable, Sendable {
      let day: Int64
      let platform: String
    }

    struct Sums: Sendable {
      var stages = AdminLinks.Stages()
      var coins: [String: Int64] = [:]
    }

    var slots: [Slot: Sums] = [:]

    mutating func add(_ count: LinkCount) {
      let slot = Slot(day: count.day, platform: count.platform)
      switch LinkEvent(rawValue: count.event) {
      case .click: slots[slot, default: Sums()].stages.clicks += count.count
      case .firstOpen: slots[slot, default: Sums()].stages.installs += count.count
      case .install, .redirect, .reopen, nil: break
      }
    }

    mutating func add(_ claim: LinkClaim, as standing: ReferralStanding?) {
      var platform = "CODE"
      if case .click(_, _, let clicked) = claim.evidence { platform = clicked.rawValue }
      var sums = slots[Slot(day: claim.at / 86_400_000, platform: platform)] ?? Sums()
      sums.stages.claims += 1
      if standing?.isSignedUp == true { sums.stages.signedUp += 1 }
      if standing?.isAtGoal == true { sums.stages.reached += 1 }
      sums.coins.add(standing?.referral.coins ?? [:])
      slots[Slot(day: claim.at / 86_400_000, platform: platform)] = sums
    }

    var totals: AdminLinks.Stages {
      var all = AdminLinks.Stages()
      var coins: [String: Int64] = [:]
      for one in slots.values {
        all.clicks += one.stages.clicks
        all.installs += one.stages.installs
        all.claims += one.stages.claims
        all.signedUp += one.stages.signedUp
        all.reached += one.stages.reached
        coins.add(one.coins)
      }
      all.coins = NamedValues(counts: coins)
      return all
    }

    var rows: [AdminLinks.FunnelDay] {
      slots.filter { _, sums in sums.stages.clicks + sums.stages.installs + sums.stages.claims > 0 }.sorted {
        ($1.key.day, $0.key.platform) < ($0.key.day, $1.key.platform)
      }.map { slot, sums in
        var stages = sums.stages
        stages.coins = NamedValues(counts: sums.coins)
        return AdminLinks.FunnelDay(
          day: String(CalendarTime(milliseconds: slot.day * 86_400_000).readable.prefix(10)), platform: slot.platform,
          stages: stages)
      }
    }
  }
}

extension AdminReferrals.Goal {
  init(_ goal: ReferralGoal) { self.init(name: goal.name, path: goal.pattern.description, value: goal.value) }
}
