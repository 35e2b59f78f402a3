import Crypto
import StorageCore
import TextFormats
package import TreeModel

/// A condition of a campaign for one client, and whether it holds.
package struct MessageCondition: Sendable, Hashable {
  /// `schedule`, `audience.platforms`, `frequency.caps[0]`.
  package let name: String
  /// What the client, or the moment, has.
  package let value: JSON
  package let holds: Bool

  package var json: JSON { ["name": .string(name), "value": value, "holds": .bool(holds)] }
}

/// What is known of a client at a fetch.
struct MessageFacts {
  let client: MessageClient
  let instance: MessageInstance
  /// The player's account; nil for who has none here.
  let account: AccountRecord?
  let inviter: String?
  /// What happened to the player and waits to be told.
  let pending: [MessageEvent]
  let now: Int64
  let zone: ZoneRules?

  /// Days since a moment, begun ones not counted.
  func days(since time: Int64) -> Int64 { max(0, now - time) / 86_400_000 }
}

/// Judges one campaign for one client.
struct MessageJudgement {
  let campaign: Campaign
  let facts: MessageFacts
  /// The marks of the instance; of all instances of the player where displays count for the player.
  let marks: [MessageMark]
  let zones: any ZoneReading
  /// Reads the leaves at a place of the tree, as an administrator; at most 8.
  let leaves: (Path) throws -> [StoredLeaf]

  private typealias Check = (name: String, judge: () throws -> (JSON, Bool))

  /// The leaves that a condition on the tree looks at.
  static let leavesMax = 8

  /// Whether all hold; looks no further than the first that does not.
  func isEligible() throws -> Bool {
    for check in checks where try !check.judge().1 { return false }
    return true
  }

  /// All conditions.
  func conditions() throws -> [MessageCondition] {
    try checks.map { name, judge in
      let (value, holds) = try judge()
      return MessageCondition(name: name, value: value, holds: holds)
    }
  }

  /// In the order in which they are cheap.
  private var checks: [Check] {
    [state, schedule] + clientChecks + triggerChecks + frequencyChecks + playerChecks + treeChecks
  }

  private var state: Check {
    ("state", { (.string(campaign.state.rawValue), campaign.state == .published) })
  }

  private var schedule: Check {
    (
      "schedule",
      {
        let span = campaign.span(in: facts.zone, zones: zones)
        return (.string(CalendarTime(milliseconds: facts.now).rfc3339), span.start <= facts.now && facts.now < span.end ?? .max)
      }
    )
  }

  // MARK: The client

  private var clientChecks: [Check] {
    let (audience, client) = (campaign.document.audience, facts.client)
    var checks: [Check] = []
    if let wanted = audience.platforms {
      checks.append(("audience.platforms", { (.string(client.platform), wanted.contains(client.platform.lowercased())) }))
    }
    if let wanted = audience.apps {
      checks.append(
        ("audience.apps", { (.string(client.appID), wanted.contains(client.appID) || wanted.contains(client.bundleID)) }))
    }
    if let wanted = audience.appVersion {
      checks.append(("audience.appVersion", { (Self.text(client.appVersion), wanted.holds(client.appVersion)) }))
    }
    if let wanted = audience.osVersion {
      checks.append(("audience.osVersion", { (Self.text(client.osVersion), wanted.holds(client.osVersion)) }))
    }
    if let wanted = audience.languages {
      checks.append(
        (
          "audience.languages",
          {
            let holds = client.language.map { own in wanted.contains { LanguageRange.matches(own, range: $0) } }
            return (Self.text(client.language), holds ?? false)
          }
        ))
    }
    if let wanted = audience.timeZones {
      checks.append(("audience.timeZones", { (Self.text(client.timeZone), client.timeZone.map(wanted.contains) ?? false) }))
    }
    if let wanted = audience.firstSeenDays {
      let days = JSON.int(facts.days(since: facts.instance.firstSeen))
      checks.append(("audience.instance.firstSeen", { (days, wanted.holds(days)) }))
    }
    if let wanted = audience.sessions {
      let sessions = JSON.int(facts.instance.sessions)
      checks.append(("audience.instance.sessions", { (sessions, wanted.holds(sessions)) }))
    }
    if audience.share < 10_000 {
      let share = Self.share(campaign.id, for: facts.instance.id, of: 10_000)
      checks.append(("audience.percent", { (.double(Double(share) / 100), share < audience.share) }))
    }
    return checks
  }

