import TreeModel

/// Who brought whom, and what came of it.
package enum AdminReferrals {
  package static let leaders = Endpoint<LeadersQuery, NoBody, Leaders>(
    .get, "/admin/v1/referrals", "Who brought most, by what the ledger says that they got for it.", isScoped: true)
  package static let tree = Endpoint<TreeQuery, NoBody, Tree>(
    .get, "/admin/v1/referrals/{uid}", "Who brought a player, and whom the player brought, some levels deep.", isScoped: true,
    captures: [
      EndpointParameter("uid", .form(JSONSchema.keyForm), isRequired: true, "The player.")
    ])

  /// Which leaders are wanted.
  package struct LeadersQuery: AdminValue {
    package var unit: String?
    package var since: Timestamp?
    package var limit: Int64?

    package init(unit: String? = nil, since: Timestamp? = nil, limit: Int64? = nil) {
      self.unit = unit
      self.since = since
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "unit": .only(.filled, text: "Ordered by coins of this unit; by the first of each if it is not given."),
      "since": .text("Only players brought, entries and counts not before this time, in milliseconds since 1970."),
      "limit": .limit(20, max: 200),
    ]
  }

  /// Where the players go who are brought: a value that a function waits for.
  package struct Goal: AdminValue {
    /// `level 5`.
    package var name: String
    /// `/users/{uid}/level`.
    package var path: String
    package var value: Int64

    package init(name: String, path: String, value: Int64) {
      self.name = name
      self.path = path
      self.value = value
    }
  }

  /// A player who brought others.
  package struct Leader: AdminValue {
    package var player: String
    package var referred: Int64
    package var signedUp: Int64
    package var reached: Int64
    package var coins: NamedValues<Int64>
    package var reversed: NamedValues<Int64>
    package var clicks: Int64
    package var installs: Int64

    package init(
      player: String, referred: Int64, signedUp: Int64 = 0, reached: Int64 = 0, coins: NamedValues<Int64>,
      reversed: NamedValues<Int64>, clicks: Int64 = 0, installs: Int64 = 0
    ) {
      self.player = player
      self.referred = referred
      self.signedUp = signedUp
      self.reached = reached
      self.coins = coins
      self.reversed = reversed
      self.clicks = clicks
      self.installs = installs
    }

    package static let notes: [String: FieldNote] = [
      "referred": .text("players whose record names this one"),
      "signedUp": .text("of these, players who signed in"),
      "reached": .text("of these, players who came to the goal"),
      "coins": .text("what the player got for them, by unit, without what was reversed"),
      "reversed": .text("what was taken back, by unit"),
      "clicks": .text("of the player's links"),
      "installs": .text("first openings of the app that the player's links led to"),
    ]
  }

  /// Who brought most.
  package struct Leaders: AdminValue {
    package var leaders: [Leader]
    package var goal: Goal?
    package var complete: Bool

    package init(leaders: [Leader], goal: Goal?, complete: Bool) {
      self.leaders = leaders
      self.goal = goal
      self.complete = complete
    }

    package static let notes: [String: FieldNote] = [
      "complete": .text("false if there was too much to look at: older entries, or players behind the first, are not counted")
    ]
  }

  /// How much of a tree is wanted.
  package struct TreeQuery: AdminValue {
    package var depth: Int64?
    package var limit: Int64?
    package var cursor: String?

    package init(depth: Int64? = nil, limit: Int64? = nil, cursor: String? = nil) {
      self.depth = depth
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "depth": .only(.integer(1...5), text: "So many levels down; 3 if it is not given."),
      "limit": .only(.integer(1...1000), text: "At most so many players brought by one; 50 if it is not given."),
      "cursor": .only(.filled, text: "The \"next\" of an earlier page, to go on behind it."),
    ]
  }

  /// A player who was brought.
  package struct Referral: AdminValue {
    package var player: String
    package var by: String
    package var depth: Int64
    package var state: String
    package var since: Timestamp?
    package var signedUp: Bool
    package var reached: Bool
    package var coins: NamedValues<Int64>
    package var held: NamedValues<Int64>
    package var reversed: NamedValues<Int64>
    package var brought: Int64
    package var shown: Int64

    package init(
      player: String, by: String, depth: Int64, state: String, since: Timestamp?, signedUp: Bool, reached: Bool,
      coins: NamedValues<Int64>, held: NamedValues<Int64>, reversed: NamedValues<Int64>, brought: Int64, shown: Int64
    ) {
      self.player = player
      self.by = by
      self.depth = depth
      self.state = state
      self.since = since
      self.signedUp = signedUp
      self.reached = reached
      self.coins = coins
      self.held = held
      self.reversed = reversed
      self.brought = brought
      self.shown = shown
    }

    package static let notes: [String: FieldNote] = [
      "depth": .text("1: brought by the player who was asked for"),
      "state": .only(.choice(["joined", "held", "paid"])),
      "reached": .text("whether the player came to the goal"),
      "coins": .text("what the referrer got, by unit"),
      "held": .text("what waits, by unit"),
      "reversed": .text("what was taken back, by unit"),
      "brought": .text("so many players were brought by this one; 1000 means 1000 or more"),
      "shown": .text("so many of these are in this answer"),
    ]
  }

  /// Who brought a player, and whom the player brought.
  package struct Tree: AdminValue {
    package var player: String
    package var referredBy: String?
    /// Who brought the player, who brought that one, and so on: at most 20.
    package var up: [String]
    package var goal: Goal?
    package var referrals: [Referral]
    package var next: String?

    package init(
      player: String, referredBy: String?, up: [String], goal: Goal?, referrals: [Referral], next: String? = nil
    ) {
      self.player = player
      self.referredBy = referredBy
      self.up = up
      self.goal = goal
      self.referrals = referrals
      self.next = next
    }

    package static let notes: [String: FieldNote] = [
      "up": .text("who brought the player, who brought that one, and so on: at most 20"),
      "referrals": .text("level by level; at most 1000 in all"),
      "next": .text("there are more on the first level"),
    ]
  }
}