  private static func text(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }

  /// Where an instance, or a player, stands among so many parts: the same for ever.
  static func share(_ campaign: String, for who: String, of parts: UInt64) -> Int {
    let digest = SHA256.hash(data: Array("\(campaign)\n\(who)".utf8))
    return Int(digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % parts)
  }

  // MARK: Events and displays

  /// The pending events that the campaign tells, oldest first.
  var events: [MessageEvent] {
    facts.pending.filter { event in
      campaign.document.serverTriggers.contains { event.fires($0.name, where: $0.conditions) }
    }
  }

  private var triggerChecks: [Check] {
    let triggers = campaign.document.triggers
    let isOwn = facts.client.isOwn
    return [
      (
        "triggers",
        {
          let reachable = triggers.contains { trigger in
            switch trigger {
            case .launch, .foreground: true
            case .event(_, let conditions): conditions.isEmpty || isOwn
            case .server(let name, let conditions): facts.pending.contains { $0.fires(name, where: conditions) }
            }
          }
          return (.array(events.map { .string($0.id) }), reachable)
        }
      )
    ]
  }

  private var frequencyChecks: [Check] {
    let frequency = campaign.document.frequency
    // A client's own mark counts where it is larger: answers may have been lost on the way here.
    let own = facts.client.seen[campaign.id]
    let displays = max(marks.reduce(0) { $0 + $1.displays }, own == nil ? 0 : 1)
    var checks: [Check] = []
    if let lifetime = frequency.lifetime {
      checks.append(("frequency.lifetime", { (.int(displays), displays < Int64(lifetime)) }))
    }
    for (index, cap) in frequency.caps.enumerated() {
      checks.append(
        (
          "frequency.caps[\(index)]",
          {
            let since = facts.now - Int64(cap.days) * 86_400_000
            let counted = marks.reduce(0) { $0 + $1.times.count { $0 > since } }
            let known = max(counted, own.map { $0 > since } == true ? 1 : 0)
            return (.int(Int64(known)), known < cap.count)
          }
        ))
    }
    return checks
  }

  // MARK: The player

  private var playerChecks: [Check] {
    guard let wanted = campaign.document.audience.player else { return [] }
    guard let uid = facts.client.uid else { return [("audience.player", { (.null, false) })] }
    var checks: [Check] = []
    if let anonymous = wanted.anonymous {
      let own = facts.account?.isAnonymous
      checks.append(("audience.player.anonymous", { (own.map(JSON.bool) ?? .null, own == anonymous) }))
    }
    if let uids = wanted.uids { checks.append(("audience.player.uids", { (.string(uid), uids.contains(uid)) })) }
    if let days = wanted.createdDays {
      let own = facts.account.map { JSON.int(facts.days(since: $0.createdAt)) }
      checks.append(("audience.player.createdDays", { (own ?? .null, own.map(days.holds) ?? false) }))
    }
    if let referred = wanted.referred {
      checks.append(("audience.player.referred", { (.bool(facts.inviter != nil), (facts.inviter != nil) == referred) }))
    }
    if let inviter = wanted.inviter {
      // Who invited whom is not said to who only asks why.
      checks.append(("audience.player.inviter", { (.null, facts.inviter == inviter) }))
    }
    return checks
  }

  private var treeChecks: [Check] {
    campaign.document.audience.tree.enumerated().map { index, condition in
      (
        "audience.tree[\(index)]",
        {
          guard let uid = facts.client.uid, let path = PlayerPath.place(condition.path, uid: uid) else { return (.null, false) }
          let leaves = try leaves(path)
          let scalar = leaves.first { $0.leaf.path == PathBytes(path) }?.leaf.scalar
          // A place with something below it exists, and has no value that could be compared.
          let below: JSON? = leaves.isEmpty ? .none : .some(.object([]))
          let value = scalar.map { JSON($0) } ?? below
          // What stands in the tree is not said.
          return (.null, condition.comparison.holds(value))
        }
      )
    }
  }
}
